import { backoffMs, type BackoffRange } from "../shared/backoff.ts";
import type { DurableObjectStorage } from "@cloudflare/workers-types/index.ts";

/** Dependencies of {@link Alarm}. */
interface AlarmOptions {
  storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">;
  /** Keeps the object until the alarm is on disk. */
  waitUntil(promise: Promise<unknown>): void;
}

/** An object has one alarm: the earliest wish wins, and after each alarm the others ask again. */
export class Alarm {
  readonly #options: AlarmOptions;
  #at = Number.POSITIVE_INFINITY;

  constructor(options: AlarmOptions) {
    this.#options = options;
  }

  /** Read, not set: an alarm that is set while its object is being made for it cancels the one that is due. */
  async load(): Promise<void> {
    this.#at = (await this.#options.storage.getAlarm()) ?? Number.POSITIVE_INFINITY;
  }

  /** It has come: from here on the next wish counts. */
  fired(): void {
    this.#at = Number.POSITIVE_INFINITY;
  }

  /** Wishes for an alarm at this time, milliseconds since the epoch. */
  wakeAt(time: number): void {
    if (time >= this.#at) return;
    this.#at = time;
    this.#options.waitUntil(this.#options.storage.setAlarm(time));
  }
}

/** Time at which something that failed is tried again. */
export class AskAgain {
  readonly #range: BackoffRange;
  #at = 0;
  #failures = 0;

  constructor(range: BackoffRange) {
    this.#range = range;
  }

  /** Milliseconds since the epoch; 0 while nothing is known to fail. */
  get at(): number {
    return this.#at;
  }

  /** It failed, and has not worked since. */
  get failing(): boolean {
    return this.#at > 0;
  }

  /** It failed. @returns when to try again. */
  failed(now: number): number {
    this.#failures += 1;
    this.#at = now + backoffMs(this.#range, this.#failures);
    return this.#at;
  }

  /** It worked. */
  recovered(): void {
    this.#failures = 0;
    this.#at = 0;
  }
}

/** Resolves after this many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
