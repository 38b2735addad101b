import { backoffMs, type BackoffRange } from "../shared/backoff.ts";
import type { DurableObjectStorage } from "@cloudflare/workers-types/index.ts";

interface AlarmOptions {
  storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">;
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * The object's only alarm. Of several requested times, only the earliest counts; request the others again after the
 * alarm fires.
 */
export class Alarm {
  readonly #options: AlarmOptions;
  #at = Number.POSITIVE_INFINITY;

  constructor(options: AlarmOptions) {
    this.#options = options;
  }

  /**
   * Loads the stored alarm. Call this before any request. Otherwise, a request could replace an alarm that is already
   * due.
   */
  async load(): Promise<void> {
    this.#at = (await this.#options.storage.getAlarm()) ?? Number.POSITIVE_INFINITY;
  }

  markFired(): void {
    this.#at = Number.POSITIVE_INFINITY;
  }

  /** Requests an alarm at or before `time`, in milliseconds since the epoch. */
  wakeAt(time: number): void {
    if (time >= this.#at) return;
    this.#at = time;
    this.#options.waitUntil(this.#options.storage.setAlarm(time));
  }
}

export class Backoff {
  readonly #range: BackoffRange;
  #at = 0;
  #failures = 0;

  constructor(range: BackoffRange) {
    this.#range = range;
  }

  /** Time of the next attempt in milliseconds since the epoch; 0 unless the last attempt failed. */
  get at(): number {
    return this.#at;
  }

  get failing(): boolean {
    return this.#at > 0;
  }

  /**
   * Records a failure.
   *
   * @returns the time of the next attempt, in milliseconds since the epoch
   */
  failed(now: number): number {
    this.#failures += 1;
    this.#at = now + backoffMs(this.#range, this.#failures);
    return this.#at;
  }

  recovered(): void {
    this.#failures = 0;
    this.#at = 0;
  }
}
