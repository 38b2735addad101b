export interface BackoffRange {
  firstMs: number;
  longestMs: number;
}

/**
 * Returns the wait, in milliseconds, after this many consecutive failures. The full wait doubles from `firstMs` up to
 * `longestMs`. `random`, from 0 to 1, selects a wait between half the full wait and all of it.
 */
export function backoffMs({ firstMs, longestMs }: BackoffRange, failures: number, random = 1): number {
  const full = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs);
  return Math.round(full * (0.5 + random / 2));
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
