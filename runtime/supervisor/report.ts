import type { ColdStart } from "../contract/cold-starts.ts";
import type {
  ProcessInfo,
  ProcessList,
  SandboxState,
  SandboxStatus,
  StartPhase,
} from "../contract/control.ts";
import type { Lifecycle, Phase } from "./lifecycle.ts";

const STATES: Record<Phase, SandboxState> = {
  stopped: "stopped",
  starting: "starting",
  ready: "ready",
  // Waiting to start the gateway again counts as starting.
  backoff: "starting",
  held: "starting",
  "crash-looping": "crash-looping",
};

const PROCESS_STATES: Record<Phase, ProcessInfo["state"]> = {
  stopped: "exited",
  starting: "running",
  ready: "running",
  backoff: "backoff",
  held: "exited",
  "crash-looping": "crash-looping",
};

const START_PHASES: Partial<Record<Phase, StartPhase>> = {
  starting: "starting",
  backoff: "crashed",
  held: "restoring",
};

interface SupervisorFacts {
  version: string | undefined;
  bundle: string | undefined;
  /** Milliseconds before the first start. */
  bootMs: number;
  coldStarts: ColdStart[];
  /** Restarts counted before this supervisor. */
  earlierRestarts: number;
}

export function sandboxStatus(
  lifecycle: Lifecycle,
  { version, bundle, bootMs, coldStarts, earlierRestarts }: SupervisorFacts,
): SandboxStatus {
  const { phase, since, restarts, reason, coldStartMs } = lifecycle;
  const startPhase = START_PHASES[phase];
  const at = new Date(since - (phase === "starting" ? bootMs : 0)).toISOString();
  return {
    state: STATES[phase],
    since: new Date(since).toISOString(),
    restarts: earlierRestarts + restarts,
    ...(reason && { reason }),
    ...(startPhase && { start: { at, phase: startPhase } }),
    ...(coldStartMs !== undefined && { coldStartMs }),
    ...(coldStarts.length > 0 && { coldStarts }),
    ...(version !== undefined && { version }),
    ...(bundle !== undefined && { bundle }),
  };
}

/** Returns the list of processes, which contains only the gateway. `tail` is its output, if requested. */
export function processList(
  lifecycle: Lifecycle,
  pid: number | null,
  tail: Required<Pick<ProcessInfo, "logs" | "nextLog">> | undefined,
): ProcessList {
  const { phase, startedAt, restarts, exitCode } = lifecycle;
  return {
    processes: [
      {
        name: "gateway",
        pid,
        state: PROCESS_STATES[phase],
        startedAt: startedAt === null ? null : new Date(startedAt).toISOString(),
        restarts,
        exitCode,
        ...tail,
      },
      {
        name: "supervisor",
        pid: process.pid,
        state: "running",
        startedAt: new Date(performance.timeOrigin).toISOString(),
        restarts: 0,
        exitCode: null,
      },
    ],
  };
}
