import * as z from "zod/mini";
import type { Delivery } from "../../contract/delivery.ts";
import { isDiscordCommand, isPrivateAnswer } from "../../contract/discord-commands.ts";
import { StewardError } from "../../contract/errors.ts";
import { once } from "../../shared/once.ts";
import type { Clock } from "../ports.ts";
import { sendProblem } from "../problems.ts";
import { parseJsonObject, readJsonText } from "./body.ts";
import type { WebhookOptions } from "./webhook.ts";

/** Maximum age of a request, in seconds. Discord documents no limit. */
const SKEW_SECONDS = 300;
const HEX_SIGNATURE = /^[0-9a-f]{128}$/i;
const encoder = new TextEncoder();

/**
 * Interaction types:
 * https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-interaction-type
 */
const PING = 1;
const APPLICATION_COMMAND = 2;
const MESSAGE_COMPONENT = 3;
const AUTOCOMPLETE = 4;

const snowflake = z.string().check(z.regex(/^\d{1,20}$/));

const interaction = once(() => z.looseObject({ id: snowflake, type: z.int() }));

/** Fields of commands and button presses. `guild_id` is absent in direct messages. */
const ASKED = {
  id: snowflake,
  application_id: snowflake,
  token: z.string().check(z.minLength(1), z.maxLength(1_024)),
  channel_id: snowflake,
  guild_id: z.optional(snowflake),
};

const commandInteraction = once(() =>
  z.looseObject({
    ...ASKED,
    type: z.literal(APPLICATION_COMMAND),
    data: z.looseObject({ name: z.string(), type: z.int() }),
  }),
);

/** https://docs.discord.com/developers/components/reference#component-object-component-types */
const BUTTON = 2;

/** A button press: https://docs.discord.com/developers/components/reference#button */
const pressInteraction = once(() =>
  z.looseObject({
    ...ASKED,
    type: z.literal(MESSAGE_COMPONENT),
    data: z.looseObject({
      component_type: z.literal(BUTTON),
      custom_id: z.string().check(z.minLength(1), z.maxLength(100)),
    }),
  }),
);

// Cache the imported key, because importing costs more than using it.
let cached: { publicKey: string; key: Promise<VerifyKey> } | undefined;

/** Callback types: https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type */
const PONG = 1;
const MESSAGE = 4;
const DEFERRED_MESSAGE = 5;
const DEFERRED_UPDATE = 6;
const AUTOCOMPLETE_RESULT = 8;
/** Flag: only the person who sent the command sees the message. */
const EPHEMERAL = 64;

interface DiscordInteractionsOptions {
  /** 64 hexadecimal digits. */
  publicKey: string | undefined;
  clock: Clock;
}

/**
 * Handles Discord's interactions. Stores a command before it sends the deferred response: Discord waits three
 * seconds, never retries, and accepts the reply for 15 minutes. A wrong signature always gets 401, because Discord
 * removes endpoints that answer otherwise.
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
      const taken = readInteraction(parseJsonObject(text), clock());
      if (taken === undefined) throw new StewardError("body_invalid", "The body is not an interaction.");
      const { delivery, response } = taken;
      return delivery === undefined
        ? { kind: "answer", response: Response.json(response) }
        : { kind: "event", delivery };
    },
    recorded: (_ready, { payload, receivedAt }) =>
      Response.json(readInteraction(payload, receivedAt)?.response ?? {}),
  };
}

/** Result of reading an interaction. Store `delivery`, if present, before sending `response`. */
interface InteractionRead {
  response: object;
  delivery?: Delivery;
}

/**
 * Converts a Discord interaction; returns `undefined` for anything else. Button presses get a separate conversation,
 * so that a press can stop a running answer.
 */
export function readInteraction(value: unknown, receivedAt: number): InteractionRead | undefined {
  const kind = interaction().safeParse(value);
  if (!kind.success) return undefined;
  if (kind.data.type === PING) return { response: { type: PONG } };
  const press = pressInteraction().safeParse(value);
  const command = commandInteraction().safeParse(value);
  const event = press.data ?? command.data;
  const isOffered = press.success || (command.success && isDiscordCommand(command.data.data.name));
  if (event === undefined || !isOffered) return { response: unsupported(kind.data.type) };
  const conversation = `discord:${event.channel_id}${press.success ? ":press" : ""}`;
  const delivery: Delivery = { id: event.id, platform: "discord", conversation, receivedAt, payload: event };
  if (!command.success) return { delivery, response: { type: DEFERRED_UPDATE } };
  const isHidden = isPrivateAnswer(command.data.data.name, event.guild_id !== undefined);
  return { delivery, response: { type: DEFERRED_MESSAGE, ...(isHidden && { data: { flags: EPHEMERAL } }) } };
}

/** Returns the response to an unsupported interaction, such as a form or an obsolete command. */
function unsupported(type: number): object {
  if (type === AUTOCOMPLETE) return { type: AUTOCOMPLETE_RESULT, data: { choices: [] } };
  const content = "I do not support this. Use /ask, or /help for what I understand.";
  return { type: MESSAGE, data: { content, flags: EPHEMERAL } };
}

/** Type of a verification key, derived because its global name differs between Node and Workers. */
type VerifyKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

interface SignedInteraction {
  body: string;
  timestamp: string | null;
  signature: string | null;
}

/**
 * Verifies Discord's Ed25519 signature over timestamp and body. `publicKey` is hexadecimal, `now` is in
 * milliseconds.
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
