import type { DurableObjectStorage } from "@cloudflare/workers-types/index.ts";

/** Dependencies of {@link Alarm}. */
interface AlarmOptions {
  storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">;
  /** Keeps the object until the alarm is on disk. */
  waitUntil(promise: Promise<unknown>): void;
}

/** An object has one alarm: the earliest wish wins, and each alarm asks anew for the others. */
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

/** Dependencies of {@link AskAgain}. */
interface AskAgainOptions {
  /** The wait before the second attempt, then twice as long each time. */
  firstMs: number;
  longestMs: number;
}

/** Time at which something that failed is tried again. */
export class AskAgain {
  readonly #options: AskAgainOptions;
  #at = 0;
  #waitMs = 0;

  constructor(options: AskAgainOptions) {
    this.#options = options;
  }

  /** Milliseconds since the epoch; 0 while it works, as far as is known. */
  get at(): number {
    return this.#at;
  }

  /** It failed, and has not worked since. */
  get failing(): boolean {
    return this.#at > 0;
  }

  /** It failed. @returns when to try again. */
  failed(now: number): number {
    const { firstMs, longestMs } = this.#options;
    this.#waitMs = Math.min(Math.max(this.#waitMs * 2, firstMs), longestMs);
    this.#at = now + this.#waitMs;
    return this.#at;
  }

  /** It worked. */
  recovered(): void {
    this.#waitMs = 0;
    this.#at = 0;
  }
}

/** Resolves after this many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
