import type { Clock } from "../ports.ts";

/** Wrong tries that are looked at within {@link WINDOW_MS}, of all clients together. */
export const MOST_WRONG_TRIES = 10;
const WINDOW_MS = 15 * 60_000;
/** The wait after the first wrong try. Each further one doubles it, up to the longest. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Slows the guessing of a secret that there is only one of. Clients are not told apart: whoever guesses
 * may have many addresses. Meanwhile who is signed in stays so, and a Bearer is not held up by it.
 */
export class SignInAttempts {
  readonly #clock: Clock;
  #wrong: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the next try is looked at; 0 is now. */
  waitMs(): number {
    const now = this.#clock();
    // A clock that was set back must not lock anybody out.
    this.#wrong = this.#wrong.filter((at) => at <= now && at > now - WINDOW_MS);
    const first = this.#wrong[0];
    const last = this.#wrong.at(-1);
    if (first === undefined || last === undefined) return 0;
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (this.#wrong.length - 1), LONGEST_WAIT_MS);
    const window = this.#wrong.length >= MOST_WRONG_TRIES ? first + WINDOW_MS - now : 0;
    return Math.max(0, last + wait - now, window);
  }

  /** Counts a wrong try. */
  failed(): void {
    this.#wrong.push(this.#clock());
  }

  /** Forgets the wrong tries before a right one. */
  succeeded(): void {
    this.#wrong = [];
  }
}
