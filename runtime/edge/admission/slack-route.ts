import type { Handler } from "hono";
import { StewardError } from "../../contract/errors.ts";
import type { Clock, Ledger, Sandbox } from "../ports.ts";
import { sendError, sendProblem } from "../problems.ts";
import { readJsonBody } from "./body.ts";
import { slackDelivery, urlVerification, verifySlack } from "./slack.ts";

/** Seconds after which Slack may ask again; it repeats an unanswered event by its own schedule anyway. */
const RETRY_AFTER_SECONDS = 10;

/** What {@link slackEvents} works with. */
export interface SlackEventsOptions {
  signingSecret: string | undefined;
  ledger: Ledger;
  sandbox: Sandbox;
  clock: Clock;
}

/**
 * Takes in Slack's events. In this order: the challenge is echoed, signed or not (the specification's
 * test POST is unsigned); the signature is checked; the event is on disk before it is answered.
 *
 * While the gateway is down every refusal is a 503, so that a test POST never sees a 401.
 */
export function slackEvents({ signingSecret, ledger, sandbox, clock }: SlackEventsOptions): Handler {
  const verified = async (request: Request) => {
    const { text, value } = await readJsonBody(request);
    const challenge = urlVerification.safeParse(value);
    if (challenge.success) return challenge.data;
    if (signingSecret === undefined) {
      throw new StewardError("channel_not_configured", "SLACK_SIGNING_SECRET is not set.");
    }
    const signed = {
      body: text,
      timestamp: request.headers.get("x-slack-request-timestamp"),
      signature: request.headers.get("x-slack-signature"),
    };
    if (!(await verifySlack(signingSecret, signed, clock()))) throw new StewardError("signature_invalid");
    return { type: "verified" as const, value };
  };

  return async function handleSlackEvents(context) {
    try {
      const body = await verified(context.req.raw);
      if (body.type === "url_verification") return context.json({ challenge: body.challenge });
      const delivery = slackDelivery(body.value, clock());
      // Verified, but of a kind that has no event id and wants no answer, such as app_rate_limited.
      if (delivery === undefined) return context.body(null, 200);
      const { ready } = await ledger.admit(delivery);
      if (ready) return context.body(null, 200);
      return sendProblem("gateway_unavailable", "The event is recorded and will be answered.", {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    } catch (error) {
      if (!(error instanceof StewardError) || error.code === "body_too_large") throw error;
      const { state } = await sandbox.status();
      if (state === "ready") return sendError(error);
      return sendProblem("gateway_unavailable", `Nothing is stored: ${error.message}`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  };
}
