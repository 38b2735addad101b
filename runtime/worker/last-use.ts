import type { Clock } from "../edge/ports.ts";
import type { Notes } from "./notes.ts";

const NOTE = "lastUse";
/** How far the note may be behind: a use is told for every event, and a note is a write. */
const NOTED_EVERY_MS = 10_000;

/**
 * When the container was last of use. It outlives an object that is evicted, or each one that an alarm makes
 * anew would begin the wait for the sleep once more.
 */
export class LastUse {
  readonly #notes: Notes;
  readonly #clock: Clock;
  #at: number;
  #noted: number;

  constructor(notes: Notes, clock: Clock) {
    this.#notes = notes;
    this.#clock = clock;
    // A clock that was set back must not keep the container awake until it has caught up.
    this.#noted = Math.min(Number(notes.read(NOTE) ?? 0), clock());
    this.#at = this.#noted;
  }

  /** Milliseconds since the epoch; 0 where it never was. */
  get at(): number {
    return this.#at;
  }

  /** It is of use now. */
  now(): void {
    this.#at = this.#clock();
    if (this.#at - this.#noted < NOTED_EVERY_MS) return;
    this.#notes.write(NOTE, String(this.#at));
    this.#noted = this.#at;
  }
}
