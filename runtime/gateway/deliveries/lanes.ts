/** Runs work one after the other within a lane, and lanes side by side. */
export class Lanes {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `work` once everything that was put into the lane before it has ended, well or not. */
  async run<T>(lane: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(lane) ?? Promise.resolve();
    const result = before.then(work, work);
    this.#tails.set(lane, result);
    try {
      return await result;
    } finally {
      if (this.#tails.get(lane) === result) this.#tails.delete(lane);
    }
  }
}
