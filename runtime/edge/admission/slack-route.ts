import { StewardError } from "../../contract/errors.ts";
import type { Clock } from "../ports.ts";
import { readJsonBody } from "./body.ts";
import { slackDelivery, urlVerification, verifySlack } from "./slack.ts";
import type { WebhookOptions } from "./webhook.ts";

/** What {@link slackEvents} works with. */
export interface SlackEventsOptions {
  signingSecret: string | undefined;
  clock: Clock;
}

/**
 * Reads Slack's events. The challenge comes first and is echoed, signed or not (the specification's
 * test POST is unsigned); then the signature is checked.
 */
export function slackEvents({ signingSecret, clock }: SlackEventsOptions): WebhookOptions["read"] {
  return async function readSlackRequest(request) {
    const { text, value } = await readJsonBody(request);
    const verification = urlVerification.safeParse(value);
    if (verification.success) {
      return { kind: "answer", response: Response.json({ challenge: verification.data.challenge }) };
    }
    if (signingSecret === undefined) {
      throw new StewardError("channel_not_configured", "SLACK_SIGNING_SECRET is not set.");
    }
    const signed = {
      body: text,
      timestamp: request.headers.get("x-slack-request-timestamp"),
      signature: request.headers.get("x-slack-signature"),
    };
    if (!(await verifySlack(signingSecret, signed, clock()))) throw new StewardError("signature_invalid");
    const delivery = slackDelivery(value, clock());
    // Verified, but of a kind that has no event id and wants no answer, such as app_rate_limited.
    if (delivery === undefined) return { kind: "answer", response: new Response(null, { status: 200 }) };
    return { kind: "event", delivery };
  };
}
