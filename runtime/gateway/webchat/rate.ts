/** Messages that a page may send at once, and how often one more: quicker than anybody types. */
const BURST = 20;
const REFILL_MS = 1_000;

/** How fast a socket may send. */
export class Rate {
  readonly #clock: () => number;
  #left = BURST;
  #at: number;

  constructor(clock: () => number) {
    this.#clock = clock;
    this.#at = clock();
  }

  /** Whether one more is allowed now. */
  take(): boolean {
    const now = this.#clock();
    this.#left = Math.min(BURST, this.#left + Math.max(0, now - this.#at) / REFILL_MS);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
