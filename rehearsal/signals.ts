import { readFileSync } from "node:fs";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Detects a request to end this process: a signal, closed output, or the exit of npm. Removes other listeners of the
 * signals, because they could end the process before the cleanup.
 */
export class Interruption {
  readonly requested: Promise<void>;
  readonly #controller = new AbortController();

  constructor() {
    this.requested = new Promise((resolve) => {
      const listener = (): void => {
        this.#controller.abort();
        resolve();
      };
      // Handle output errors here. Otherwise, Pulumi's own handler would print them endlessly.
      for (const output of [process.stdout, process.stderr]) output.on("error", listener);
      for (const signal of SIGNALS) {
        process.removeAllListeners(signal);
        process.on(signal, listener);
      }
      whenNpmEnds(listener);
      process.on("newListener", (event, added: () => void) => {
        if (SIGNALS.some((signal) => signal === event)) queueMicrotask(() => process.off(event, added));
      });
    });
  }

  /**
   * Runs `work` with a signal that aborts on an interruption. After an interruption, throws "interrupted" when `work`
   * fails, or after {@link GRACE_MS}.
   */
  async abortable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#controller;
    if (signal.aborted) throw new Error("interrupted");
    const running = work(signal);
    const grace = this.requested.then(async () => {
      await Promise.race([Promise.allSettled([running]), pause(GRACE_MS)]);
      throw new Error("interrupted");
    });
    return Promise.race([running, grace]).catch((error: unknown) => {
      throw signal.aborted ? new Error("interrupted", { cause: error }) : error;
    });
  }
}

export function isInterruption(error: unknown): boolean {
  return error instanceof Error && error.message === "interrupted";
}

/** Time for the engine to finish its current resource after a request to stop. */
const GRACE_MS = 30_000;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

const LOOK_MS = 1_000;

/** Calls the listener when npm exits. Polls, because a killed npm does not notify its script. */
function whenNpmEnds(listener: () => void): void {
  if (process.env["npm_lifecycle_event"] !== "start") return;
  const above = parents();
  const look = setInterval(() => {
    if (parents() === above) return;
    clearInterval(look);
    listener();
  }, LOOK_MS).unref();
}

/** Returns the process ids of the parent and, if /proc exists, the grandparent, because either may be npm. */
function parents(): string {
  const { ppid } = process;
  try {
    const [, grandparent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${ppid}/stat`, "utf8")) ?? [];
    return `${ppid} ${grandparent}`;
  } catch {
    return `${ppid}`;
  }
}
