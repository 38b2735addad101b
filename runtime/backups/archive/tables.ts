import { DatabaseSync } from "node:sqlite";
import { StewardError } from "../../contract/errors.ts";
import { openDatabase, storeFailure, transaction } from "../../process/database.ts";
import { exists } from "../../process/files.ts";
import { INTAKE_TABLES } from "../../process/intake.ts";

interface SchemaEntry {
  type: string;
  name: string;
  sql: string;
}

const BUSY_TIMEOUT_MS = 5_000;
/** Tables of the edge, which shares the database file on a host. Backups and restores skip them. */
const INTAKES = Object.keys(INTAKE_TABLES).map((platform) => `'${platform}_intake'`);
const EDGE_TABLES = `(tbl_name GLOB 'ledger*' OR tbl_name IN (${INTAKES.join(", ")}))`;
/**
 * Kinds of schema objects, in order of creation. Triggers are created after the rows are copied, so that copying does
 * not fire them.
 */
const KINDS = ["table", "index", "trigger"];

/**
 * SQL conditions that select the rows to copy, by table. Tables without a condition are copied without rows. Conditions
 * refer to the copied database as `source`.
 */
type RowConditions = Readonly<Record<string, string>>;

/**
 * Copies a consistent snapshot of the gateway's tables from a database that may be in use.
 *
 * @throws StewardError `store_corrupt`, `disk_full`, `data_directory_unwritable`.
 */
export function copyTables(from: string, to: string, conditions?: RowConditions): void {
  try {
    const database = new DatabaseSync(to, {
      timeout: BUSY_TIMEOUT_MS,
      enableForeignKeyConstraints: false,
    });
    try {
      // A failed copy is discarded, so no rollback is needed.
      database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;");
      attachSource(database, from);
      // BEGIN IMMEDIATE would also lock the source against writes.
      database.exec("BEGIN");
      copyDatabase(database, conditions);
      database.exec("COMMIT");
    } finally {
      database.close();
    }
  } catch (error) {
    throw storeFailure(error, from) ?? error;
  }
}

/**
 * Replaces the gateway's tables with those of the database `by`, or removes them if `by` is absent. Other connections
 * may be open.
 *
 * @throws StewardError as {@link copyTables} does. The tables are then unchanged.
 */
export function replaceTables(path: string, by: string | undefined): void {
  if (by === undefined && !exists(path)) return;
  const database = openDatabase(path);
  try {
    database.exec("PRAGMA foreign_keys = OFF");
    attachSource(database, by ?? ":memory:");
    transaction(database, () => copyDatabase(database));
  } catch (error) {
    throw storeFailure(error, path) ?? error;
  } finally {
    database.close();
  }
}

/**
 * Verifies a database from an archive.
 *
 * @throws StewardError `backup_corrupt` if the database is corrupt or contains tables that are not the gateway's.
 */
export function checkTables(path: string): void {
  const refused = (detail: string, options?: ErrorOptions): StewardError =>
    new StewardError("backup_corrupt", `The database in the archive ${detail}.`, options);
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA trusted_schema = OFF");
    const problem = database.prepare("PRAGMA integrity_check(1)").get()?.["integrity_check"];
    if (problem !== "ok") throw refused("is broken");
    const foreign = `type NOT IN ('table', 'index', 'trigger') OR ${EDGE_TABLES} OR sql LIKE 'CREATE VIRTUAL%'`;
    const found = database.prepare(`SELECT name FROM sqlite_schema WHERE ${foreign}`).get();
    if (found !== undefined) throw refused("contains tables that are not the gateway's");
  } catch (error) {
    if (error instanceof StewardError) throw error;
    throw refused("cannot be read", { cause: error });
  } finally {
    database.close();
  }
}

function attachSource(database: DatabaseSync, path: string): void {
  database.prepare("ATTACH DATABASE ? AS source").run(path);
}

function copyDatabase(database: DatabaseSync, conditions?: RowConditions): void {
  // The first read fixes the snapshot: later commits to the source are not visible.
  const wanted = gatewaySchema(database, "source");
  const present = gatewaySchema(database, "main").filter(({ type }) => type === "table");
  for (const { name } of present) database.exec(`DROP TABLE main.${quoted(name)}`);
  for (const kind of KINDS) {
    for (const { sql, name } of wanted.filter(({ type }) => type === kind)) {
      database.prepare(sql).run();
      if (kind === "table") copyRows(database, name, conditions && (conditions[name] ?? "0"));
    }
  }
  const version = Number(database.prepare("PRAGMA source.user_version").get()?.["user_version"] ?? 0);
  database.exec(`PRAGMA main.user_version = ${version}`);
}

function gatewaySchema(database: DatabaseSync, of: "main" | "source"): SchemaEntry[] {
  const rows = database
    .prepare(`SELECT type, name, sql FROM ${of}.sqlite_schema WHERE sql IS NOT NULL AND NOT ${EDGE_TABLES}`)
    .all();
  return rows
    .map(({ type, name, sql }) => ({ type: String(type), name: String(name), sql: String(sql) }))
    .filter(({ name }) => !name.startsWith("sqlite_"));
}

function copyRows(database: DatabaseSync, table: string, condition = "1"): void {
  database.exec(`INSERT INTO main.${quoted(table)} SELECT * FROM source.${quoted(table)} WHERE ${condition}`);
  const counts = "SELECT 1 FROM source.sqlite_schema WHERE name = 'sqlite_sequence'";
  if (database.prepare(counts).get() === undefined) return;
  const numbered = database.prepare("SELECT name, seq FROM source.sqlite_sequence WHERE name = ?").get(table);
  if (numbered === undefined) return;
  // Also copy the table's row counter, so that the number of a deleted row is not reused.
  database.prepare("DELETE FROM main.sqlite_sequence WHERE name = ?").run(table);
  database
    .prepare(
      "INSERT INTO main.sqlite_sequence (name, seq) SELECT name, seq FROM source.sqlite_sequence WHERE name = ?",
    )
    .run(table);
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
