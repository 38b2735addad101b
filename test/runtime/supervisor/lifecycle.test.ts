import { backoffMs } from "../../../runtime/shared/backoff.ts";
import { expect, test } from "vitest";
import { reason } from "../../../runtime/contract/errors.ts";
import {
  advance,
  initialLifecycle,
  type Lifecycle,
  type LifecycleEvent,
} from "../../../runtime/supervisor/lifecycle.ts";

const policy = { firstMs: 100, longestMs: 1_000, maxFailures: 3, stableAfterMs: 5_000, neededAfterMs: 300 };
const crash = (permanent = false): LifecycleEvent => ({
  type: "crashed",
  exitCode: 1,
  reason: reason("crash_looping", "it broke"),
  permanent,
});

/** Plays events; a number lets that many milliseconds pass. */
function play(...script: (LifecycleEvent | number)[]) {
  let now = 1_000;
  let state: Lifecycle = initialLifecycle(now);
  const effects: object[] = [];
  for (const item of script) {
    if (typeof item === "number") {
      now += item;
      continue;
    }
    const step = advance(state, item, { now, random: 1, policy });
    state = step.state;
    if (step.effect.type !== "none") effects.push(step.effect);
  }
  return { state, effects, now };
}

const start: LifecycleEvent = { type: "start" };
const launched: LifecycleEvent = { type: "launched" };
const ready: LifecycleEvent = { type: "ready", bootMs: 40 };
const retry: LifecycleEvent = { type: "retry" };

test("a start spawns, and the port's answer makes it ready with the cold start measured", () => {
  const { state, effects } = play(start, 5, launched, 300, ready);
  expect(effects).toEqual([{ type: "spawn" }]);
  expect(state).toMatchObject({
    phase: "ready",
    coldStartMs: 340,
    restarts: 0,
    since: 1_305,
    startedAt: 1_005,
  });
});

test("a crash waits and tries again, each time longer, with the reason kept", () => {
  const { state, effects } = play(start, launched, crash(), retry, launched, crash());
  expect(effects).toEqual([
    { type: "spawn" },
    { type: "wait", ms: 100 },
    { type: "spawn" },
    { type: "wait", ms: 200 },
  ]);
  expect(state).toMatchObject({ phase: "backoff", restarts: 1, exitCode: 1, reason: { detail: "it broke" } });
});

test("after many failures it counts as crash-looping, and a start or restart resets the count", () => {
  const events = [start, crash(), retry, crash(), retry, crash()];
  const { state, effects } = play(...events);
  expect(state).toMatchObject({ phase: "crash-looping", failures: 3, reason: { detail: "it broke" } });
  expect(effects.at(-1)).toEqual({ type: "wait", ms: 400 });
  for (const again of [start, { type: "restart" } as const]) {
    const anew = play(...events, again);
    expect(anew.state).toMatchObject({ phase: "starting", failures: 0 });
    expect(anew.state).not.toHaveProperty("reason");
    expect(anew.effects.at(-1)).toEqual({ type: "spawn" });
  }
});

test("it never gives up: a crash loop ends once its cause has passed, and waits no longer than the bound", () => {
  const lost = [start, crash(), retry, crash(), retry, crash(), 400, retry];
  expect(play(...lost, launched, ready).state).toMatchObject({ phase: "ready" });
  const again = play(...lost, launched, crash());
  expect(again.state).toMatchObject({ phase: "crash-looping", failures: 4 });
  expect(again.effects.at(-1)).toEqual({ type: "wait", ms: 800 });
  const more = Array.from({ length: 20 }, () => [retry, crash()]).flat();
  expect(play(...lost, launched, crash(), ...more).effects.at(-1)).toEqual({ type: "wait", ms: 1_000 });
});

test("whoever needs it while it waits gets an attempt at once, but for one just made and a permanent failure", () => {
  const needed: LifecycleEvent = { type: "needed" };
  const crashed = [start, crash(), retry, crash(), retry, crash()];
  expect(play(...crashed, 299, needed).state.phase).toBe("crash-looping");
  const tried = play(...crashed, 300, needed);
  expect(tried.state).toMatchObject({ phase: "starting", failures: 3, restarts: 3 });
  expect(tried.effects.at(-1)).toEqual({ type: "spawn" });
  expect(play(start, crash(true), 60_000, needed).state.phase).toBe("crash-looping");
  expect(play(start, ready, 60_000, needed).state.phase).toBe("ready");
  // What was permanent is so no longer once something has changed.
  expect(play(start, crash(true), start, crash(), 300, needed).state.phase).toBe("starting");
});

test("a permanent failure gives up at once and for good", () => {
  const { state, effects } = play(start, crash(true));
  expect(state).toMatchObject({ phase: "crash-looping", failures: 1 });
  expect(effects).toEqual([{ type: "spawn" }]);
});

test("a crash after a stable run counts as the first, one after a short run does not", () => {
  const before = [start, crash(), retry, crash(), retry, ready];
  expect(play(...before, 5_000, crash()).state).toMatchObject({ phase: "backoff", failures: 1 });
  expect(play(...before, 4_999, crash()).state).toMatchObject({ phase: "crash-looping", failures: 3 });
});

test("events that do not fit change nothing", () => {
  const { state } = play(start, ready);
  const context = { now: 9_999, random: 0, policy };
  for (const event of [start, retry, ready]) {
    expect(advance(state, event, context)).toEqual({ state, effect: { type: "none" } });
  }
  const stopped = play(start, { type: "stop" }).state;
  for (const event of [ready, retry, crash()]) expect(advance(stopped, event, context).state).toBe(stopped);
});

test("the wait doubles up to its bound, with jitter over its upper half", () => {
  expect([1, 2, 3, 4, 5, 6].map((failures) => backoffMs(policy, failures, 1))).toEqual([
    100, 200, 400, 800, 1_000, 1_000,
  ]);
  expect(backoffMs(policy, 3, 0)).toBe(200);
  expect(backoffMs(policy, 5_000, 1)).toBe(1_000);
});

test("a gateway that is held starts by a release alone, anew, and a stop ends the hold", () => {
  const why = reason("gateway_not_ready", "its data comes first");
  const hold: LifecycleEvent = { type: "hold", reason: why };
  const release: LifecycleEvent = { type: "release" };
  const held = play(start, launched, ready, hold, start, retry, { type: "restart" }, crash());
  expect(held.state).toMatchObject({ phase: "held", failures: 0, reason: why });
  expect(held.effects).toEqual([{ type: "spawn" }]);
  const released = play(start, crash(), hold, release);
  expect(released.state).toMatchObject({ phase: "starting", failures: 0 });
  expect(released.state).not.toHaveProperty("reason");
  expect(released.effects.at(-1)).toEqual({ type: "spawn" });
  expect(play(start, launched, ready, release).state.phase).toBe("ready");
  expect(play(hold, { type: "stop" }, release).state.phase).toBe("stopped");
});
