/** Time as the supervisor needs it; tests pass their own. */
export interface Timers {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs once after `ms` milliseconds. Returns a function that calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** The machine's own. */
export const systemTimers: Timers = {
  now: Date.now,
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
