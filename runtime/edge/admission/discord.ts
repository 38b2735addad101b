import * as z from "zod/mini";
import type { Delivery } from "../../contract/delivery.ts";

/** Discord signs a time and sets no limit to it; a request that is older is a replay. */
const SKEW_SECONDS = 300;
const HEX_SIGNATURE = /^[0-9a-f]{128}$/i;
const encoder = new TextEncoder();

/** Web Crypto's key, whose global name differs between the two runtimes' types. */
type VerifyKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Kinds of interactions: https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-interaction-type */
export const PING = 1;
export const APPLICATION_COMMAND = 2;
export const AUTOCOMPLETE = 4;

const snowflake = z.string().check(z.regex(/^\d{1,20}$/));

/** What every interaction has, PING included. */
export const interaction = z.looseObject({ id: snowflake, type: z.int() });

/** A command. Without `guild_id` it comes from a direct message. */
export const commandInteraction = z.looseObject({
  id: snowflake,
  application_id: snowflake,
  type: z.literal(APPLICATION_COMMAND),
  token: z.string().check(z.minLength(1), z.maxLength(1_024)),
  channel_id: snowflake,
  guild_id: z.optional(snowflake),
  data: z.looseObject({ name: z.string(), type: z.int() }),
});

/** A raw request as it must be to check its signature. */
export interface SignedInteraction {
  body: string;
  timestamp: string | null;
  signature: string | null;
}

/**
 * Checks Discord's signature: Ed25519 over the timestamp and the body. `publicKey` is 64 hexadecimal
 * digits, `now` in milliseconds.
 * https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint-validating-security-request-headers
 */
export async function verifyDiscord(
  publicKey: string,
  request: SignedInteraction,
  now: number,
): Promise<boolean> {
  const { body, timestamp, signature } = request;
  if (signature === null || !HEX_SIGNATURE.test(signature)) return false;
  if (timestamp === null || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now / 1_000 - Number(timestamp)) > SKEW_SECONDS) return false;
  const key = await verifyKey(publicKey);
  return crypto.subtle.verify("Ed25519", key, fromHex(signature), encoder.encode(timestamp + body));
}

/**
 * The delivery of a verified command. Its id is the interaction's, which is repeated with nothing else;
 * its conversation is the channel, be it a server's or a direct message's.
 */
export function discordDelivery(payload: z.infer<typeof commandInteraction>, receivedAt: number): Delivery {
  const conversation = `discord:${payload.channel_id}`;
  return { id: payload.id, platform: "discord", conversation, receivedAt, payload };
}

// Importing a key costs more than using it, and a deployment has one.
let cached: { publicKey: string; key: Promise<VerifyKey> } | undefined;

function verifyKey(publicKey: string): Promise<VerifyKey> {
  if (cached?.publicKey !== publicKey) {
    const key = crypto.subtle.importKey("raw", fromHex(publicKey), { name: "Ed25519" }, false, ["verify"]);
    cached = { publicKey, key };
  }
  return cached.key;
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
