/** What {@link AskAgain} works with. */
export interface AskAgainOptions {
  /** The wait before the second attempt, then twice as long each time. */
  firstMs: number;
  longestMs: number;
}

/** When something that failed is tried again. */
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
