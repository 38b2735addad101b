import { StewardError } from "../../contract/errors.ts";
import { LEDGER_FORMAT } from "../../contract/names.ts";
import { PLATFORM } from "./listing.ts";
import type { Sql } from "./sql.ts";
import { WINDOW } from "./chats.ts";

/** Schema of a new ledger. Add every change to the migrations in {@link ADDED} too. */
const SCHEMA = [
  `CREATE TABLE ledger (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     key TEXT NOT NULL UNIQUE,
     conversation TEXT NOT NULL,
     delivery TEXT NOT NULL,
     state TEXT NOT NULL DEFAULT 'waiting',
     attempts INTEGER NOT NULL DEFAULT 0,
     received_at INTEGER NOT NULL,
     next_at INTEGER NOT NULL,
     settled_at INTEGER,
     note TEXT,
     group_id TEXT,
     notice_at INTEGER,
     message TEXT,
     sender TEXT,
     place TEXT,
     times TEXT,
     attempt_log TEXT
   )`,
  // Partial indexes cover open entries only, so they stay small.
  "CREATE INDEX ledger_open ON ledger (conversation, seq) WHERE settled_at IS NULL",
  "CREATE INDEX ledger_notices ON ledger (notice_at) WHERE settled_at IS NULL AND notice_at IS NOT NULL",
  // Includes the state, so that settled entries are counted from the index alone.
  "CREATE INDEX ledger_ended ON ledger (settled_at, state) WHERE settled_at IS NOT NULL",
  "CREATE INDEX ledger_messages ON ledger (message) WHERE message IS NOT NULL",
  // SQLite appends the row id `seq` to the index, which sorts the entries of a platform and state by arrival.
  `CREATE INDEX ledger_listing ON ledger (${PLATFORM}, state)`,

  // Number of settled entries by state. Triggers maintain it, because counting a million rows per scrape is too slow.
  "CREATE TABLE ledger_totals (state TEXT PRIMARY KEY, entries INTEGER NOT NULL) WITHOUT ROWID",
  "INSERT INTO ledger_totals VALUES ('answered', 0), ('ignored', 0), ('failed', 0)",
  `CREATE TRIGGER ledger_state_changed AFTER UPDATE OF state ON ledger WHEN old.state <> new.state BEGIN
     UPDATE ledger_totals SET entries = entries + (state = new.state) - (state = old.state)
     WHERE state IN (old.state, new.state);
   END`,
  // A new entry is settled only if it is restored or imported.
  `CREATE TRIGGER ledger_inserted AFTER INSERT ON ledger WHEN new.settled_at IS NOT NULL BEGIN
     UPDATE ledger_totals SET entries = entries + 1 WHERE state = new.state;
   END`,
  `CREATE TRIGGER ledger_deleted AFTER DELETE ON ledger BEGIN
     UPDATE ledger_totals SET entries = entries - 1 WHERE state = old.state;
   END`,

  `CREATE TABLE ledger_turns (
     conversation TEXT PRIMARY KEY,
     seq INTEGER NOT NULL,
     next_at INTEGER NOT NULL,
     follows INTEGER NOT NULL
   ) WITHOUT ROWID`,
  "CREATE INDEX ledger_turns_due ON ledger_turns (follows, next_at, seq)",
  // Adds the event's chat to `ledger_turns`, so that one INSERT is enough to store an event.
  `CREATE TRIGGER ledger_appended AFTER INSERT ON ledger
   WHEN new.settled_at IS NULL
     AND NOT EXISTS (SELECT 1 FROM ledger_turns WHERE conversation = new.conversation) BEGIN
     INSERT INTO ledger_turns SELECT new.conversation, new.seq, new.next_at, before > 0 FROM (
       SELECT count(*) AS before FROM (
         SELECT 1 FROM ledger
         WHERE conversation = new.conversation AND settled_at IS NULL AND seq < new.seq LIMIT ${WINDOW}))
     WHERE before < ${WINDOW};
   END`,

  "CREATE TABLE ledger_chats (chat TEXT PRIMARY KEY, answered_at INTEGER NOT NULL, told TEXT)",
  "CREATE INDEX ledger_chats_told ON ledger_chats (told) WHERE told IS NOT NULL",
];
const FORMAT = [
  "CREATE TABLE ledger_format (format INTEGER NOT NULL)",
  `INSERT INTO ledger_format VALUES (${LEDGER_FORMAT})`,
];
/** Migrations. If a migration's `column` exists, the migration has run. */
const ADDED = [
  {
    column: "message",
    statements: [
      "ALTER TABLE ledger ADD COLUMN message TEXT",
      "CREATE INDEX ledger_messages ON ledger (message) WHERE message IS NOT NULL",
    ],
  },
  {
    column: "sender",
    statements: ["sender", "place", "times", "attempt_log"].map(
      (name) => `ALTER TABLE ledger ADD COLUMN ${name} TEXT`,
    ),
  },
];
/**
 * Columns that an existing ledger must have so that this version can migrate it. A ledger that lacks any of them is
 * too old.
 */
const OLDEST_COLUMNS = ["group_id", "notice_at"];

/**
 * Creates or migrates the ledger's tables, in the caller's transaction.
 *
 * @throws StewardError `data_newer` or `data_older`, without any change, if this version cannot read the ledger.
 */
export function prepareLedger(sql: Sql): void {
  const columns = columnsOf(sql, "ledger");
  if (columns.length === 0) return runAll(sql, [...SCHEMA, ...FORMAT]);
  const isMarked = columnsOf(sql, "ledger_format").length > 0;
  const format = isMarked ? Number(sql.all("SELECT format FROM ledger_format")[0]?.["format"]) : 0;
  if (format > LEDGER_FORMAT) {
    const detail = `The ledger has format ${format}, this version reads up to ${LEDGER_FORMAT}.`;
    throw new StewardError("data_newer", detail);
  }
  if (!OLDEST_COLUMNS.every((name) => columns.includes(name)))
    throw new StewardError(
      "data_older",
      `The ledger is too old: this version needs the columns ${OLDEST_COLUMNS.join(" and ")}.`,
    );
  migrate(sql, columns);
  if (!isMarked) runAll(sql, FORMAT);
}

function migrate(sql: Sql, columns: readonly string[]): void {
  for (const { column, statements } of ADDED) if (!columns.includes(column)) runAll(sql, statements);
}

function runAll(sql: Sql, statements: readonly string[]): void {
  for (const statement of statements) sql.all(statement);
}

function columnsOf(sql: Sql, table: string): string[] {
  return sql.all("SELECT name FROM pragma_table_info(?)", table).map(({ name }) => String(name));
}
