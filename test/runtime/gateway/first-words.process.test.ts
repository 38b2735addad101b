import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../runtime/gateway/store.ts";
import { temporaryDirectory } from "../support/processes.ts";
import { FirstWords } from "../../../runtime/gateway/inbox/records.ts";

const NOW = 1_795_000_000_000;

test("a wait counts once, in the class of its length, also after a restart; a late one is told", async () => {
  const path = `${await temporaryDirectory()}/state.db`;
  const open = () => {
    const database = openStore(path);
    onTestFinished(() => {
      if (database.isOpen) database.close();
    });
    return { database, words: new FirstWords(database) };
  };
  const before = open();
  before.words.wait("slack E1", NOW);
  before.words.record("slack E1", NOW + 1_500);
  before.words.record("slack E1", NOW + 9_000);
  before.words.wait("slack E2", NOW);
  before.words.forget("slack E2");
  before.words.record("slack E2", NOW + 1_000);
  before.database.close();

  const { words } = open();
  expect(words.report.lateAt).toBeUndefined();
  words.wait("slack E3", NOW);
  words.record("slack E3", NOW + 90_000);

  const { buckets, ...rest } = words.report;
  expect(buckets.map(({ le, count }) => [le, count])).toEqual([
    ["1", 0],
    ["2", 1],
    ["5", 1],
    ["10", 1],
    ["30", 1],
    ["60", 1],
    ["120", 2],
    ["300", 2],
    ["+Inf", 2],
  ]);
  expect(rest).toEqual({ count: 2, seconds: 91.5, lateAt: new Date(NOW + 90_000).toISOString() });
});
