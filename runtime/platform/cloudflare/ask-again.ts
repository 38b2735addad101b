/** The wait before the second question, then twice as long each time. */
const FIRST_MS = 10_000;
const LONGEST_MS = 30 * 60_000;

/** When a gateway that cannot start is asked again, while events wait for it. */
export class AskAgain {
  #at = 0;
  #waitMs = FIRST_MS / 2;

  /** Milliseconds since the epoch; 0 while the gateway can start, as far as is known. */
  get at(): number {
    return this.#at;
  }

  /** The gateway cannot start, although it was asked to: it may sleep even with events that wait for it. */
  get failing(): boolean {
    return this.#at > 0;
  }

  /** It did not start. @returns when to ask again. */
  failed(now: number): number {
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_MS);
    this.#at = now + this.#waitMs;
    return this.#at;
  }

  /** It is ready. */
  recovered(): void {
    this.#waitMs = FIRST_MS / 2;
    this.#at = 0;
  }
}
