import { expect, test } from "vitest";
import { ScheduledChats } from "../../../runtime/worker/scheduled-chats.ts";
import { silent } from "../support/ledger.ts";

function chats(find: () => Promise<string[]>, failing: ReadonlySet<string> = new Set()) {
  const notes = new Map<string, string>();
  const begun: string[] = [];
  const time = { now: 0 };
  const one = new ScheduledChats({
    notes: { read: (name) => notes.get(name), write: (name, value) => void notes.set(name, value) },
    find,
    begin: async (tenant) => {
      if (failing.has(tenant)) throw new Error("full");
      begun.push(tenant);
    },
    clock: () => time.now,
    log: silent,
  });
  return { one, begun, time };
}

test("after a change the chats with schedules are begun, once", async () => {
  const { one, begun } = chats(async () => ["slack-C1", "slack-C2"]);
  expect(one.dueAt).toBeUndefined();
  one.changed();
  expect(one.dueAt).toBe(0);
  await Promise.all([one.run(), one.run()]);
  expect(begun).toEqual(["slack-C1", "slack-C2"]);
  expect(one.dueAt).toBeUndefined();
});

test("one that finds no room holds up no other, and all are seen to again later", async () => {
  const failing = new Set(["slack-C1"]);
  const { one, begun, time } = chats(async () => ["slack-C1", "slack-C2"], failing);
  one.changed();
  await one.run();
  expect(begun).toEqual(["slack-C2"]);
  expect(one.dueAt).toBeGreaterThan(time.now);
  failing.clear();
  await one.run();
  expect(begun).toEqual(["slack-C2", "slack-C1", "slack-C2"]);
  expect(one.dueAt).toBeUndefined();
});

test("a deployment that cannot say which is asked again, and a change meanwhile is not missed", async () => {
  let answer: () => string[] = () => {
    throw new Error("asleep");
  };
  const { one, begun } = chats(async () => answer());
  one.changed();
  await one.run();
  expect(one.dueAt).toBeGreaterThan(0);
  answer = () => {
    one.changed();
    return ["slack-C1"];
  };
  await one.run();
  expect(begun).toEqual(["slack-C1"]);
  expect(one.dueAt).toBe(0);
});
