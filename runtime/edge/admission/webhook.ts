import { clientOf } from "../access.ts";
import type { Handler } from "hono";
import type { Delivery } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Clock, Ledger, Sandbox } from "../ports.ts";
import type { RateLimit } from "../rate-limit.ts";
import { sendError, sendProblem } from "../problems.ts";

/** Retry-After of refusals, in seconds. Most platforms ignore it. */
const RETRY_AFTER_SECONDS = 10;
const STATE_FOR_FLOODS_MS = 5_000;

type WebhookRequest =
  | { kind: "event"; delivery: Delivery }
  /** An immediate response. Nothing is stored or started. */
  | { kind: "answer"; response: Response };

export interface WebhookOptions {
  /**
   * Verifies and parses a request.
   *
   * @throws StewardError if the platform did not send it, or if the body is malformed.
   */
  read(request: Request): Promise<WebhookRequest>;
  /** Creates the response for a stored event. Default: {@link answerRecorded}. */
  recorded?(ready: boolean, delivery: Delivery): Response;
  refusals: RateLimit;
  ledger: Ledger;
  sandbox: Sandbox;
  clock: Clock;
}

/**
 * Creates a handler that verifies a platform's event, stores it, starts its delivery, and responds. While the gateway
 * is down, an invalid request gets 503, never 401 or 403.
 */
export function webhook({
  read,
  recorded = answerRecorded,
  refusals,
  ledger,
  sandbox,
  clock,
}: WebhookOptions): Handler {
  let known = { at: Number.NEGATIVE_INFINITY, ready: false };
  const isReady = async (atMostOldMs: number): Promise<boolean> => {
    if (clock() - known.at > atMostOldMs) {
      known = { at: clock(), ready: (await sandbox.status()).state === "ready" };
    }
    return known.ready;
  };
  return async function handleWebhook(context) {
    let verified = false;
    try {
      const request = await read(context.req.raw);
      if (request.kind === "answer") {
        const wait = request.response.ok ? 0 : refusals.take(clientOf(context));
        return wait > 0 ? await refuse(new StewardError("rate_limited"), wait) : request.response;
      }
      verified = true;
      const { ready } = await ledger.admit(request.delivery);
      return recorded(ready, request.delivery);
    } catch (error) {
      if (!(error instanceof StewardError)) throw error;
      const wait = verified ? 0 : refusals.take(clientOf(context));
      return refuse(wait > 0 ? new StewardError("rate_limited") : error, wait);
    }
  };

  /**
   * Refuses a request. `wait` is the number of seconds until the client may retry; 0 if the client has not exceeded
   * its rate limit.
   */
  async function refuse(error: StewardError, wait: number): Promise<Response> {
    // During a flood, use the cached state: each lookup costs a request on Cloudflare.
    if (!(await isReady(wait > 0 ? STATE_FOR_FLOODS_MS : 0))) {
      // Send no 401 or 403: a client could mistake it for a refusal by the identity gateway.
      return sendProblem("gateway_unavailable", `Nothing is stored: ${error.message}`, {
        retryAfterSeconds: Math.max(wait, RETRY_AFTER_SECONDS),
      });
    }
    return wait > 0 ? sendProblem("rate_limited", undefined, { retryAfterSeconds: wait }) : sendError(error);
  }
}

/**
 * Responds 200, or 503 while the gateway is down. If the platform then resends the event, the ledger deduplicates it.
 */
export function answerRecorded(ready: boolean): Response {
  if (ready) return new Response(null, { status: 200 });
  return sendProblem("gateway_unavailable", "The event is recorded and will be answered.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
