/**
 * Waits for `work` for at most so many milliseconds. The work itself continues.
 *
 * @throws what `late` makes, where it takes longer.
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

/** Waits until `work` has ended, well or not, for at most so many milliseconds. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await withTimeout(milliseconds, work, () => new Error("late")).catch(() => undefined);
}
