import { settledWithin } from "../../shared/within.ts";

/** Time that one that was named as the one before may take to arrive, and then to take its place. */
const PATIENCE_MS = 2_000;
/** Ended deliveries that are remembered. The edge names one only while it is under way, so few are enough. */
const MOST_ENDED = 1_000;

/** End of one: well, or with an error. */
type Ended = { error?: unknown };

interface UnderWay {
  placed: PromiseWithResolvers<void>;
}

/**
 * The order in which deliveries take their places, though each is a request of its own: one that names
 * another as the one before takes its place behind it. Where that one has failed and does not come again
 * soon it fails likewise, since both are tried again later.
 */
export class ArrivalOrder {
  readonly #underWay = new Map<string, UnderWay>();
  /** The oldest first. */
  readonly #ended = new Map<string, Ended>();
  readonly #awaited = new Map<string, PromiseWithResolvers<void>>();

  /** A delivery has arrived. */
  arrive(key: string): void {
    this.#ended.delete(key);
    this.#underWay.set(key, { placed: Promise.withResolvers() });
    this.#awaited.get(key)?.resolve();
    this.#awaited.delete(key);
  }

  /** It has its place: what is behind it may take theirs. */
  place(key: string): void {
    this.#underWay.get(key)?.placed.resolve();
  }

  /** It has ended, well or not. */
  end(key: string, how: Ended): void {
    this.place(key);
    this.#underWay.delete(key);
    this.#ended.set(key, how);
    const oldest = this.#ended.size > MOST_ENDED ? this.#ended.keys().next().value : undefined;
    if (oldest !== undefined) this.#ended.delete(oldest);
  }

  /**
   * Returns when the one named has its place, was answered before, or does not come in time.
   *
   * @throws What it failed with, where it does not come again.
   */
  async behind(key: string, answered: () => boolean): Promise<void> {
    if (!this.#underWay.has(key) && !this.#endedWell(key) && !answered()) {
      const awaited = this.#awaited.get(key) ?? Promise.withResolvers<void>();
      this.#awaited.set(key, awaited);
      await settledWithin(PATIENCE_MS, awaited.promise);
      if (!this.#underWay.has(key)) this.#awaited.delete(key);
    }
    await settledWithin(PATIENCE_MS, this.#underWay.get(key)?.placed.promise ?? Promise.resolve());
    const ended = this.#ended.get(key);
    if (ended !== undefined && "error" in ended) throw ended.error;
  }

  #endedWell(key: string): boolean {
    const ended = this.#ended.get(key);
    return ended !== undefined && !("error" in ended);
  }
}
