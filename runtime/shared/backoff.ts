/** Bounds of the wait between attempts, in milliseconds. */
export interface BackoffRange {
  firstMs: number;
  longestMs: number;
}

/**
 * Returns the milliseconds to wait after so many failures in a row: the first wait, doubled with each failure up to
 * the longest. `random`, from 0 up to 1, spreads it over its upper half, so that many callers do not come back at once.
 */
export function backoffMs({ firstMs, longestMs }: BackoffRange, failures: number, random = 1): number {
  const full = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs);
  return Math.round(full * (0.5 + random / 2));
}

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
