/** Clock and timers; tests pass their own. */
export interface Timers {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs once after `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  now: Date.now,
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
