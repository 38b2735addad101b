import type { DurableObjectStorage } from "@cloudflare/workers-types/index.ts";

/** What {@link Alarm} works with. */
export interface AlarmOptions {
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
