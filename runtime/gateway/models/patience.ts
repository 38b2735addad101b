/** Milliseconds for the whole answer, its first word, and between two words. */
export interface ModelTimeout {
  totalMs: number;
  firstChunkMs: number;
  chunkMs: number;
}

/** A busy model may pause for a minute between two words, and speak for some. */
export function timeoutWith(firstChunkMs: number): ModelTimeout {
  return { totalMs: firstChunkMs + 150_000, firstChunkMs, chunkMs: 60_000 };
}

/** A busy model may think for a minute before its first word. */
const DEFAULT_TIMEOUT = timeoutWith(90_000);

/** Time limit of a model: until its time is up, or the question is called off. */
export class Patience {
  /** Aborts when it ends. */
  readonly signal: AbortSignal;
  readonly #chunkMs: number;
  readonly #late = new AbortController();
  readonly #total: NodeJS.Timeout;
  #chunk: NodeJS.Timeout;
  #begun = false;

  constructor(asked: AbortSignal, { totalMs, firstChunkMs, chunkMs }: ModelTimeout = DEFAULT_TIMEOUT) {
    const end = (): void => this.#late.abort();
    this.#chunkMs = chunkMs;
    this.#total = setTimeout(end, totalMs);
    this.#chunk = setTimeout(end, firstChunkMs);
    this.signal = AbortSignal.any([asked, this.#late.signal]);
  }

  /** A piece of the answer came in: the next one has its own time. */
  renew(): void {
    if (this.#begun) {
      this.#chunk.refresh();
      return;
    }
    this.#begun = true;
    clearTimeout(this.#chunk);
    this.#chunk = setTimeout(() => this.#late.abort(), this.#chunkMs);
  }

  /** Nothing is waited for any more. */
  end(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#chunk);
  }
}
