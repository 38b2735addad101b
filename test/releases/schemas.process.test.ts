import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OLDEST_STATE_SCHEMA } from "../../runtime/contract/names.ts";
import { LedgerStore } from "../../runtime/edge/ledger/store.ts";
import { openStore } from "../../runtime/gateway/store.ts";
import { openSqlite } from "../../runtime/host/ledger.ts";
import { unpack } from "./packed.ts";
import { manifestOf, RELEASES } from "./releases.ts";

/** Each table by its name: its kind and columns, and its indexes and triggers as they were written. */
type Schema = Record<string, object>;

/** Tables, and triggers for them, of the parts that create theirs when they first need them: a new database has none. */
const LATER =
  /^(sqlite_|chat_items|chat_marks|spending|usage_sources|retention|first_words|ledger_(activity|activity_diffs|answers|signatures)$|(telegram|discord)_intake)/;

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "steward-schemas-"));
});

afterAll(() => rm(dir, { recursive: true, force: true }));

/** Opens a host's database as the edge and the gateway do, and returns its schema. */
function schemaOf(file: string): Schema {
  const sql = openSqlite(file);
  const store = new LedgerStore(sql);
  store.counts();
  sql.close();
  openStore(file).close();
  const database = new DatabaseSync(file);
  const all = (statement: string, ...values: string[]) => database.prepare(statement).all(...values);
  const schema = all("SELECT name FROM sqlite_schema WHERE type = 'table'").map(({ name }) => {
    const table = String(name);
    const others = all("SELECT name, sql FROM sqlite_schema WHERE type <> 'table' AND tbl_name = ?", table);
    const own = others.filter(({ name: other }) => !LATER.test(String(other)));
    const parts = {
      kind: all("SELECT wr, strict FROM pragma_table_list(?)", table),
      columns: all('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)', table),
      others: Object.fromEntries(own.map((other) => [other["name"], normalised(String(other["sql"]))])),
    };
    return [table, parts] as const;
  });
  database.close();
  return Object.fromEntries(schema);
}

function normalised(sql: string): string {
  return sql.replace(" IF NOT EXISTS", "").replaceAll(/\s+/g, " ");
}

describe.each(RELEASES)("the database of $release", ({ release }) => {
  test("has after its migration the schema of a new one", async () => {
    const folder = path.join(dir, release);
    await unpack(path.join(import.meta.dirname, release, "host.tar.zst"), folder);
    const migrated = schemaOf(path.join(folder, "data/state.db"));
    const fresh = schemaOf(path.join(dir, `${release}.db`));

    expect(Object.keys(fresh).length).toBeGreaterThan(15);
    expect(Object.fromEntries(Object.keys(fresh).map((name) => [name, migrated[name]]))).toEqual(fresh);
    expect(Object.keys(migrated).filter((name) => !(name in fresh) && !LATER.test(name))).toEqual([]);
  });
});

test("the oldest archive has the oldest schema that is migrated", () => {
  expect(manifestOf(RELEASES[0].release).stateSchema).toBe(OLDEST_STATE_SCHEMA);
});
