import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DeliveryRecords } from "../../../runtime/gateway/inbox/records.ts";
import { UsageStore } from "../../../runtime/gateway/models/usage.ts";
import { ScheduleStore } from "../../../runtime/gateway/schedules/store.ts";
import { Sessions } from "../../../runtime/gateway/sessions/store.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { temporaryDirectory } from "../support/processes.ts";

/** Tables that grow with what was said, beyond what is open. */
const GROWING = /^SCAN (deliveries|messages|session_context|steps|tool_calls|schedule_runs)\b/;

test("no statement reads a whole table that grows", async () => {
  const database = openStore(join(await temporaryDirectory(), "state.db"));
  onTestFinished(() => database.close());
  const statements = new Set<string>();
  const watched = new Proxy(database, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...values: unknown[]): unknown => {
        if (name === "prepare") statements.add(String(values[0]));
        return (value as (...values: unknown[]) => unknown).apply(target, values);
      };
    },
  });

  const records = new DeliveryRecords(watched);
  const sessions = new Sessions(watched);
  const usage = new UsageStore(watched);
  const schedules = new ScheduleStore(watched);
  const to = { platform: "slack" as const, chat: "C1" };
  const spec = { every: "1m", text: "hi", to, enabled: true };
  const schedule = { id: "s", source: "cli" as const, spec, createdAt: 0, nextAt: 1 };
  schedules.put(schedule);
  schedules.begin(schedule, { dueAt: 3, missed: 2, nextAt: 60_000 }, 5);
  const [run] = schedules.pending(10);
  if (run !== undefined) schedules.end(run, "done", "said", 10);
  expect(schedules.runs("missed", 0)).toBe(2);
  expect(schedules.runs("failed", 0)).toBe(0);
  schedules.remove("s");
  records.answer("slack", ["E1"], 1_000);
  expect(sessions.counts()).toEqual({ conversations: 0, messages: 0, webChat: 0, answered: 0 });
  expect(usage.recent(7)).toEqual([]);

  const plans = [...statements].flatMap((statement) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${statement}`)
      .all()
      .map(({ detail }) => `${String(detail)} of ${statement}`),
  );
  expect(statements.size).toBeGreaterThan(30);
  expect(plans.filter((plan) => GROWING.test(plan))).toEqual([]);
});

test("an answer is counted for good: also once its conversation is gone", async () => {
  const database = openStore(join(await temporaryDirectory(), "state.db"));
  onTestFinished(() => database.close());
  const sessions = new Sessions(database);
  for (const conversation of ["slack:C1", "web:device"]) {
    const asked = { delivery: "E1", sender: { id: "U1" }, text: "hi", images: [] };
    sessions.ask({ session: conversation, messages: [asked], group: false, at: 1_000 });
    sessions.keepAnswer(conversation, ["E1"], "hello", 2_000);
  }
  expect(sessions.counts()).toMatchObject({ messages: 4, webChat: 2, answered: 2 });

  database.exec("DELETE FROM messages");

  expect(sessions.counts().answered).toBe(2);
});
