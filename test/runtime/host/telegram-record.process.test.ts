import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { intakeReader } from "../../../runtime/gateway/channels/intake.ts";
import { holderIsGone, processHolder } from "../../../runtime/host/intake/lease.ts";
import { IntakeRecord } from "../../../runtime/host/telegram/record.ts";
import { openSqlite } from "../../../runtime/host/ledger.ts";
import { temporaryDirectory } from "../support/processes.ts";

const START = 1_795_000_000_000;
const DAY_MS = 24 * 3_600_000;

/** Records of one database, on a clock that the test moves. */
async function records() {
  const file = join(await temporaryDirectory(), "state.db");
  const sql = openSqlite(file);
  onTestFinished(() => sql.close());
  const time = { now: START };
  const gone = new Set<string>();
  const isGone = (holder: string): boolean => gone.has(holder);
  const record = (holder: string, bot = "1") =>
    new IntakeRecord({ sql, bot, holder, isGone, clock: () => time.now });
  const reader = () => {
    const database = new DatabaseSync(file);
    onTestFinished(() => database.close());
    return intakeReader(database, "telegram");
  };
  return { record, reader, time, gone };
}

test("one holds the lease; another gets it when it was not renewed, given back, or its holder is dead", async () => {
  const { record, time, gone } = await records();
  const [a, b] = [record("a"), record("b")];
  expect([a.take("poll"), b.take("poll"), a.take("poll")]).toEqual([true, false, true]);
  time.now += 59_000;
  expect(a.take("poll")).toBe(true);
  time.now += 59_000;
  expect(b.take("poll")).toBe(false);
  time.now += 2_000;
  expect(b.take("poll")).toBe(true);
  expect(a.take("poll")).toBe(false);
  b.release();
  expect(a.take("poll")).toBe(true);
  b.release();
  expect(b.take("poll")).toBe(false);
  gone.add("a");
  expect(b.take("poll")).toBe(true);
});

test("each bot has its own place and its own lease", async () => {
  const { record } = await records();
  const [one, two] = [record("a", "1"), record("b", "2")];
  expect([one.take("poll"), two.take("poll")]).toEqual([true, true]);
  one.answered(101);
  expect([one.offset(), two.offset()]).toEqual([101, undefined]);
});

test("the place is kept, but for less than the week after which Telegram begins anew", async () => {
  const { record, time } = await records();
  const first = record("a");
  first.take("poll");
  expect(first.offset()).toBeUndefined();
  first.answered(101);
  time.now += 5 * DAY_MS;
  first.answered();
  expect(record("b").offset()).toBe(101);
  time.now += DAY_MS + 1;
  first.answered();
  expect(record("b").offset()).toBeUndefined();
});

test("the gateway reads how it goes, also when the table comes later than the gateway", async () => {
  const { record, reader, time } = await records();
  const read = reader();
  expect(read("1")).toBeUndefined();
  const it = record("a");
  expect(read("1")).toEqual({ mode: "poll", held: false });
  it.take("poll");
  time.now += 1_000;
  it.answered();
  expect(read("1")).toEqual({ mode: "poll", held: true, startedAt: START, polledAt: START + 1_000 });
  it.failed("telegram_conflict", "Conflict: x.");
  expect(read("1")).toMatchObject({ failure: { code: "telegram_conflict", detail: "Conflict: x." } });
  record("b").failed("internal", "not the holder");
  expect(read("1")).toMatchObject({ failure: { code: "telegram_conflict" } });
  it.answered(7);
  expect(read("1")).not.toHaveProperty("failure");
  it.failed("telegram_unreachable", "x");
  it.release();
  expect(read("1")).toEqual({ mode: "poll", held: false, startedAt: START, polledAt: START + 1_000 });
});

test("a process that is dead is known to be, one that may live is not", () => {
  const [machine, pid, id] = processHolder().split("/");
  expect(holderIsGone(`${machine}/${pid}/another`)).toBe(true);
  expect(holderIsGone(`${machine}/${process.ppid}/${id}`)).toBe(false);
  const { pid: dead } = spawnSync("true");
  expect(holderIsGone(`${machine}/${dead}/${id}`)).toBe(true);
  expect(holderIsGone(`elsewhere/${dead}/${id}`)).toBe(false);
  expect(holderIsGone("nonsense")).toBe(false);
});
