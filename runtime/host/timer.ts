import type { Clock } from "../edge/ports.ts";

/**
 * Longest wait in milliseconds, well below the limit of Node's timers. For a later time, the callback runs early and
 * must set the timer again.
 */
const LONGEST_TIMER_MS = 3_600_000;

export class Timer {
  readonly #clock: Clock;
  readonly #run: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, run: () => void) {
    this.#clock = clock;
    this.#run = run;
  }

  /** Schedules the callback for `time`, in milliseconds since the epoch. Replaces a previously set time. */
  set(time: number): void {
    this.clear();
    this.#timer = setTimeout(this.#run, Math.min(Math.max(time - this.#clock(), 0), LONGEST_TIMER_MS));
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
