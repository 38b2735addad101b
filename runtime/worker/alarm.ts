import { backoffMs, type BackoffRange } from "../shared/backoff.ts";
import type { DurableObjectStorage } from "@cloudflare/workers-types/index.ts";

/** Dependencies of {@link Alarm}. */
interface AlarmOptions {
  storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">;
  /** Keeps the object until the alarm is on disk. */
  waitUntil(promise: Promise<unknown>): void;
}

/** The object's one alarm. The earliest request wins; the others have to be repeated after each alarm. */
export class Alarm {
  readonly #options: AlarmOptions;
  #at = Number.POSITIVE_INFINITY;

  constructor(options: AlarmOptions) {
    this.#options = options;
  }

  /** Reads the alarm. Setting one while an alarm creates the object would cancel the one that is due. */
  async load(): Promise<void> {
    this.#at = (await this.#options.storage.getAlarm()) ?? Number.POSITIVE_INFINITY;
  }

  /** The alarm has fired: the next request sets a new one. */
  fired(): void {
    this.#at = Number.POSITIVE_INFINITY;
  }

  /** Requests an alarm at this time or sooner, in milliseconds since the epoch. */
  wakeAt(time: number): void {
    if (time >= this.#at) return;
    this.#at = time;
    this.#options.waitUntil(this.#options.storage.setAlarm(time));
  }
}

/** Backoff of something that keeps failing. */
export class Backoff {
  readonly #range: BackoffRange;
  #at = 0;
  #failures = 0;

  constructor(range: BackoffRange) {
    this.#range = range;
  }

  /** Time of the next attempt, in milliseconds since the epoch; 0 if nothing failed. */
  get at(): number {
    return this.#at;
  }

  /** True from a failure until the next success. */
  get failing(): boolean {
    return this.#at > 0;
  }

  /** Records a failure. @returns the time of the next attempt. */
  failed(now: number): number {
    this.#failures += 1;
    this.#at = now + backoffMs(this.#range, this.#failures);
    return this.#at;
  }

  /** Records a success. */
  recovered(): void {
    this.#failures = 0;
    this.#at = 0;
  }
}
