import * as z from "zod/mini";
import { catch as recovered } from "zod/mini";
import type { Delivery } from "../../contract/delivery.ts";
import type { ErrorCode } from "../../contract/errors.ts";

/** Opcodes: https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-opcodes */
export const OP = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  heartbeatAck: 11,
} as const;

/**
 * Intents: https://docs.discord.com/developers/events/gateway#list-of-intents. The words of direct messages and of
 * messages that mention the bot come without MESSAGE_CONTENT, which is privileged
 * (https://docs.discord.com/developers/events/gateway#message-content-intent).
 */
const GUILD_MESSAGES = 1 << 9;
const DIRECT_MESSAGES = 1 << 12;
const MESSAGE_CONTENT = 1 << 15;

/** Returns the intents to ask for. */
export function intentsFor(unmentioned: Unmentioned): number {
  const readsAll = Object.values(unmentioned).includes(true);
  return GUILD_MESSAGES | DIRECT_MESSAGES | (readsAll ? MESSAGE_CONTENT : 0);
}

/** https://docs.discord.com/developers/events/gateway-events#payload-structure */
const payloadSchema = z.object({
  op: z.int(),
  d: z.optional(z.unknown()),
  s: z.optional(z.nullable(z.int())),
  t: z.optional(z.nullable(z.string())),
});

/** A payload that Discord sent. */
export type Payload = z.infer<typeof payloadSchema>;

/** Returns a payload; `undefined` for anything else. */
export function readPayload(value: unknown): Payload | undefined {
  return payloadSchema.safeParse(value).data;
}

/** https://docs.discord.com/developers/events/gateway#hello-event */
export const helloSchema = z.object({ heartbeat_interval: z.number().check(z.gte(1_000), z.lte(600_000)) });

const snowflake = z.string().check(z.regex(/^\d{1,20}$/));

/** https://docs.discord.com/developers/events/gateway-events#ready */
export const readySchema = z.object({
  user: z.object({ id: snowflake }),
  session_id: z.string().check(z.minLength(1), z.maxLength(256)),
  resume_gateway_url: z.string().check(z.minLength(1), z.maxLength(256)),
});

/** A session, which a new connection can resume: https://docs.discord.com/developers/events/gateway#resuming */
export interface Session {
  id: string;
  url: string;
  /** The bot's user id. */
  user: string;
  /** Number of the last event that needs no replay. */
  sequence: number;
}

/** End of a connection, and what follows. */
export interface ConnectionEnd {
  /** `identify`: the session is over. `stop`: nothing but a change by the operator helps. */
  next: "resume" | "identify" | "stop";
  /** Discord asked for a new connection, or this process ends it: nothing has failed. */
  expected?: boolean;
  code: ErrorCode;
  detail: string;
  /** Milliseconds that Discord asks to wait. */
  afterMs?: number;
}

/** Codes after which a program must not connect again: https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes */
const FINAL: Readonly<Record<number, { code: ErrorCode; detail: string }>> = {
  4004: { code: "discord_token_invalid", detail: "Discord refuses the bot token (4004)." },
  4010: { code: "discord_connection_refused", detail: "Discord refuses the shard (4010)." },
  4011: {
    code: "discord_connection_refused",
    detail: "The bot is in too many servers for one connection (4011).",
  },
  4012: {
    code: "discord_connection_refused",
    detail: "Discord does not offer this version of its API (4012).",
  },
  4013: { code: "discord_connection_refused", detail: "Discord does not know an intent (4013)." },
  4014: { code: "discord_intent_refused", detail: "The application may not have an intent (4014)." },
};
/** Codes after which the session cannot be resumed: invalid sequence, and a session that timed out. */
const SESSION_OVER: ReadonlySet<number> = new Set([4007, 4009]);

/** Returns what follows when a connection was closed with a code. */
export function endOf(code: number): ConnectionEnd {
  const final = FINAL[code];
  if (final !== undefined) return { next: "stop", ...final };
  const detail = `Discord closed the connection (${code}).`;
  return { next: SESSION_OVER.has(code) ? "identify" : "resume", code: "discord_unreachable", detail };
}

/**
 * Returns the address of the gateway with the version and the encoding. Undefined if it is not Discord's own, since the
 * bot token goes there: the host is below discord.gg, or that of the API if a test has replaced it.
 */
export function gatewayUrl(address: string, apiUrl: string, ownApiUrl: string): string | undefined {
  const url = URL.parse(address);
  if (url === null) return undefined;
  const isDiscords = url.protocol === "wss:" && /^[\w.-]+\.discord\.gg$/.test(url.hostname);
  const isReplaced = apiUrl !== ownApiUrl && url.hostname === new URL(apiUrl).hostname;
  if (!isDiscords && !isReplaced) return undefined;
  url.searchParams.set("v", "10");
  url.searchParams.set("encoding", "json");
  return url.href;
}

const user = z.looseObject({ id: snowflake, bot: z.optional(z.unknown()) });
/** The parts of a message that decide whether it may be for the bot. */
const messageSchema = z.looseObject({
  id: snowflake,
  channel_id: snowflake,
  guild_id: z.optional(z.unknown()),
  author: user,
  webhook_id: z.optional(z.unknown()),
  mentions: recovered(z.optional(z.array(z.looseObject({ id: z.string() }))), undefined),
  referenced_message: recovered(z.optional(z.nullable(z.looseObject({ author: user }))), undefined),
});

/** Bot whose messages are read. */
export interface Reader {
  /** Its user id. */
  user: string;
  unmentioned: Unmentioned;
}

/**
 * The servers on which messages are read without a mention of the bot, by id; `*` stands for servers that are not named.
 */
export type Unmentioned = Readonly<Record<string, boolean>>;

/**
 * Returns the delivery of a new message: direct, mentioning the bot, or answering it. Undefined for all others, whose
 * words Discord does not show, and for those of programs. Its id is the message's; its conversation is the channel, as
 * with commands.
 */
export function messageDelivery(
  value: unknown,
  { user: bot, unmentioned }: Reader,
  receivedAt: number,
): Delivery | undefined {
  const { data } = messageSchema.safeParse(value);
  if (data === undefined) return undefined;
  const { id, channel_id: channel, guild_id: guild, author, webhook_id: webhook, mentions = [] } = data;
  if (author.id === bot || author.bot === true || webhook != null) return undefined;
  const isAddressed = mentions.some((one) => one.id === bot) || data.referenced_message?.author.id === bot;
  const isForAll = guild === undefined || (unmentioned[String(guild)] ?? unmentioned["*"] ?? false);
  if (!isAddressed && !isForAll) return undefined;
  const payload = { t: "MESSAGE_CREATE", bot, d: value };
  return { id, platform: "discord", conversation: `discord:${channel}`, receivedAt, payload };
}
