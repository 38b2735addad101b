import { backoffMs, type BackoffRange } from "../shared/backoff.ts";
import type { Reason } from "../contract/errors.ts";

/**
 * Phase of the gateway's process. `backoff` waits for the next attempt after a crash, `crash-looping` too unless the
 * failure is permanent, `held` for its data.
 */
export type Phase = "stopped" | "starting" | "ready" | "backoff" | "crash-looping" | "held";

/** Everything that the supervisor knows of the gateway's life. Times are milliseconds since the epoch. */
export interface Lifecycle {
  phase: Phase;
  since: number;
  /** Starts after a crash, since the supervisor's own start. */
  restarts: number;
  /** Crashes in a row, none of them after a stable run. */
  failures: number;
  startedAt: number | null;
  exitCode: number | null;
  /** The last crash: no attempt helps until something changes. */
  permanent?: boolean;
  coldStartMs?: number;
  reason?: Reason;
}

/** Event in the gateway's life. */
export type LifecycleEvent =
  | { type: "start" }
  /** Like a start, but from every phase; the caller ends what runs. */
  | { type: "restart" }
  /** The process exists. Its start is timed from here. */
  | { type: "launched" }
  /** The port answers. `bootMs` passed before the start that this belongs to. */
  | { type: "ready"; bootMs: number }
  /** Ended without being asked to. `permanent`: another attempt cannot end otherwise. */
  | { type: "crashed"; exitCode: number | null; reason: Reason; permanent: boolean }
  | { type: "retry" }
  /** Somebody needs the gateway: the next attempt after a crash comes at once, but for one just made. */
  | { type: "needed" }
  | { type: "stop" }
  /** Its data is being put in place: from now on only a release or a stop changes anything. */
  | { type: "hold"; reason: Reason }
  | { type: "release" };

/** Policy of trying again. Crashes are retried for ever: their cause may pass, such as a full disk. */
export interface BackoffPolicy extends BackoffRange {
  /** Crashes in a row after which the status says that it is crash-looping. */
  maxFailures: number;
  /** The shortest time from a crash to an attempt because somebody needs the gateway. */
  neededAfterMs: number;
  /** A run that was ready for this long is stable: a crash after it counts as the first. */
  stableAfterMs: number;
}

/** Five crashes in about 15 s are a fault that somebody has to see. */
export const DEFAULT_POLICY: BackoffPolicy = {
  firstMs: 500,
  longestMs: 60_000,
  maxFailures: 5,
  neededAfterMs: 5_000,
  stableAfterMs: 60_000,
};

/** Inputs of a step from the world. `random` is from 0 up to 1. */
export interface StepContext {
  now: number;
  random: number;
  policy: BackoffPolicy;
}

/** A state, and what has to be done now that it is reached. */
export interface LifecycleStep {
  state: Lifecycle;
  effect: { type: "spawn" } | { type: "wait"; ms: number } | { type: "none" };
}

/** The state before the first start. */
export function initialLifecycle(now: number): Lifecycle {
  return { phase: "stopped", since: now, restarts: 0, failures: 0, startedAt: null, exitCode: null };
}

/** The next state. An event that does not fit the phase changes nothing. No input, output or clock. */
export function advance(state: Lifecycle, event: LifecycleEvent, context: StepContext): LifecycleStep {
  const { now } = context;
  const { reason: _reason, permanent: _permanent, ...clean } = state;
  switch (event.type) {
    case "start":
      if (state.phase === "starting" || state.phase === "ready") return unchanged(state);
      if (state.phase === "held") return unchanged(state);
      return spawning({ ...clean, failures: 0 }, now);
    case "restart":
      if (state.phase === "held") return unchanged(state);
      return spawning({ ...clean, failures: 0 }, now);
    case "launched":
      return unchanged({ ...state, startedAt: now });
    case "retry":
      if (state.phase !== "backoff" && state.phase !== "crash-looping") return unchanged(state);
      return spawning({ ...state, restarts: state.restarts + 1 }, now);
    case "needed":
      if (state.phase !== "backoff" && state.phase !== "crash-looping") return unchanged(state);
      if (state.permanent || now - state.since < context.policy.neededAfterMs) return unchanged(state);
      return spawning({ ...state, restarts: state.restarts + 1 }, now);
    case "ready":
      if (state.phase !== "starting") return unchanged(state);
      return unchanged({ ...clean, phase: "ready", since: now, coldStartMs: coldStartMs(state, event, now) });
    case "crashed":
      if (state.phase !== "starting" && state.phase !== "ready") return unchanged(state);
      return crashed(state, event, context);
    case "stop":
      return unchanged({ ...clean, phase: "stopped", since: now, failures: 0 });
    case "hold":
      return unchanged({ ...clean, phase: "held", since: now, failures: 0, reason: event.reason });
    case "release":
      if (state.phase !== "held") return unchanged(state);
      return spawning(clean, now);
  }
}

function crashed(
  state: Lifecycle,
  { exitCode, reason, permanent }: Extract<LifecycleEvent, { type: "crashed" }>,
  { now, random, policy }: StepContext,
): LifecycleStep {
  const stable = state.phase === "ready" && now - state.since >= policy.stableAfterMs;
  const failures = stable ? 1 : state.failures + 1;
  const next = { ...state, since: now, failures, exitCode, reason };
  if (permanent) return unchanged({ ...next, phase: "crash-looping", permanent });
  const phase = failures >= policy.maxFailures ? "crash-looping" : "backoff";
  return { state: { ...next, phase }, effect: { type: "wait", ms: backoffMs(policy, failures, random) } };
}

function spawning(state: Lifecycle, now: number): LifecycleStep {
  return {
    state: { ...state, phase: "starting", since: now, exitCode: null },
    effect: { type: "spawn" },
  };
}

/** Milliseconds of a start that ends now. */
export function coldStartMs(
  { startedAt }: Pick<Lifecycle, "startedAt">,
  { bootMs }: { bootMs: number },
  now: number,
): number {
  return Math.round(now - (startedAt ?? now) + bootMs);
}

function unchanged(state: Lifecycle): LifecycleStep {
  return { state, effect: { type: "none" } };
}
