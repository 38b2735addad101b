import type { Clock } from "./ports.ts";

/** Callers that are remembered at most. Beyond, the one that was not seen for longest begins anew. */
export const MOST_CALLERS = 5_000;

/** Settings of a {@link RateLimit}. */
export interface RateLimitOptions {
  /** What a caller may do in a minute: all of it at once, then as time gives it back. */
  perMinute: number;
  clock: Clock;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * How often each caller may do something: a token bucket a caller
 * (https://en.wikipedia.org/wiki/Token_bucket). It is kept in memory: a restart begins anew, and on Cloudflare
 * each isolate counts for itself, so that it bounds what a flood costs rather than counting to the last request.
 */
export class RateLimit {
  readonly #perMinute: number;
  readonly #clock: Clock;
  /** In the order of use, the longest unused first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor({ perMinute, clock }: RateLimitOptions) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Counts one for a caller. @returns 0 where it may be done, else the seconds until the next may. */
  take(caller: string): number {
    const bucket = this.#refilled(caller);
    const wait = this.#waitSeconds(bucket);
    if (wait === 0) bucket.tokens -= 1;
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_CALLERS && oldest !== undefined) this.#buckets.delete(oldest);
    return wait;
  }

  #refilled(caller: string): Bucket {
    const now = this.#clock();
    const bucket = this.#buckets.get(caller);
    if (bucket === undefined) return { tokens: this.#perMinute, at: now };
    // A clock that was set back gives nothing, and takes nothing.
    const gained = (Math.max(0, now - bucket.at) / 60_000) * this.#perMinute;
    return { tokens: Math.min(this.#perMinute, bucket.tokens + gained), at: now };
  }

  #waitSeconds({ tokens }: Bucket): number {
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 60) / this.#perMinute);
  }
}
