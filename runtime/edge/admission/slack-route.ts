import { StewardError } from "../../contract/errors.ts";
import type { Clock } from "../ports.ts";
import { parseJsonObject, readJsonText } from "./body.ts";
import { slackDelivery, urlVerification, verifySlack } from "./slack.ts";
import type { WebhookOptions } from "./webhook.ts";

/** Characters of an unsigned body that are parsed: a challenge has fewer. */
const LONGEST_UNSIGNED = 8_192;

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
    const text = await readJsonText(request);
    // A short body that is not JSON gets 400 even if it is unsigned, which helps whoever tries the route by hand.
    const short = text.length > LONGEST_UNSIGNED ? undefined : parseJsonObject(text);
    const verification = urlVerification.safeParse(short);
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
    const delivery = slackDelivery(short ?? parseJsonObject(text), clock());
    // Verified, but of a kind that has no event id and wants no answer, such as app_rate_limited.
    if (delivery === undefined) return { kind: "answer", response: new Response(null, { status: 200 }) };
    return { kind: "event", delivery };
  };
}
