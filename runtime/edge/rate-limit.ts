import type { Context, MiddlewareHandler } from "hono";
import type { Clock } from "./ports.ts";
import { sendProblem } from "./problems.ts";

/** Rate limits. `/healthz` and `/readyz` have none, so that monitoring always works. */
export const PER_MINUTE = {
  /**
   * Maximum requests for `GET /` per minute from each client. A separate, equal limit applies to the web chat's
   * files.
   */
  visits: 300,
  /** Maximum requests per minute from each identity to paths under `/_admin/` and `/debug/`. */
  identity: 300,
  /** Maximum unverified or malformed webhook requests per minute from each client. */
  refusedWebhooks: 600,
  /** Maximum wrong admin tokens per minute from each client. */
  wrongTokens: 30,
} as const;

/** Maximum number of tracked callers. The least recently seen caller is evicted. */
const MAX_CALLERS = 5_000;

interface RateLimitOptions {
  /** Tokens in a full bucket. An empty bucket refills within a minute. */
  perMinute: number;
  clock: Clock;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Limits each caller's rate with a token bucket (https://en.wikipedia.org/wiki/Token_bucket). The limit is
 * approximate, because each Cloudflare isolate has its own buckets.
 */
export class RateLimit {
  readonly #perMinute: number;
  readonly #clock: Clock;
  /** Least recently used first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor({ perMinute, clock }: RateLimitOptions) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Takes a token for a caller. @returns 0 if allowed, else the seconds until the next token. */
  take(caller: string): number {
    const bucket = this.#refilled(caller);
    const wait = this.#waitSeconds(bucket);
    if (wait === 0) bucket.tokens -= 1;
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_CALLERS && oldest !== undefined) this.#buckets.delete(oldest);
    return wait;
  }

  /** Gives a caller's token back after a legitimate request. */
  refund(caller: string): void {
    const bucket = this.#buckets.get(caller);
    if (bucket !== undefined) bucket.tokens = Math.min(this.#perMinute, bucket.tokens + 1);
  }

  #refilled(caller: string): Bucket {
    const now = this.#clock();
    const bucket = this.#buckets.get(caller);
    if (bucket === undefined) return { tokens: this.#perMinute, at: now };
    // A clock that is set back neither adds nor removes tokens.
    const gained = (Math.max(0, now - bucket.at) / 60_000) * this.#perMinute;
    return { tokens: Math.min(this.#perMinute, bucket.tokens + gained), at: now };
  }

  #waitSeconds({ tokens }: Bucket): number {
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 60) / this.#perMinute);
  }
}

export function limitRequests(limit: RateLimit, callerOf: (context: Context) => string): MiddlewareHandler {
  return async function rateLimitMiddleware(context, next) {
    const retryAfterSeconds = limit.take(callerOf(context));
    if (retryAfterSeconds > 0) return sendProblem("rate_limited", undefined, { retryAfterSeconds });
    await next();
    return undefined;
  };
}
