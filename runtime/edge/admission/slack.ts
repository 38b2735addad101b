import * as z from "zod/mini";
import type { Delivery } from "../../contract/delivery.ts";
import { StewardError } from "../../contract/errors.ts";
import { once } from "../../shared/once.ts";
import type { Clock } from "../ports.ts";
import { parseJsonObject, readJsonText } from "./body.ts";
import type { WebhookOptions } from "./webhook.ts";

/** Slack's own limit against replays, https://docs.slack.dev/authentication/verifying-requests-from-slack */
const SKEW_SECONDS = 300;
const HEX_SIGNATURE = /^v0=([0-9a-f]{64})$/;
const encoder = new TextEncoder();

/** The request that Slack sends to prove who owns the address: https://docs.slack.dev/reference/events/url_verification */
const urlVerification = once(() =>
  z.object({
    type: z.literal("url_verification"),
    challenge: z.string().check(z.maxLength(4_096)),
  }),
);

/** The envelope of an event: https://docs.slack.dev/apis/events-api/#event-type-structure */
const eventCallback = once(() =>
  z.looseObject({
    type: z.literal("event_callback"),
    event_id: z.string().check(z.minLength(1), z.maxLength(200)),
    team_id: z.optional(z.string().check(z.maxLength(64))),
    event: z.looseObject({
      type: z.string(),
      channel: z.optional(z.string().check(z.maxLength(64))),
      ts: z.optional(z.string().check(z.maxLength(64))),
      thread_ts: z.optional(z.string().check(z.maxLength(64))),
      channel_type: z.optional(z.string().check(z.maxLength(32))),
    }),
  }),
);

// Importing a key costs more than using it, and a deployment has one secret.
let cached: { secret: string; key: Promise<SigningKey> } | undefined;

/** Characters of an unsigned body that are parsed: a challenge has fewer. */
const LONGEST_UNSIGNED = 8_192;

/** Dependencies of {@link slackEvents}. */
interface SlackEventsOptions {
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
    // A short body that is not JSON gets 400 even if it is unsigned, which helps people who try the route by hand.
    const short = text.length > LONGEST_UNSIGNED ? undefined : parseJsonObject(text);
    const verification = urlVerification().safeParse(short);
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

/** Web Crypto's key, whose global name differs between the two runtimes' types. */
type SigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A raw request as it must be to check its signature. */
interface SignedRequest {
  body: string;
  timestamp: string | null;
  signature: string | null;
}

/** Checks Slack's signature, version v0: HMAC-SHA256 over `v0:<timestamp>:<body>`. `now` in milliseconds. */
async function verifySlack(secret: string, request: SignedRequest, now: number): Promise<boolean> {
  const { body, timestamp, signature } = request;
  const hex = HEX_SIGNATURE.exec(signature ?? "")?.[1];
  if (hex === undefined || timestamp === null || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now / 1_000 - Number(timestamp)) > SKEW_SECONDS) return false;
  const key = await signingKey(secret);
  return crypto.subtle.verify("HMAC", key, fromHex(hex), encoder.encode(`v0:${timestamp}:${body}`));
}

/**
 * The delivery of a verified body, `undefined` where it is no event. A channel's thread is a
 * conversation of its own; a direct message's conversation is the channel.
 */
function slackDelivery(body: unknown, receivedAt: number): Delivery | undefined {
  const parsed = eventCallback().safeParse(body);
  if (!parsed.success) return undefined;
  const { event_id: id, team_id: team = "", event } = parsed.data;
  const thread = event.channel_type === "im" ? "" : (event.thread_ts ?? event.ts ?? "");
  const conversation = [team, event.channel ?? "none", thread].filter((part) => part !== "").join(":");
  return { id, platform: "slack", conversation, receivedAt, payload: parsed.data };
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
