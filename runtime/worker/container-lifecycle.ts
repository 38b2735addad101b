import type { ColdStart } from "../contract/cold-starts.ts";
import type { SandboxStatus } from "../contract/control.ts";
import { reason, type Reason } from "../contract/errors.ts";

/**
 * Number of failed boots after which no further boot is attempted. A failed boot ends before its supervisor answers.
 */
const MAX_BOOT_FAILURES = 4;
const BOOT_RETRY_MS = 1_000;
export const POLL_MS = 50;

/** State that a Durable Object records about a run of its container. Initially {@link NO_RUN}. */
export interface ContainerLifecycle {
  /** `booting`: the supervisor has not answered yet. `answering`: it has. `stopped`: the run has ended. */
  phase: "stopped" | "booting" | "answering";
  /** True during the final backup of an outdated run. Callers wait for the next run. */
  draining: boolean;
  /** Gateway restarts in this run, as last reported by the supervisor. */
  restarts: number;
  /** Number of runs that ended before their supervisor answered. Set to 0 when a new caller needs the gateway. */
  bootFailures: number;
  /**
   * Number of starts refused because of the instance limit. Set to 0 when the supervisor answers or a new caller
   * needs the gateway.
   */
  refusals: number;
}

/**
 * Prefix of the platform's undocumented error when the instance limit is reached. Cloudflare's own client matches it
 * too: https://github.com/cloudflare/sandbox-sdk
 */
const ALL_RUN = "Maximum number of running container instances exceeded";

/** Returns true if the platform refused to start the container because the instance limit was reached. */
export function isRefusal(crash: string): boolean {
  return crash.startsWith(ALL_RUN);
}

export type ContainerEvent =
  /** The Durable Object was created while its container was already running. */
  | { type: "adopted" }
  /** Somebody needs the gateway: resets the failure counters. */
  | { type: "needed" }
  /** `running`: the platform already runs the container. */
  | { type: "start"; running: boolean }
  | { type: "launched" }
  | { type: "answered"; restarts: number }
  /** `crash` is the cause; empty if the end was requested. */
  | { type: "ended"; crash: string }
  /** The run is outdated and ends after a final backup. */
  | { type: "drain" }
  /** The final backup failed. The run continues until the next `drain`. */
  | { type: "drainFailed" };

export type ContainerEffect =
  | { type: "launch" }
  | { type: "watch" }
  | { type: "restore" }
  | { type: "onStart" }
  /** The instance limit is reached: another container must make room. */
  | { type: "onRefusal" }
  | { type: "onStop"; crash: string; restarts: number };

interface ContainerStep {
  state: ContainerLifecycle;
  effects: readonly ContainerEffect[];
}

export const NO_RUN: ContainerLifecycle = {
  phase: "stopped",
  draining: false,
  restarts: 0,
  bootFailures: 0,
  refusals: 0,
};

/** Returns the next state and its effects. An event that does not fit the state changes nothing. */
export function advance(state: ContainerLifecycle, event: ContainerEvent): ContainerStep {
  const isRun = state.phase !== "stopped";
  switch (event.type) {
    case "adopted":
      if (isRun) return step(state);
      return step({ ...state, phase: "booting" }, { type: "watch" });
    case "needed":
      return step({ ...state, bootFailures: 0, refusals: 0 });
    case "start":
      // Restore again: an eviction of the object may have interrupted the restore.
      if (event.running) return step(state, { type: "restore" });
      // Launch only after the previous run's watcher has reported the run's end.
      return isRun ? step(state) : step(state, { type: "launch" });
    case "launched":
      if (isRun) return step(state);
      return step(
        { ...state, phase: "booting" },
        { type: "onStart" },
        { type: "watch" },
        { type: "restore" },
      );
    case "answered":
      if (!isRun) return step(state);
      return step({ ...state, phase: "answering", restarts: event.restarts, refusals: 0 });
    case "ended":
      return isRun ? ended(state, event.crash) : step(state);
    case "drain":
      return step({ ...state, draining: isRun });
    case "drainFailed":
      return step({ ...state, draining: false });
  }
}

function ended(state: ContainerLifecycle, crash: string): ContainerStep {
  const { bootFailures, refusals } = state;
  if (isRefusal(crash)) {
    const refused = { ...NO_RUN, bootFailures, refusals: refusals + 1 };
    return step(refused, { type: "onRefusal" }, { type: "onStop", crash, restarts: 0 });
  }
  const failures = bootFailures + (state.phase === "booting" ? 1 : 0);
  const restarts = state.restarts + (crash === "" ? 0 : 1);
  // Report this run's restarts, because the next run's supervisor counts from zero.
  return step({ ...NO_RUN, bootFailures: failures, refusals }, { type: "onStop", crash, restarts });
}

function step(state: ContainerLifecycle, ...effects: ContainerEffect[]): ContainerStep {
  return { state, effects };
}

export function isGivenUp({ bootFailures }: ContainerLifecycle): boolean {
  return bootFailures >= MAX_BOOT_FAILURES;
}

type StartStep =
  /** The gateway is ready, or further waiting would not help. */
  | { type: "end" }
  /** The gateway reports an invalid config; a different config may help. */
  | { type: "replaceConfig"; why: Reason }
  /** The start took too long. `stop` is true if the container has no data because its restore failed. */
  | { type: "expire"; stop: boolean }
  | { type: "wait"; ms: number };

interface StartContext {
  now: number;
  /** Milliseconds since the epoch. */
  deadline: number;
  running: boolean;
  restoreFailed: boolean;
}

export function afterStatus(
  { bootFailures, refusals }: ContainerLifecycle,
  { state, reason: why }: Pick<SandboxStatus, "state" | "reason">,
  { now, deadline, running, restoreFailed }: StartContext,
): StartStep {
  if (state === "ready" || state === "crash-looping")
    return why?.code === "config_invalid" ? { type: "replaceConfig", why } : { type: "end" };
  if (now >= deadline) return { type: "expire", stop: restoreFailed };
  return {
    type: "wait",
    ms: running ? POLL_MS : BOOT_RETRY_MS * (bootFailures + Math.min(refusals, 10)) || POLL_MS,
  };
}

/** Times are ISO 8601. */
export interface ContainerFacts {
  startedAt: string;
  stoppedAt: string;
  /** Cause of the last run's end; empty if the end was requested or there was no run. */
  crash: string;
  restored: boolean;
  restoreFailure: Reason | undefined;
  startIsOpen: boolean;
  starts: { coldStartMs?: number; coldStarts?: ColdStart[] };
}

export function stoppedStatus({ crash, stoppedAt, restoreFailure, starts }: ContainerFacts): SandboxStatus {
  const ended = isRefusal(crash) ? reason("sandboxes_full") : reason("crash_looping", crash);
  const cause = restoreFailure ?? (crash === "" ? undefined : ended);
  return { state: "stopped", since: stoppedAt, restarts: 0, ...(cause && { reason: cause }), ...starts };
}

export function givenUpStatus(facts: ContainerFacts): SandboxStatus {
  const detail = facts.crash || "The container ends before it answers.";
  return { ...stoppedStatus(facts), state: "crash-looping", reason: reason("crash_looping", detail) };
}

/**
 * Returns the status of a running container.
 *
 * @param reported Status from the supervisor; `undefined` if it does not answer.
 */
export function runningStatus(
  { phase, draining, restarts }: ContainerLifecycle,
  reported: SandboxStatus | undefined,
  facts: ContainerFacts,
): SandboxStatus {
  if (draining) return { ...stoppedStatus(facts), restarts };
  const at = facts.startedAt;
  if (reported === undefined || !facts.restored) {
    const start = { at, phase: phase === "answering" ? "restoring" : "starting" } as const;
    return { ...stoppedStatus(facts), state: "starting", since: at, start, restarts };
  }
  const { start } = reported;
  // Until the start is complete, show the container's start time, not the supervisor's.
  const timed = start !== undefined && facts.startIsOpen ? { start: { ...start, at } } : {};
  return { ...reported, ...facts.starts, ...timed, restarts };
}
