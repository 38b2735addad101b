import type { Context, MiddlewareHandler } from "hono";
import type { Clock } from "./ports.ts";
import { sendProblem } from "./problems.ts";

/** Limits of each caller in a minute. `/healthz` and `/readyz` have no limit: what watches must see. */
export const PER_MINUTE = {
  /** `GET /` of one client. The wait page asks 30 times a minute. */
  visits: 300,
  /** Requests below `/_admin/` and `/debug/` of one identity. */
  identity: 300,
  /**
   * Webhook requests of one client that the platform did not send, or that are malformed. Verified ones
   * are not counted and always pass, also from an address that forged ones come from.
   */
  refusedWebhooks: 600,
  /** Wrong tokens of one client, by form or as Bearers, where ADMIN_TOKEN is the identity. A right one always passes. */
  wrongTokens: 30,
} as const;

/** Most callers that are remembered. Above, the one not seen for longest is evicted. */
const MOST_CALLERS = 5_000;

/** Settings of a {@link RateLimit}. */
interface RateLimitOptions {
  /** Limit of a caller in a minute: all of it at once, then as time gives it back. */
  perMinute: number;
  clock: Clock;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Limit on how often each caller may do something: a token bucket a caller
 * (https://en.wikipedia.org/wiki/Token_bucket). It is kept in memory: a restart resets it, and on Cloudflare
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

  /** Takes back what was counted for a caller, who has turned out to be entitled. */
  giveBack(caller: string): void {
    const bucket = this.#buckets.get(caller);
    if (bucket !== undefined) bucket.tokens = Math.min(this.#perMinute, bucket.tokens + 1);
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

/** Refuses a caller's requests beyond its limit with 429. */
export function limitRequests(limit: RateLimit, callerOf: (context: Context) => string): MiddlewareHandler {
  return async function rateLimitMiddleware(context, next) {
    const retryAfterSeconds = limit.take(callerOf(context));
    if (retryAfterSeconds > 0) return sendProblem("rate_limited", undefined, { retryAfterSeconds });
    await next();
    return undefined;
  };
}
