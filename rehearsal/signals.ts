import { readFileSync } from "node:fs";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * A wish that this process ends: a signal, output that is no longer read, or the end of the npm that runs it. From its
 * creation on nothing else listens to these signals: a library that ends the process at once would leave behind what the
 * rehearsal has started.
 */
export class Interruption {
  /** Resolves when the process is asked to end. */
  readonly requested: Promise<void>;
  readonly #controller = new AbortController();

  constructor() {
    this.requested = new Promise((resolve) => {
      const listener = (): void => {
        this.#controller.abort();
        resolve();
      };
      // Unheard, the error would reach Pulumi's handler while a program runs, which prints it, for ever.
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
   * Runs `work` with a signal that tells it to end. What looks at the signal is waited for; an
   * interrupted work throws "interrupted", whatever it came to.
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

/** An engine that is asked to stop finishes the resource in progress. */
const GRACE_MS = 30_000;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

const LOOK_MS = 1_000;

/** Calls the listener once npm is gone. One that is killed tells its script nothing. */
function whenNpmEnds(listener: () => void): void {
  if (process.env["npm_lifecycle_event"] !== "start") return;
  const above = parents();
  const look = setInterval(() => {
    if (parents() === above) return;
    clearInterval(look);
    listener();
  }, LOOK_MS).unref();
}

/** Returns the ids of the parent process, which may be npm's shell, and, if there is a /proc, of its parent. */
function parents(): string {
  const { ppid } = process;
  try {
    const [, grandparent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${ppid}/stat`, "utf8")) ?? [];
    return `${ppid} ${grandparent}`;
  } catch {
    return `${ppid}`;
  }
}
