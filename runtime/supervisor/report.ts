import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { addColdStart, type ColdStart, readColdStarts } from "../contract/cold-starts.ts";
import type {
  ProcessInfo,
  ProcessList,
  SandboxState,
  SandboxStatus,
  StartPhase,
} from "../contract/control.ts";
import type { Log } from "../shared/log.ts";
import type { Lifecycle, Phase } from "./lifecycle.ts";

const STATES: Record<Phase, SandboxState> = {
  stopped: "stopped",
  starting: "starting",
  ready: "ready",
  // Between two attempts the gateway still counts as starting. The status then also has the reason for the last crash.
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

/** Facts that the supervisor reports besides the gateway's lifecycle. */
interface SupervisorFacts {
  version: string | undefined;
  /** Bundle that the container's programs run from. */
  bundle: string | undefined;
  /** Milliseconds that passed before the first start. */
  bootMs: number;
  coldStarts: ColdStart[];
}

/** Returns the sandbox's state as the edge receives it. */
export function sandboxStatus(
  lifecycle: Lifecycle,
  { version, bundle, bootMs, coldStarts }: SupervisorFacts,
): SandboxStatus {
  const { phase, since, restarts, reason, coldStartMs } = lifecycle;
  const startPhase = START_PHASES[phase];
  const at = new Date(since - (phase === "starting" ? bootMs : 0)).toISOString();
  return {
    state: STATES[phase],
    since: new Date(since).toISOString(),
    restarts,
    ...(reason && { reason }),
    ...(startPhase && { start: { at, phase: startPhase } }),
    ...(coldStartMs !== undefined && { coldStartMs }),
    ...(coldStarts.length > 0 && { coldStarts }),
    ...(version !== undefined && { version }),
    ...(bundle !== undefined && { bundle }),
  };
}

/** Returns the container's two processes. `tail` is the gateway's output, if it was requested. */
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

/** Outcomes of the gateway's last starts, in a small file that outlives the container. */
export class Starts {
  readonly #file: string;
  readonly #log: Log;
  #list: ColdStart[] | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(file: string, log: Log) {
    this.#file = file;
    this.#log = log;
  }

  /** The starts, newest first. */
  get list(): ColdStart[] {
    return (this.#list ??= readColdStarts(this.#read()));
  }

  /** Adds a start, and writes the file in the background so that a ready gateway does not wait for the disk. */
  add(start: ColdStart): void {
    this.#list = addColdStart(this.list, start);
    const text = `${JSON.stringify(this.#list)}\n`;
    this.#written = this.#written.then(() => this.#write(text));
  }

  /** Resolves when the writes of all added starts have ended. */
  written(): Promise<void> {
    return this.#written;
  }

  async #write(text: string): Promise<void> {
    try {
      await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
      await writeFile(this.#file, text, { mode: 0o600 });
    } catch (error) {
      this.#log.debug("the starts cannot be kept", { error: String(error) });
    }
  }

  #read(): string | undefined {
    try {
      return readFileSync(this.#file, "utf8");
    } catch {
      // The file does not exist yet or cannot be read: there are no earlier starts to compare with.
      return undefined;
    }
  }
}
