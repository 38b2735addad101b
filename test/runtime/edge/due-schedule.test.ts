import { expect, test } from "vitest";
import { DueSchedule } from "../../../runtime/edge/due-schedule.ts";

const NOW = Date.parse("2026-11-28T09:00:00Z");

/** The schedule of a gateway that answers so, after `silences` requests without an answer. */
async function asked(answer: Response | undefined, silences = 0) {
  let left = silences;
  const notes = new Map<string, string>();
  const memory = {
    read: (name: string) => notes.get(name),
    write: (name: string, value: string) => void notes.set(name, value),
    coldStart: () => ({}),
  };
  const schedule = new DueSchedule({
    memory,
    sandbox: { peek: async () => (left-- > 0 ? undefined : answer) },
    clock: () => NOW,
  });
  return { stays: await schedule.poll(), startAt: schedule.startAt };
}

const next = (nextAt?: string) =>
  Response.json({ schedules: { count: 1, missed: 0, ...(nextAt && { nextAt }) } });

test("a container sleeps until its next schedule, and stays awake for one that is due soon or runs", async () => {
  const later = Date.parse("2026-11-28T12:00:00Z");
  expect(await asked(next("2026-11-28T12:00:00Z"))).toEqual({ stays: false, startAt: later - 5_000 });
  expect((await asked(next("2026-11-28T09:00:12Z"))).stays).toBe(true);
  expect((await asked(next("2026-11-28T08:59:00Z"))).stays).toBe(true);
  expect(await asked(next("2026-11-28T07:00:00Z"))).toEqual({ stays: false, startAt: undefined });
  expect(await asked(next())).toEqual({ stays: false, startAt: undefined });
});

test("a gateway that is busy for a moment does not lose its next schedule", async () => {
  const later = Date.parse("2026-11-28T12:00:00Z");
  const answer = next("2026-11-28T12:00:00Z");
  expect(await asked(answer, 2)).toEqual({ stays: false, startAt: later - 5_000 });
});

test.each([
  ["none", undefined],
  ["a refusal", new Response("no", { status: 500 })],
  ["no JSON", new Response("<html>")],
  ["another form", Response.json({ schedules: "soon" })],
  ["a number for a time", Response.json({ schedules: { nextAt: 7 } })],
  ["nothing of schedules", Response.json([])],
])("an answer that is %s keeps no container awake", async (_kind, answer) => {
  expect(await asked(answer)).toEqual({ stays: false, startAt: undefined });
});
