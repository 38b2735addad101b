import { backoffMs, type BackoffRange } from "../shared/backoff.ts";
import type { Reason } from "../contract/errors.ts";

/**
 * Phase of the gateway's process. In `backoff` and `crash-looping`, the supervisor retries after a delay, unless the
 * failure is permanent. In `held`, the gateway must not start until its data is restored.
 */
export type Phase = "stopped" | "starting" | "ready" | "backoff" | "crash-looping" | "held";

/** Times are in milliseconds since the epoch. */
export interface Lifecycle {
  phase: Phase;
  since: number;
  /** Number of restarts after crashes since the supervisor's start. */
  restarts: number;
  /** Number of crashes since the last stable run. */
  failures: number;
  startedAt: number | null;
  exitCode: number | null;
  /** True if a retry would fail for the same reason. */
  permanent?: boolean;
  coldStartMs?: number;
  reason?: Reason;
}

export type LifecycleEvent =
  | { type: "start" }
  /** Starts the gateway from any phase except `held`. The caller ends the current run first. */
  | { type: "restart" }
  /** The process exists. Its start is timed from this event. */
  | { type: "launched" }
  /**
   * The port answers. `bootMs` is the time that the supervisor itself took to start; it counts towards the cold
   * start's duration.
   */
  | { type: "ready"; bootMs: number }
  /** The process ended without a stop request. `permanent`: another attempt would fail again. */
  | { type: "crashed"; exitCode: number | null; reason: Reason; permanent: boolean }
  | { type: "retry" }
  /**
   * Somebody needs the gateway: if it crashed at least `neededAfterMs` ago, retry now, unless the failure is
   * permanent.
   */
  | { type: "needed" }
  | { type: "stop" }
  /** The data is being restored: only a release or a stop has an effect. */
  | { type: "hold"; reason: Reason }
  | { type: "release" };

/** Retry policy. Crashes are retried forever, because causes such as a full disk may disappear. */
export interface BackoffPolicy extends BackoffRange {
  /** Consecutive crashes after which the status reports `crash-looping`. */
  maxFailures: number;
  /** Minimum time after a crash before a `needed` event causes a retry. */
  neededAfterMs: number;
  /** Time after which a ready run counts as stable, so that the crash count is reset. */
  stableAfterMs: number;
}

/** Five crashes count as a crash loop. The delays between them total at most 7.5 s. */
export const DEFAULT_POLICY: BackoffPolicy = {
  firstMs: 500,
  longestMs: 60_000,
  maxFailures: 5,
  neededAfterMs: 5_000,
  stableAfterMs: 60_000,
};

/** Inputs of a step. `random` is at least 0 and below 1. */
export interface StepContext {
  now: number;
  random: number;
  policy: BackoffPolicy;
}

export interface LifecycleStep {
  state: Lifecycle;
  effect: { type: "spawn" } | { type: "wait"; ms: number } | { type: "none" };
}

export function initialLifecycle(now: number): Lifecycle {
  return { phase: "stopped", since: now, restarts: 0, failures: 0, startedAt: null, exitCode: null };
}

/** Returns the next state and its effect. An event that does not fit the phase changes nothing. */
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
