import type { Context, MiddlewareHandler } from "hono";
import { networkOf } from "../contract/client.ts";
import { sendProblem } from "./problems.ts";
import type { RateLimit } from "./rate-limit.ts";

/** What each caller may do in a minute. `/healthz` and `/readyz` have no limit: what watches must see. */
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

/** Refuses a caller's requests beyond its limit with 429. */
export function limitRequests(limit: RateLimit, callerOf: (context: Context) => string): MiddlewareHandler {
  return async function rateLimitMiddleware(context, next) {
    const retryAfterSeconds = limit.take(callerOf(context));
    if (retryAfterSeconds > 0) return sendProblem("rate_limited", undefined, { retryAfterSeconds });
    await next();
    return undefined;
  };
}

/** Whom a request is counted for where it has no identity: its client, or one for all whose address is not known. */
export function clientOf(context: Context): string {
  // Without bindings, as in a test, Hono hands on no environment at all.
  const address: unknown = context.env?.clientAddress;
  return typeof address === "string" && address !== "" ? networkOf(address) : "unknown";
}
