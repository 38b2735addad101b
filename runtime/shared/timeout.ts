/**
 * Waits at most `milliseconds` for `work`, without cancelling it.
 *
 * @throws The error from `late` after that time.
 */
export async function withTimeout<T>(milliseconds: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until `work` has settled, at most `milliseconds`. Never rejects. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await withTimeout(milliseconds, work, () => new Error("late")).catch(() => undefined);
}
