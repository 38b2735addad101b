import { describe, expect, test } from "vitest";
import type { SandboxStatus } from "../../../runtime/contract/control.ts";
import { reason } from "../../../runtime/contract/errors.ts";
import {
  advance,
  afterStatus,
  type ContainerEffect,
  type ContainerEvent,
  type ContainerFacts,
  type ContainerLifecycle,
  givenUpStatus,
  isGivenUp,
  NO_RUN,
  POLL_MS,
  runningStatus,
  stoppedStatus,
} from "../../../runtime/worker/container-lifecycle.ts";

const needed: ContainerEvent = { type: "needed" };
const start: ContainerEvent = { type: "start", running: false };
const again: ContainerEvent = { type: "start", running: true };
const launched: ContainerEvent = { type: "launched" };
const adopted: ContainerEvent = { type: "adopted" };
const drain: ContainerEvent = { type: "drain" };
const drainFailed: ContainerEvent = { type: "drainFailed" };
const answered = (restarts = 0): ContainerEvent => ({ type: "answered", restarts });
const ended = (crash = ""): ContainerEvent => ({ type: "ended", crash });

/** Plays events one after another. */
function play(...events: ContainerEvent[]) {
  let state = NO_RUN;
  const effects: ContainerEffect[] = [];
  for (const event of events) {
    const next = advance(state, event);
    state = next.state;
    effects.push(...next.effects);
  }
  return { state, effects };
}

const LAUNCH = [{ type: "launch" }, { type: "onStart" }, { type: "watch" }, { type: "restore" }];
const end = (crash: string, restarts: number) => [{ type: "onStop", crash, restarts }];

describe("a run", () => {
  const rows: {
    what: string;
    events: ContainerEvent[];
    state: Partial<ContainerLifecycle>;
    effects: object[];
  }[] = [
    { what: "nothing has happened", events: [], state: NO_RUN, effects: [] },
    {
      what: "a start launches, watches and restores",
      events: [needed, start, launched],
      state: { phase: "booting", bootFailures: 0 },
      effects: LAUNCH,
    },
    {
      what: "a start that the platform refuses leaves it stopped, and the next one launches",
      events: [start, start],
      state: { phase: "stopped" },
      effects: [{ type: "launch" }, { type: "launch" }],
    },
    {
      what: "a start of a running container only resumes its restore",
      events: [start, launched, again],
      state: { phase: "booting" },
      effects: [...LAUNCH, { type: "restore" }],
    },
    {
      what: "a start waits for a run whose end is not noticed yet",
      events: [start, launched, answered(), start],
      state: { phase: "answering" },
      effects: LAUNCH,
    },
    {
      what: "a noticed end makes room for the next run",
      events: [start, launched, answered(), ended(), start, launched],
      state: { phase: "booting" },
      effects: [...LAUNCH, ...end("", 0), ...LAUNCH],
    },
    {
      what: "a new object watches a container that runs, and does not start it",
      events: [adopted, again],
      state: { phase: "booting" },
      effects: [{ type: "watch" }, { type: "restore" }],
    },
    {
      what: "the gateway's restarts are noted at the end of the run",
      events: [start, launched, answered(1), answered(2), ended()],
      state: { phase: "stopped", restarts: 0 },
      effects: [...LAUNCH, ...end("", 2)],
    },
    {
      what: "an end that nobody requested counts as a restart",
      events: [adopted, answered(1), ended("exit code 137")],
      state: { phase: "stopped", restarts: 0 },
      effects: [{ type: "watch" }, ...end("exit code 137", 2)],
    },
    {
      what: "an answer that comes after the end changes nothing",
      events: [adopted, ended(), answered(3)],
      state: { phase: "stopped", restarts: 0 },
      effects: [{ type: "watch" }, ...end("", 0)],
    },
    {
      what: "an outdated run drains until it ends",
      events: [adopted, answered(), drain, ended()],
      state: { phase: "stopped", draining: false },
      effects: [{ type: "watch" }, ...end("", 0)],
    },
    {
      what: "a run whose last backup failed serves on",
      events: [adopted, answered(), drain, drainFailed],
      state: { phase: "answering", draining: false },
      effects: [{ type: "watch" }],
    },
    {
      what: "a container that does not run cannot drain",
      events: [drain],
      state: NO_RUN,
      effects: [],
    },
  ];
  test.each(rows)("$what", ({ events, state, effects }) => {
    const played = play(...events);
    expect(played.state).toMatchObject(state);
    expect(played.effects).toEqual(effects);
  });
});

describe("a container that ends before its supervisor answers", () => {
  const failure = [start, launched, ended("it ended")];

  test("is given up after four runs in a row", () => {
    expect(isGivenUp(play(needed, ...failure, ...failure, ...failure).state)).toBe(false);
    expect(isGivenUp(play(needed, ...failure, ...failure, ...failure, ...failure).state)).toBe(true);
  });

  test("gets four more with the next request", () => {
    const { state } = play(...failure, ...failure, ...failure, ...failure, needed);
    expect(state).toMatchObject({ phase: "stopped", bootFailures: 0 });
  });

  test("one that ends after its supervisor answered has not failed to boot", () => {
    expect(play(start, launched, answered(), ended("it ended")).state.bootFailures).toBe(0);
  });
});

describe("a container that the platform does not start since as many run as may", () => {
  const full = "Maximum number of running container instances exceeded. Try again later.";
  const refusal = [start, launched, ended(full)];

  test("asks for room, and has neither failed nor restarted", () => {
    const { state, effects } = play(needed, ...refusal, ...refusal);
    expect(state).toEqual({ ...NO_RUN, refusals: 2 });
    expect(effects.slice(-2)).toEqual([{ type: "onRefusal" }, ...end(full, 0)]);
  });

  test("is never given up", () => {
    expect(isGivenUp(play(needed, ...Array.from({ length: 50 }, () => refusal).flat()).state)).toBe(false);
  });

  test("counts from zero once it has answered", () => {
    expect(play(...refusal, start, launched, answered()).state.refusals).toBe(0);
  });

  test("says why it is stopped", () => {
    expect(stoppedStatus({ ...FACTS, crash: full }).reason).toEqual(reason("sandboxes_full"));
  });
});

const FACTS: ContainerFacts = {
  startedAt: "2026-01-01T10:00:00.000Z",
  stoppedAt: "2026-01-01T09:00:00.000Z",
  crash: "",
  restored: true,
  restoreFailure: undefined,
  startIsOpen: false,
  starts: { coldStartMs: 4_000 },
};
const READY: SandboxStatus = { state: "ready", since: "2026-01-01T10:00:05.000Z", restarts: 0 };
const RESTORE_FAILED = reason("restore_failed", "the bucket does not answer");
const RUNNING: ContainerLifecycle = { ...NO_RUN, phase: "answering", restarts: 2 };

describe("a start that has read a status", () => {
  const context = { now: 1_000, deadline: 2_000, running: true, restoreFailed: false };
  const invalid = reason("config_invalid", "agent.model is missing");
  const starting: SandboxStatus = { ...READY, state: "starting" };
  const failed = (bootFailures: number): ContainerLifecycle => ({ ...NO_RUN, bootFailures });

  test.each([
    { what: "ready", status: READY, step: { type: "end" } },
    { what: "crash-looping", status: { ...READY, state: "crash-looping" as const }, step: { type: "end" } },
    {
      what: "stopped by its config",
      status: { ...READY, state: "crash-looping" as const, reason: invalid },
      step: { type: "replaceConfig", why: invalid },
    },
    { what: "starting", status: starting, step: { type: "wait", ms: POLL_MS } },
    {
      what: "starting for too long",
      status: starting,
      with: { now: 2_000 },
      step: { type: "expire", stop: false },
    },
    {
      what: "without its data for too long",
      status: starting,
      with: { now: 2_000, restoreFailed: true },
      step: { type: "expire", stop: true },
    },
    {
      what: "ready at the deadline",
      status: READY,
      with: { now: 2_000, restoreFailed: true },
      step: { type: "end" },
    },
    {
      what: "ended before it answered, twice",
      status: starting,
      state: failed(2),
      with: { running: false },
      step: { type: "wait", ms: 2_000 },
    },
    {
      what: "refused by the platform for the third time",
      status: starting,
      state: { ...NO_RUN, refusals: 3 },
      with: { running: false },
      step: { type: "wait", ms: 3_000 },
    },
    {
      what: "refused by the platform for long",
      status: starting,
      state: { ...NO_RUN, refusals: 300 },
      with: { running: false },
      step: { type: "wait", ms: 10_000 },
    },
    {
      what: "running again after it ended twice",
      status: starting,
      state: failed(2),
      step: { type: "wait", ms: POLL_MS },
    },
    {
      what: "ended after it answered",
      status: starting,
      with: { running: false },
      step: { type: "wait", ms: POLL_MS },
    },
  ])("$what", ({ status, state = RUNNING, step, with: changed }) => {
    expect(afterStatus(state, status, { ...context, ...changed })).toEqual(step);
  });
});

describe("the status", () => {
  test("of a stopped container has its last starts, and why it ended", () => {
    const stopped = { state: "stopped", since: FACTS.stoppedAt, restarts: 0, coldStartMs: 4_000 };
    expect(stoppedStatus(FACTS)).toEqual(stopped);
    expect(stoppedStatus({ ...FACTS, crash: "exit code 137" })).toEqual({
      ...stopped,
      reason: reason("crash_looping", "exit code 137"),
    });
    expect(
      stoppedStatus({ ...FACTS, crash: "exit code 137", restoreFailure: RESTORE_FAILED }).reason,
    ).toEqual(RESTORE_FAILED);
  });

  test("of a given-up one says why, also without a cause", () => {
    expect(givenUpStatus({ ...FACTS, crash: "exit code 1" })).toMatchObject({
      state: "crash-looping",
      reason: { code: "crash_looping", detail: "exit code 1" },
    });
    expect(givenUpStatus(FACTS).reason?.detail).toBe("The container ends before it answers.");
  });

  test("of a running one is its supervisor's, with the container's starts and the restarts of the run", () => {
    expect(runningStatus(RUNNING, { ...READY, coldStartMs: 900 }, FACTS)).toEqual({
      ...READY,
      restarts: 2,
      coldStartMs: 4_000,
    });
  });

  test.each([
    { what: "its supervisor is silent", phase: "booting", reported: undefined, during: "starting" },
    {
      what: "its supervisor has fallen silent",
      phase: "answering",
      reported: undefined,
      during: "restoring",
    },
    { what: "its data is missing", phase: "answering", reported: READY, during: "restoring" },
  ] as const)("is starting while $what", ({ phase, reported, during }) => {
    const facts = { ...FACTS, restored: reported === undefined, restoreFailure: RESTORE_FAILED };
    expect(runningStatus({ ...NO_RUN, phase }, reported, facts)).toEqual({
      state: "starting",
      since: FACTS.startedAt,
      start: { at: FACTS.startedAt, phase: during },
      restarts: 0,
      reason: RESTORE_FAILED,
      coldStartMs: 4_000,
    });
  });

  test("times an open start from the container's own, and a closed one as reported", () => {
    const starting: SandboxStatus = {
      ...READY,
      state: "starting",
      start: { at: READY.since, phase: "starting" },
    };
    const at = (startIsOpen: boolean) =>
      runningStatus(RUNNING, starting, { ...FACTS, startIsOpen }).start?.at;
    expect(at(true)).toBe(FACTS.startedAt);
    expect(at(false)).toBe(READY.since);
  });

  test("of a draining one is stopped", () => {
    expect(runningStatus({ ...RUNNING, draining: true }, READY, FACTS)).toMatchObject({
      state: "stopped",
      since: FACTS.stoppedAt,
      restarts: 2,
    });
  });
});
