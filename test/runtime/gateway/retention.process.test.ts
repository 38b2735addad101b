import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkConfig, type Config } from "../../../runtime/contract/config/index.ts";
import { shrinkage } from "../../../runtime/backups/retention.ts";
import { Retention } from "../../../runtime/gateway/sessions/retention.ts";
import { openStores } from "../../../runtime/gateway/stores.ts";
import { countTables } from "../../../runtime/backups/archive/content.ts";
import { temporaryDirectory } from "../support/processes.ts";

const DAY = 24 * 3_600_000;
const START = 1_795_000_000_000;
const OLD = "an-old-secret-of-somebody";

/** Two conversations: a long one with a message a day for 100 days, and a short old one. */
async function transcripts(rules: Config["sessions"]["retention"] = {}) {
  const home = await temporaryDirectory();
  const logged: string[] = [];
  const add = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: add, info: add, warn: add, error: add };
  let now = START;
  const stores = openStores({ home, clock: () => now, log });
  const { sessions, database } = stores;
  const say = (conversation: string, day: number, text: string) =>
    sessions.append({
      session: conversation,
      delivery: `${conversation}-${day}`,
      role: "user",
      text,
      at: START - day * DAY,
    });
  say("slack:short", 100, OLD);
  sessions.summarise("slack:short", `they said ${OLD}`, 1);
  for (let day = 99; day >= 0; day -= 1) say("slack:long", day, `day ${day}`);
  const current = { rules };
  const open = () => new Retention({ database, rules: () => current.rules, clock: () => now, log });
  onTestFinished(() => database.close());
  const texts = () =>
    database
      .prepare("SELECT text FROM messages ORDER BY seq")
      .all()
      .map(({ text }) => text);
  const file = (name: string) => readFileSync(join(home, name)).includes(OLD);
  return {
    database,
    sessions,
    current,
    logged,
    open,
    texts,
    pass: (ms: number) => void (now += ms),
    counts: () => ({ ...countTables(join(home, "state.db")), files: 0, approvals: 0 }),
    /** Whether what was removed is still to be found in the files. */
    isKept: () => {
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return file("state.db") || file("state.db-wal");
    },
  };
}

test("without rules nothing goes", async () => {
  const { database, open, texts, pass } = await transcripts();
  const retention = open();
  const changes = (): unknown => database.prepare("SELECT total_changes()").get();
  const before = changes();
  await retention.look();
  pass(400 * DAY);
  await retention.look();
  // A change would cause a backup.
  expect(changes()).toEqual(before);
  expect([texts().length, retention.notice]).toEqual([101, undefined]);
});

test("what is too old goes a day after it was told, is overwritten, and a conversation of nothing goes too", async () => {
  const { open, texts, pass, logged, sessions, isKept } = await transcripts({ days: 30 });
  const retention = open();
  await retention.look();
  const beginsAt = new Date(START + DAY).toISOString();
  // Days 100 to 31.
  expect(retention.notice).toEqual({ beginsAt, messages: 70 });
  expect(logged).toEqual([
    `sessions.retention will remove messages ${JSON.stringify({ beginsAt, messages: 70 })}`,
  ]);
  pass(DAY - 1);
  await retention.look();
  expect(texts()).toHaveLength(101);
  expect(isKept()).toBe(true);

  pass(1);
  await retention.look();
  // A day older by now: days 99 to 30.
  expect(texts()).toEqual(Array.from({ length: 30 }, (_, index) => `day ${29 - index}`));
  expect(retention.notice).toEqual({ beginsAt, messages: 0 });
  expect(logged.at(-1)).toBe('sessions.retention removed messages {"messages":71,"sessions":1}');
  expect(sessions.list().map(({ session: conversation }) => conversation)).toEqual(["slack:long"]);
  expect(isKept()).toBe(false);
});

test("of a conversation with too many the oldest go; another keeps its own", async () => {
  const { open, texts, pass } = await transcripts({ messages: 40 });
  const retention = open();
  await retention.look();
  expect(retention.notice?.messages).toBe(60);
  pass(DAY);
  await retention.look();
  expect(texts()).toEqual([OLD, ...Array.from({ length: 40 }, (_, index) => `day ${39 - index}`)]);
});

test("a rule that changes is told anew, and one that is taken back removes nothing", async () => {
  const { open, texts, pass, current, logged } = await transcripts({ days: 30 });
  const retention = open();
  await retention.look();
  pass(DAY / 2);
  current.rules = { days: 60 };
  await retention.look();
  pass(DAY - 1);
  await retention.look();
  expect([texts().length, logged.length]).toEqual([101, 2]);
  current.rules = {};
  await retention.look();
  pass(DAY);
  await retention.look();
  expect([texts().length, retention.notice]).toEqual([101, undefined]);
});

test("the day of notice goes on over a restart", async () => {
  const { open, texts, pass, logged } = await transcripts({ days: 30 });
  await open().look();
  pass(DAY);
  await open().look();
  expect(texts()).toHaveLength(30);
  expect(logged).toHaveLength(2);
});

test("a backup behind it is no loss, and one of a store that was lost is", async () => {
  const { open, pass, counts, database } = await transcripts({ days: 7 });
  const before = counts();
  expect(before).toMatchObject({ messages: 101, sessions: 2 });
  const retention = open();
  await retention.look();
  pass(DAY);
  await retention.look();
  expect(Number(database.prepare("SELECT count(*) AS n FROM messages").get()?.["n"])).toBe(7);
  expect(counts()).toEqual(before);
  expect(shrinkage(before, counts())).toBeUndefined();
  database.exec("DELETE FROM messages; UPDATE retention SET messages = 0");
  expect(shrinkage(before, counts())).toBe("messages fell from 101 to 0");
});

test("a config may not keep less than a week, nor less than is put before the model", () => {
  const problems = (sessions: object) => {
    const checked = checkConfig({ sessions });
    return checked.ok ? [] : checked.problems.map(({ path }) => path);
  };
  expect(problems({ retention: { days: 30, messages: 10_000 } })).toEqual([]);
  expect(problems({ retention: { days: 6 } })).toEqual(["sessions.retention.days"]);
  expect(problems({ historyLimit: 1_000, retention: { messages: 999 } })).toEqual([
    "sessions.retention.messages",
  ]);
});
