import type { ChannelHealth } from "../../contract/control.ts";
import type { Platform } from "../../contract/delivery.ts";
import { StewardError, type Reason } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { RefusedError } from "../failure.ts";

/** Dependencies of a channel's standing. */
export interface OutgoingHealthOptions {
  platform: Platform;
  /** Returns what an error of the platform means. Default: it is one of ours already. */
  read?(error: unknown): unknown;
  log: Log;
}

/** Standing of a platform towards what goes out: the last failure, until something is taken again. */
export class OutgoingHealth {
  readonly #options: OutgoingHealthOptions;
  #failure: Reason | undefined;
  #answered = false;
  /** The failure is one that a probe has found, and a later probe may find to be over. */
  #probed = false;

  constructor(options: OutgoingHealthOptions) {
    this.#options = options;
  }

  /** Runs what goes out, and keeps how it went. Rejects with what the platform's error means. */
  async out<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#answered = true;
      this.#failure = undefined;
      return result;
    } catch (error) {
      throw this.note(error);
    }
  }

  /** Asks the platform about the credentials. Never rejects; a failure of what goes out is not ended by it. */
  async probe(ask: () => Promise<unknown>): Promise<void> {
    try {
      await ask();
      this.#answered = true;
      if (this.#probed) this.#failure = undefined;
    } catch (error) {
      const former = this.#failure;
      this.note(error);
      if (this.#failure !== former) this.#probed = true;
    }
  }

  /** Keeps a failure, and gives what it means. What one chat refuses says nothing about the channel. */
  note(error: unknown): unknown {
    const { platform, read, log } = this.#options;
    const told = read?.(error) ?? error;
    if (told instanceof StewardError && !(told instanceof RefusedError)) {
      this.#failure = told.reason;
      this.#probed = false;
      log.error("a platform did not take a request", { platform, ...told.reason });
    }
    return told;
  }

  /** The channel's health, judging by outgoing requests, and by what is known of what comes in. */
  health(incoming: { reason?: Reason; answered?: boolean } = {}): ChannelHealth {
    const { platform } = this.#options;
    const why = this.#failure ?? incoming.reason;
    if (why !== undefined) return { platform, state: "failing", reason: why };
    return { platform, state: this.#answered || incoming.answered ? "ready" : "unknown" };
  }
}
