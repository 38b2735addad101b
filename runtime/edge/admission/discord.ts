import * as z from "zod/mini";
import type { Delivery } from "../../contract/delivery.ts";
import { isDiscordCommand, isPrivateAnswer } from "../../contract/discord-commands.ts";
import { StewardError } from "../../contract/errors.ts";
import { once } from "../../shared/once.ts";
import type { Clock } from "../ports.ts";
import { sendProblem } from "../problems.ts";
import { parseJsonObject, readJsonText } from "./body.ts";
import type { WebhookOptions } from "./webhook.ts";

/** Discord signs a time and sets no limit to it; a request that is older is a replay. */
const SKEW_SECONDS = 300;
const HEX_SIGNATURE = /^[0-9a-f]{128}$/i;
const encoder = new TextEncoder();

/** Kinds of interactions: https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-interaction-type */
const PING = 1;
const APPLICATION_COMMAND = 2;
const AUTOCOMPLETE = 4;

const snowflake = z.string().check(z.regex(/^\d{1,20}$/));

/** Members of every interaction, PING included. */
const interaction = once(() => z.looseObject({ id: snowflake, type: z.int() }));

/** A command. Without `guild_id` it comes from a direct message. */
const commandInteraction = once(() =>
  z.looseObject({
    id: snowflake,
    application_id: snowflake,
    type: z.literal(APPLICATION_COMMAND),
    token: z.string().check(z.minLength(1), z.maxLength(1_024)),
    channel_id: snowflake,
    guild_id: z.optional(snowflake),
    data: z.looseObject({ name: z.string(), type: z.int() }),
  }),
);

// Importing a key costs more than using it, and a deployment has one.
let cached: { publicKey: string; key: Promise<VerifyKey> } | undefined;

/** Callback types: https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type */
const PONG = 1;
const MESSAGE = 4;
const DEFERRED_MESSAGE = 5;
const AUTOCOMPLETE_RESULT = 8;
/** Only the person who asked sees the message. */
const EPHEMERAL = 64;

/** Dependencies of {@link discordInteractions}. */
interface DiscordInteractionsOptions {
  /** 64 hexadecimal digits. */
  publicKey: string | undefined;
  clock: Clock;
}

/**
 * Reads Discord's interactions. A command is on disk before its deferred answer goes out, also while the
 * gateway is down: Discord waits three seconds, never asks again, and takes the reply for 15 minutes.
 *
 * A wrong signature is answered with 401 in every state: Discord sends one on purpose when the endpoint
 * is set and from time to time after that, and removes an endpoint that answers otherwise.
 * https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint
 */
export function discordInteractions({
  publicKey,
  clock,
}: DiscordInteractionsOptions): Pick<WebhookOptions, "read" | "recorded"> {
  return {
    async read(request) {
      const text = await readJsonText(request);
      if (publicKey === undefined) {
        throw new StewardError("channel_not_configured", "DISCORD_PUBLIC_KEY is not set.");
      }
      const signed = {
        body: text,
        timestamp: request.headers.get("x-signature-timestamp"),
        signature: request.headers.get("x-signature-ed25519"),
      };
      if (!(await verifyDiscord(publicKey, signed, clock()))) {
        return { kind: "answer", response: sendProblem("signature_invalid", undefined, { status: 401 }) };
      }
      const value = parseJsonObject(text);
      const kind = interaction().safeParse(value);
      if (!kind.success) throw new StewardError("body_invalid", "The body is not an interaction.");
      if (kind.data.type === PING) return { kind: "answer", response: Response.json({ type: PONG }) };
      const command = commandInteraction().safeParse(value);
      if (!command.success || !isDiscordCommand(command.data.data.name)) {
        return { kind: "answer", response: unsupported(kind.data.type) };
      }
      return { kind: "event", delivery: discordDelivery(command.data, clock()) };
    },
    recorded(_ready, { payload }) {
      const command = commandInteraction().parse(payload);
      const hidden = isPrivateAnswer(command.data.name, command.guild_id !== undefined);
      return Response.json({ type: DEFERRED_MESSAGE, ...(hidden && { data: { flags: EPHEMERAL } }) });
    },
  };
}

/** Answers what is not a command that is offered: buttons, forms, menus, and commands of an earlier registration. */
function unsupported(type: number): Response {
  if (type === AUTOCOMPLETE) return Response.json({ type: AUTOCOMPLETE_RESULT, data: { choices: [] } });
  const content = "I do not support this. Use /ask, or /help for what I understand.";
  return Response.json({ type: MESSAGE, data: { content, flags: EPHEMERAL } });
}

/** Web Crypto's key, whose global name differs between the two runtimes' types. */
type VerifyKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A raw request as it must be to check its signature. */
interface SignedInteraction {
  body: string;
  timestamp: string | null;
  signature: string | null;
}

/**
 * Checks Discord's signature: Ed25519 over the timestamp and the body. `publicKey` is 64 hexadecimal
 * digits, `now` in milliseconds.
 * https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint-validating-security-request-headers
 */
async function verifyDiscord(publicKey: string, request: SignedInteraction, now: number): Promise<boolean> {
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
function discordDelivery(
  payload: z.infer<ReturnType<typeof commandInteraction>>,
  receivedAt: number,
): Delivery {
  const conversation = `discord:${payload.channel_id}`;
  return { id: payload.id, platform: "discord", conversation, receivedAt, payload };
}

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
