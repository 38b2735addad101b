import type { Clock } from "../edge/ports.ts";

/** Node's timers are limited to 31 bits, so longer waits are split. */
const LONGEST_TIMER_MS = 3_600_000;

export class Timer {
  readonly #clock: Clock;
  readonly #run: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, run: () => void) {
    this.#clock = clock;
    this.#run = run;
  }

  /** Replaces any earlier time. `time` is in milliseconds since the epoch. */
  set(time: number): void {
    this.clear();
    this.#timer = setTimeout(this.#run, Math.min(Math.max(time - this.#clock(), 0), LONGEST_TIMER_MS));
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
