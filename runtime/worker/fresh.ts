import type { Clock } from "../edge/ports.ts";

/** What {@link Fresh} works with. */
export interface FreshOptions<T> {
  ask(): Promise<T>;
  /** How long an answer counts, in milliseconds. */
  forMs: number;
  clock: Clock;
}

/** An answer that counts for a while. */
export class Fresh<T> {
  readonly #options: FreshOptions<T>;
  #known: { answer: T; at: number } | undefined;
  #asked: Promise<T> | undefined;

  constructor(options: FreshOptions<T>) {
    this.#options = options;
  }

  /** The answer. Of many who find it too old together, one asks. */
  async get(): Promise<T> {
    const { forMs, clock } = this.#options;
    if (this.#known && clock() - this.#known.at < forMs) return this.#known.answer;
    this.#asked ??= this.ask().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  /** Asks, however fresh the answer is. */
  async ask(): Promise<T> {
    const answer = await this.#options.ask();
    this.#known = { answer, at: this.#options.clock() };
    return answer;
  }

  /** What was answered counts no more. */
  forget(): void {
    this.#known = undefined;
  }
}
