import * as z from "zod/mini";
import type { Delivery } from "../../contract/delivery.ts";

/** Slack's own limit against replays, https://docs.slack.dev/authentication/verifying-requests-from-slack */
const SKEW_SECONDS = 300;
const HEX_SIGNATURE = /^v0=([0-9a-f]{64})$/;
const encoder = new TextEncoder();

/** Web Crypto's key, whose global name differs between the two runtimes' types. */
type SigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** The request that Slack sends to prove who owns the address: https://docs.slack.dev/reference/events/url_verification */
export const urlVerification = z.object({
  type: z.literal("url_verification"),
  challenge: z.string().check(z.maxLength(4_096)),
});

/** The envelope of an event: https://docs.slack.dev/apis/events-api/#event-type-structure */
const eventCallback = z.looseObject({
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
});

/** A raw request as it must be to check its signature. */
export interface SignedRequest {
  body: string;
  timestamp: string | null;
  signature: string | null;
}

/** Checks Slack's signature, version v0: HMAC-SHA256 over `v0:<timestamp>:<body>`. `now` in milliseconds. */
export async function verifySlack(secret: string, request: SignedRequest, now: number): Promise<boolean> {
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
export function slackDelivery(body: unknown, receivedAt: number): Delivery | undefined {
  const parsed = eventCallback.safeParse(body);
  if (!parsed.success) return undefined;
  const { event_id: id, team_id: team = "", event } = parsed.data;
  const thread = event.channel_type === "im" ? "" : (event.thread_ts ?? event.ts ?? "");
  const conversation = [team, event.channel ?? "none", thread].filter((part) => part !== "").join(":");
  return { id, platform: "slack", conversation, receivedAt, payload: parsed.data };
}

// Importing a key costs more than using it, and a deployment has one secret.
let cached: { secret: string; key: Promise<SigningKey> } | undefined;

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
