import { expect, test } from "vitest";
import { createLog } from "../../../runtime/shared/log.ts";
import { Agenda, type AgendaItem } from "../../../runtime/worker/agenda.ts";
import { Alarm } from "../../../runtime/worker/alarm.ts";

const NOW = 1_000_000;

/** An agenda whose items are due after these milliseconds, `undefined` for never. */
function agendaOf(items: Record<string, Partial<AgendaItem> & { afterMs?: number | undefined }>) {
  const alarms: number[] = [];
  const ran: string[] = [];
  const lines: string[] = [];
  const alarm = new Alarm({
    storage: { getAlarm: async () => null, setAlarm: async (time) => void alarms.push(Number(time) - NOW) },
    waitUntil: () => undefined,
  });
  const log = createLog({ name: "test", level: "info", redact: String, write: (line) => lines.push(line) });
  const agenda = new Agenda({ alarm, clock: () => NOW, log });
  const itemOf = ([name, { afterMs, ...item }]: [string, (typeof items)[string]]): AgendaItem => ({
    name,
    dueAt: (now) => (afterMs === undefined ? undefined : now + afterMs),
    run: () => void ran.push(name),
    ...item,
  });
  agenda.fill(Object.entries(items).map(itemOf));
  return { agenda, alarms, ran, lines, next: () => alarms.at(-1) };
}

test("the alarm is the earliest time at which an item is due, and moves only forward", () => {
  const { agenda, alarms, next } = agendaOf({
    never: {},
    later: { afterMs: 60_000 },
    soon: { afterMs: 5_000 },
  });
  agenda.schedule();
  expect(next()).toBe(5_000);
  agenda.schedule();
  expect(alarms).toHaveLength(2);
});

test("an item that is overdue gets an alarm that cannot loop", () => {
  const { agenda, next } = agendaOf({ overdue: { afterMs: -1 } });
  agenda.schedule();
  expect(next()).toBe(500);
});

test("an agenda without work sets no alarm", () => {
  const { agenda, alarms } = agendaOf({ never: {} });
  agenda.schedule();
  expect(alarms).toEqual([]);
});

test("an alarm runs what is due and what every alarm runs, in order, and sets the next one", async () => {
  const { agenda, ran, next } = agendaOf({
    every: { everyAlarm: true },
    due: { afterMs: 0 },
    later: { afterMs: 60_000 },
    never: {},
    both: { everyAlarm: true, afterMs: 15_000 },
  });
  await agenda.run();
  expect(ran).toEqual(["every", "due", "both"]);
  expect(next()).toBe(500);
});

test("an item decides after the work of those before it whether it is due", async () => {
  let done = false;
  const { agenda, ran } = agendaOf({
    first: { everyAlarm: true, run: async () => void (done = true) },
    second: { dueAt: () => (done ? undefined : 0) },
  });
  await agenda.run();
  expect(ran).toEqual([]);
});

test("work that fails is logged and leaves the next alarm", async () => {
  const fails = () => {
    throw new Error("no room");
  };
  const { agenda, lines, next } = agendaOf({
    broken: { everyAlarm: true, run: fails },
    later: { afterMs: 9_000 },
  });
  await agenda.run();
  expect(lines.join("")).toContain("no room");
  expect(next()).toBe(9_000);
});
