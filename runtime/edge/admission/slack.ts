import * as z from "zod/mini";
import type { Delivery } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { maybe } from "../../shared/maybe.ts";
import { once } from "../../shared/once.ts";
import type { Clock } from "../ports.ts";
import { parseJsonObject, readJsonText, readBodyText } from "./body.ts";
import { answerRecorded, type WebhookOptions } from "./webhook.ts";

/** Slack's recommended replay limit: https://docs.slack.dev/authentication/verifying-requests-from-slack */
const SKEW_SECONDS = 300;
const HEX_SIGNATURE = /^v0=([0-9a-f]{64})$/;
const encoder = new TextEncoder();

/** Slack's check that the endpoint is ours: https://docs.slack.dev/reference/events/url_verification */
const urlVerification = once(() =>
  z.object({
    type: z.literal("url_verification"),
    challenge: z.string().check(z.maxLength(4_096)),
  }),
);

const place = once(() =>
  z.looseObject({
    ts: z.optional(z.string().check(z.maxLength(64))),
    thread_ts: z.optional(z.string().check(z.maxLength(64))),
  }),
);

/** Event envelope: https://docs.slack.dev/apis/events-api/#event-type-structure */
const eventCallback = once(() =>
  z.looseObject({
    type: z.literal("event_callback"),
    event_id: z.string().check(z.minLength(1), z.maxLength(200)),
    team_id: z.optional(z.string().check(z.maxLength(64))),
    authorizations: maybe(z.array(z.looseObject({ user_id: z.string() }))),
    event: z.looseObject({
      type: z.string(),
      subtype: z.optional(z.string()),
      channel: z.optional(z.string().check(z.maxLength(64))),
      ...place().shape,
      channel_type: z.optional(z.string().check(z.maxLength(32))),
      /** For an edit: the current message. */
      message: maybe(place()),
      /** The previous message; present for an edit or a deletion. */
      previous_message: maybe(place()),
    }),
  }),
);

/** A button press: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
const blockActions = once(() => {
  const short = z.string().check(z.minLength(1), z.maxLength(64));
  return z.looseObject({
    type: z.literal("block_actions"),
    team: z.optional(z.nullable(z.looseObject({ id: short }))),
    channel: z.looseObject({ id: short }),
    actions: z.array(z.looseObject({ action_ts: short, value: z.string().check(z.maxLength(64)) })),
  });
});

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

// Cache the imported key: importing costs more than using it.
let cached: { secret: string; key: Promise<SigningKey> } | undefined;

/**
 * Maximum length, in characters, of a body that is parsed before its signature is checked. Slack's URL challenge is
 * shorter.
 */
const LONGEST_UNSIGNED = 8_192;

interface SlackEventsOptions {
  signingSecret: string | undefined;
  clock: Clock;
}

/**
 * Returns a function that reads and verifies Slack's requests. For manual tests, it answers even an unsigned URL
 * challenge.
 */
export function slackEvents({ signingSecret, clock }: SlackEventsOptions): WebhookOptions["read"] {
  return async function readSlackRequest(request) {
    const isPress = FORM_TYPE.test(request.headers.get("content-type") ?? "");
    const text = await (isPress ? readBodyText(request) : readJsonText(request));
    if (isPress) {
      await verify(request, text);
      return eventOrNothing(pressDelivery(text, clock()));
    }
    // Parse a short body before checking its signature, because a URL challenge needs no signature. A malformed short
    // body therefore gets status 400 even if unsigned.
    const short = text.length > LONGEST_UNSIGNED ? undefined : parseJsonObject(text);
    const verification = urlVerification().safeParse(short);
    if (verification.success) {
      return { kind: "answer", response: Response.json({ challenge: verification.data.challenge }) };
    }
    await verify(request, text);
    // Events without an id, such as app_rate_limited, need no answer.
    return eventOrNothing(slackDelivery(short ?? parseJsonObject(text), clock()));
  };

  /**
   * Verifies that Slack has signed the request.
   *
   * @throws StewardError `channel_not_configured`, `signature_invalid`
   */
  async function verify(request: Request, body: string): Promise<void> {
    if (signingSecret === undefined)
      throw new StewardError("channel_not_configured", "SLACK_SIGNING_SECRET is not set.");
    const signed = {
      body,
      timestamp: request.headers.get("x-slack-request-timestamp"),
      signature: request.headers.get("x-slack-signature"),
    };
    if (!(await verifySlack(signingSecret, signed, clock()))) throw new StewardError("signature_invalid");
  }
}

function eventOrNothing(delivery: Delivery | undefined): Awaited<ReturnType<WebhookOptions["read"]>> {
  if (delivery !== undefined) return { kind: "event", delivery };
  return { kind: "answer", response: new Response(null, { status: 200 }) };
}

/** Acknowledges a button press immediately: Slack waits three seconds and does not retry. */
export function recordedBySlack(ready: boolean, { payload }: Delivery): Response {
  return payload["type"] === "block_actions" ? new Response(null, { status: 200 }) : answerRecorded(ready);
}

/**
 * Returns a button press as a delivery. Presses form a separate conversation, so they do not wait for the answer in
 * progress.
 */
function pressDelivery(form: string, receivedAt: number): Delivery | undefined {
  const body = parseJsonObject(new URLSearchParams(form).get("payload") ?? "");
  const { data } = blockActions().safeParse(body);
  const [action] = data?.actions ?? [];
  if (data === undefined || action === undefined) return undefined;
  const conversation = `${data.team?.id ?? ""}:${data.channel.id}:press`;
  return {
    id: `${action.action_ts}:${action.value}`,
    platform: "slack",
    conversation,
    receivedAt,
    payload: data,
  };
}

/** Type of a signing key. Its global name differs between Node and Workers. */
type SigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

interface SignedRequest {
  body: string;
  timestamp: string | null;
  signature: string | null;
}

/** Verifies Slack's v0 signature: HMAC-SHA256 over `v0:<timestamp>:<body>`. `now` is in milliseconds. */
async function verifySlack(secret: string, request: SignedRequest, now: number): Promise<boolean> {
  const { body, timestamp, signature } = request;
  const hex = HEX_SIGNATURE.exec(signature ?? "")?.[1];
  if (hex === undefined || timestamp === null || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now / 1_000 - Number(timestamp)) > SKEW_SECONDS) return false;
  const key = await signingKey(secret);
  return crypto.subtle.verify("HMAC", key, fromHex(hex), encoder.encode(`v0:${timestamp}:${body}`));
}

/**
 * Converts a verified body to a delivery; returns `undefined` if no answer is needed. Each thread in a channel, and
 * each direct-message channel, is one conversation.
 */
function slackDelivery(body: unknown, receivedAt: number): Delivery | undefined {
  const parsed = eventCallback().safeParse(body);
  if (!parsed.success) return undefined;
  const { event_id: id, team_id: team = "", event } = parsed.data;
  if (isUnanswerable(parsed.data)) return undefined;
  const { channel = "none", message, previous_message: former } = event;
  const changed = message ?? former;
  const { ts = "", thread_ts: thread } = changed ?? event;
  // Slack sometimes omits the channel type of an edit or deletion. Direct-message channels' ids begin with D.
  const isDirect = event.channel_type === "im" || (changed !== undefined && channel.startsWith("D"));
  const conversation = [team, channel, isDirect ? "" : (thread ?? ts)]
    .filter((part) => part !== "")
    .join(":");
  return { id, platform: "slack", conversation, receivedAt, payload: parsed.data };
}

/**
 * Returns true for events that need no answer and would only fill the ledger. In a channel, these include edits that
 * mention the bot: Slack also sends an `app_mention` for them.
 */
function isUnanswerable({ event, authorizations = [] }: z.infer<ReturnType<typeof eventCallback>>): boolean {
  const { type, subtype = "", channel = "", message, previous_message: former } = event;
  if (type.startsWith("reaction_") || subtype === "message_replied") return true;
  if (!/^message_(?:changed|deleted)$/.test(subtype)) return false;
  if ((message ?? former)?.["bot_id"] || former?.["bot_id"]) return true;
  const text = String(message?.["text"] ?? "");
  return !channel.startsWith("D") && authorizations.some(({ user_id: bot }) => text.includes(`<@${bot}`));
}

function signingKey(secret: string): Promise<SigningKey> {
  if (cached?.secret !== secret) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    cached = {
      secret,
      key: crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["verify"]),
    };
  }
  return cached.key;
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
