import { afterEach, beforeEach, expect, test } from "vitest";
import { LEDGER_FORMAT } from "../../../runtime/contract/names.ts";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { LedgerStage } from "../support/ledger.ts";

let stage: LedgerStage;

beforeEach(() => {
  stage = new LedgerStage();
  const store = new LedgerStore(stage.sql);
  store.record(stage.event("a"));
  store.take(stage.now, 1);
});

afterEach(() => stage.close());

/** Everything in the database. */
function contents(): unknown {
  const tables = stage.sql.all("SELECT name, sql FROM sqlite_schema ORDER BY name");
  return [tables, stage.sql.all("SELECT * FROM ledger"), stage.sql.all("SELECT * FROM ledger_totals")];
}

const open = () => new LedgerStore(stage.sql);

test("a ledger of a newer format is refused by its code, and left as it is", () => {
  stage.sql.all("UPDATE ledger_format SET format = format + 1");
  const before = contents();

  expect(open).toThrow(expect.objectContaining({ code: "data_newer" }));
  expect(open).toThrow(`has format ${LEDGER_FORMAT + 1}, this version reads up to ${LEDGER_FORMAT}`);
  expect(contents()).toEqual(before);
});

test.each(["notice_at", "group_id"])("a ledger from before %s is refused, and left as it is", (column) => {
  stage.sql.all("DROP INDEX ledger_notices");
  stage.sql.all(`ALTER TABLE ledger DROP COLUMN ${column}`);
  stage.sql.all("DROP TABLE ledger_format");
  const before = contents();

  expect(open).toThrow(expect.objectContaining({ code: "data_older" }));
  expect(contents()).toEqual(before);
});

test("a newer version's column is left alone: the version before can serve again", () => {
  stage.sql.all("ALTER TABLE ledger ADD COLUMN later TEXT");
  stage.sql.all("UPDATE ledger SET later = 'kept'");

  open().record(stage.event("b", "C2"));

  expect(stage.sql.all("SELECT key, later FROM ledger ORDER BY seq")).toEqual([
    { key: "slack:a", later: "kept" },
    { key: "slack:b", later: null },
  ]);
});
