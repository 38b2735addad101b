import type { Handler } from "hono";
import type { Delivery } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Ledger, Sandbox } from "../ports.ts";
import { clientOf } from "../limits.ts";
import { sendError, sendProblem } from "../problems.ts";
import type { RateLimit } from "../rate-limit.ts";

/** Seconds after which a platform may ask again; it repeats an unanswered event by its own schedule anyway. */
const RETRY_AFTER_SECONDS = 10;

/** What a platform's request comes to once it is known to be genuine. */
export type WebhookRequest =
  /** An event, which is on disk before it is answered. */
  | { kind: "event"; delivery: Delivery }
  /** Answered at once; nothing is stored and nothing woken (a challenge, a ping, a kind that has no id). */
  | { kind: "answer"; response: Response };

/** What {@link webhook} works with. */
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
}

/**
 * Takes in a platform's events: nothing unverified is stored or wakes anything, and an event is on disk
 * before it is answered. While the gateway is down every refusal is a 503, so that a test POST never
 * sees a 401. Only what is refused is counted: a flood of it is soon answered without asking for the
 * gateway's state, which on Cloudflare is a request of its own, and verified events pass meanwhile.
 */
export function webhook({
  read,
  recorded = answerRecorded,
  refusals,
  ledger,
  sandbox,
}: WebhookOptions): Handler {
  return async function handleWebhook(context) {
    const limited = (): Response | undefined => {
      const retryAfterSeconds = refusals.take(clientOf(context));
      return retryAfterSeconds > 0
        ? sendProblem("rate_limited", undefined, { retryAfterSeconds })
        : undefined;
    };
    let verified = false;
    try {
      const request = await read(context.req.raw);
      if (request.kind === "answer") {
        return request.response.ok ? request.response : (limited() ?? request.response);
      }
      verified = true;
      const { ready } = await ledger.admit(request.delivery);
      return recorded(ready, request.delivery);
    } catch (error) {
      if (!(error instanceof StewardError)) throw error;
      const refusal = verified ? undefined : limited();
      if (refusal !== undefined) return refusal;
      if (error.code === "body_too_large") throw error;
      const { state } = await sandbox.status();
      if (state === "ready") return sendError(error);
      return sendProblem("gateway_unavailable", `Nothing is stored: ${error.message}`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  };
}

/** 200, or a 503 that a platform may repeat: the event is answered either way. */
function answerRecorded(ready: boolean): Response {
  if (ready) return new Response(null, { status: 200 });
  return sendProblem("gateway_unavailable", "The event is recorded and will be answered.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
