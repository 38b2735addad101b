import { clientOf } from "../access.ts";
import type { Handler } from "hono";
import type { Delivery } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Clock, Ledger, Sandbox } from "../ports.ts";
import type { RateLimit } from "../rate-limit.ts";
import { sendError, sendProblem } from "../problems.ts";

/** Seconds after which a platform may ask again; it repeats an unanswered event by its own schedule anyway. */
const RETRY_AFTER_SECONDS = 10;
const STATE_FOR_FLOODS_MS = 5_000;

/** Outcome of a platform's request once it is known to be genuine. */
type WebhookRequest =
  /** An event, which is on disk before it is answered. */
  | { kind: "event"; delivery: Delivery }
  /** Answered at once; nothing is stored and nothing woken (a challenge, a ping, a kind that has no id). */
  | { kind: "answer"; response: Response };

/** Dependencies of {@link webhook}. */
export interface WebhookOptions {
  /**
   * Reads a request and checks that the platform sent it.
   *
   * @throws StewardError where it did not, or where the body is not of the platform's form.
   */
  read(request: Request): Promise<WebhookRequest>;
  /** The answer to an event that is on disk, where a platform wants one of its own. `ready`: the gateway is. */
  recorded?(ready: boolean, delivery: Delivery): Response;
  /** Counts what is refused, for each client. */
  refusals: RateLimit;
  ledger: Ledger;
  sandbox: Sandbox;
  clock: Clock;
}

/**
 * Takes in a platform's events: nothing unverified is stored or wakes anything, and an event is on disk
 * before it is answered. While the gateway is down every refusal is a 503, so that a test POST never
 * sees a 401. Only what is refused is counted, and verified events pass meanwhile. A flood of refused requests is soon
 * answered by the state of a moment ago: on Cloudflare, asking for it is a request of its own.
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

  /** `wait`: seconds that a client over its limit waits, else 0. */
  async function refuse(error: StewardError, wait: number): Promise<Response> {
    if (!(await isReady(wait > 0 ? STATE_FOR_FLOODS_MS : 0))) {
      return sendProblem("gateway_unavailable", `Nothing is stored: ${error.message}`, {
        retryAfterSeconds: Math.max(wait, RETRY_AFTER_SECONDS),
      });
    }
    return wait > 0 ? sendProblem("rate_limited", undefined, { retryAfterSeconds: wait }) : sendError(error);
  }
}

/** Answers 200, or a 503 that a platform may repeat: the event is answered either way. */
export function answerRecorded(ready: boolean): Response {
  if (ready) return new Response(null, { status: 200 });
  return sendProblem("gateway_unavailable", "The event is recorded and will be answered.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
