import type { ColdStart } from "../contract/cold-starts.ts";
import type { SandboxStatus } from "../contract/control.ts";
import { reason, type Reason } from "../contract/errors.ts";

/** Runs that may end before their supervisor answers, before a start is given up. */
const MAX_BOOT_FAILURES = 4;
const BOOT_RETRY_MS = 1_000;
/** Interval in milliseconds at which a start checks whether the gateway is ready. */
export const POLL_MS = 50;

/** The container's run as its Durable Object knows it. A new object knows of none. */
export interface ContainerLifecycle {
  /**
   * `booting`: the supervisor has not answered yet. `answering`: it has. `stopped`: the end was noticed, which may be
   * later than the end itself.
   */
  phase: "stopped" | "booting" | "answering";
  /** The last backup of an outdated run is in progress: its users wait for the next run. */
  draining: boolean;
  /** Restarts of the gateway in this run, as its supervisor last reported. */
  restarts: number;
  /** Runs since the last request for a start that ended before their supervisor answered. */
  bootFailures: number;
  /** Starts since then that the platform refused because as many containers run as may. */
  refusals: number;
}

/**
 * Beginning of the platform's words for that. Its documentation has none; these are what Cloudflare's own client looks
 * for: https://github.com/cloudflare/sandbox-sdk
 */
const ALL_RUN = "Maximum number of running container instances exceeded";

/** Returns true for the end of a run that the platform did not start because as many containers run as may. */
export function isRefusal(crash: string): boolean {
  return crash.startsWith(ALL_RUN);
}

/** Event in the container's life. */
export type ContainerEvent =
  /** An object was created while the container runs. */
  | { type: "adopted" }
  /** Somebody needs the gateway: failures before that do not count. */
  | { type: "needed" }
  /** The container has to run. `running`: the platform runs it already. */
  | { type: "start"; running: boolean }
  /** The platform has accepted the start. */
  | { type: "launched" }
  /** The supervisor has answered. */
  | { type: "answered"; restarts: number }
  /** The run has ended. `crash` is the cause; empty if the end was requested. */
  | { type: "ended"; crash: string }
  /** The run is outdated: it ends after a last backup. */
  | { type: "drain" }
  /** That backup failed: the run serves until the next attempt. */
  | { type: "drainFailed" };

/** Work of a step. */
export type ContainerEffect =
  | { type: "launch" }
  | { type: "watch" }
  /** Puts the data in place, unless it is there. */
  | { type: "restore" }
  | { type: "onStart" }
  /** As many containers run as may: another one has to make room. */
  | { type: "onRefusal" }
  /** `restarts` are those of the run, to be added to the total. */
  | { type: "onStop"; crash: string; restarts: number };

/** A state, and the work that reaching it requires. */
interface ContainerStep {
  state: ContainerLifecycle;
  effects: readonly ContainerEffect[];
}

/** State of an object that knows of no run. */
export const NO_RUN: ContainerLifecycle = {
  phase: "stopped",
  draining: false,
  restarts: 0,
  bootFailures: 0,
  refusals: 0,
};

/** Returns the next state. An event that does not fit the state changes nothing. No input, output or clock. */
export function advance(state: ContainerLifecycle, event: ContainerEvent): ContainerStep {
  const isRun = state.phase !== "stopped";
  switch (event.type) {
    case "adopted":
      if (isRun) return step(state);
      return step({ ...state, phase: "booting" }, { type: "watch" });
    case "needed":
      return step({ ...state, bootFailures: 0, refusals: 0 });
    case "start":
      // An object that was lost during a restore starts it again.
      if (event.running) return step(state, { type: "restore" });
      // A run whose end is not noticed yet is waited for: each run has its own watch.
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
  // The next run's supervisor counts from zero.
  return step({ ...NO_RUN, bootFailures: failures, refusals }, { type: "onStop", crash, restarts });
}

function step(state: ContainerLifecycle, ...effects: ContainerEffect[]): ContainerStep {
  return { state, effects };
}

/** Returns true if the container ended so often before its supervisor answered that another run would not help. */
export function isGivenUp({ bootFailures }: ContainerLifecycle): boolean {
  return bootFailures >= MAX_BOOT_FAILURES;
}

/** Next step of a start that has read a status. */
type StartStep =
  /** The gateway is ready, or nothing that this start can do would make it ready. */
  | { type: "end" }
  /** The config stopped the gateway: another one may help. */
  | { type: "replaceConfig"; why: Reason }
  /** The time is over. A container without its data is of no use: it is stopped, and the next start tries again. */
  | { type: "expire"; stop: boolean }
  | { type: "wait"; ms: number };

/** Circumstances of a start. */
interface StartContext {
  now: number;
  /** Milliseconds since the epoch. */
  deadline: number;
  /** The platform runs the container. */
  running: boolean;
  /** A restore has failed. */
  restoreFailed: boolean;
}

/** Returns the next step of a start that has read this status. */
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

/** Facts about the container from the object's notes and its restore. Times are ISO 8601. */
export interface ContainerFacts {
  startedAt: string;
  stoppedAt: string;
  /** Cause of the last run's end; empty if the end was requested or there was no run. */
  crash: string;
  /** The container has its data. */
  restored: boolean;
  /** Why the last restore failed. */
  restoreFailure: Reason | undefined;
  /** The last start has not ended yet. */
  startIsOpen: boolean;
  starts: { coldStartMs?: number; coldStarts?: ColdStart[] };
}

/** Returns the status of a container that does not run. */
export function stoppedStatus({ crash, stoppedAt, restoreFailure, starts }: ContainerFacts): SandboxStatus {
  const ended = isRefusal(crash) ? reason("sandboxes_full") : reason("crash_looping", crash);
  const cause = restoreFailure ?? (crash === "" ? undefined : ended);
  return { state: "stopped", since: stoppedAt, restarts: 0, ...(cause && { reason: cause }), ...starts };
}

/** Returns the status of a container that ends before its supervisor answers, again and again. */
export function givenUpStatus(facts: ContainerFacts): SandboxStatus {
  const detail = facts.crash || "The container ends before it answers.";
  return { ...stoppedStatus(facts), state: "crash-looping", reason: reason("crash_looping", detail) };
}

/**
 * Returns the status of a container that runs.
 *
 * @param reported The supervisor's own status; `undefined` if it does not answer.
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
  // The supervisor times its own part only: the start is the container's.
  const timed = start !== undefined && facts.startIsOpen ? { start: { ...start, at } } : {};
  return { ...reported, ...facts.starts, ...timed, restarts };
}
