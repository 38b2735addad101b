import * as z from "zod/mini";
import type { Delivery } from "../../contract/delivery.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import { maybe } from "../../shared/maybe.ts";

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
 * Gateway intents: https://docs.discord.com/developers/events/gateway#list-of-intents. The text of direct messages
 * and mentions is available without the privileged MESSAGE_CONTENT
 * (https://docs.discord.com/developers/events/gateway#message-content-intent).
 */
const GUILD_MESSAGES = 1 << 9;
const DIRECT_MESSAGES = 1 << 12;
const MESSAGE_CONTENT = 1 << 15;

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

export type Payload = z.infer<typeof payloadSchema>;

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

/** A session that a new connection can resume: https://docs.discord.com/developers/events/gateway#resuming */
export interface Session {
  id: string;
  url: string;
  /** The bot's user id. */
  user: string;
  /** Sequence number of the last handled event. Resuming replays later events. */
  sequence: number;
}

export interface ConnectionEnd {
  /** Next step: `resume` the session, begin a new one (`identify`), or `stop` until the operator changes something. */
  next: "resume" | "identify" | "stop";
  /**
   * True if the connection ended without a failure: Discord asked for a reconnect, or this process closed the
   * connection.
   */
  expected?: boolean;
  code: ErrorCode;
  detail: string;
  /** Delay that Discord asks for. */
  afterMs?: number;
}

/**
 * Close codes after which a client must not reconnect:
 * https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
 */
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
  4013: { code: "discord_connection_refused", detail: "Discord does not recognise an intent (4013)." },
  4014: { code: "discord_intent_refused", detail: "The application may not use a requested intent (4014)." },
};
/** Close codes after which the session cannot be resumed: invalid sequence, session timeout. */
const SESSION_OVER: ReadonlySet<number> = new Set([4007, 4009]);

export function endOf(code: number): ConnectionEnd {
  const final = FINAL[code];
  if (final !== undefined) return { next: "stop", ...final };
  const detail = `Discord closed the connection (${code}).`;
  return { next: SESSION_OVER.has(code) ? "identify" : "resume", code: "discord_unreachable", detail };
}

/**
 * Adds the API version and the encoding to a gateway address. Returns `undefined` if the address's host must not
 * receive the bot token. Permitted hosts are the subdomains of discord.gg and, if `apiUrl` differs from Discord's own
 * API URL (`ownApiUrl`), the host of `apiUrl`.
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
const messageSchema = z.looseObject({
  id: snowflake,
  channel_id: snowflake,
  guild_id: z.optional(z.unknown()),
  author: user,
  webhook_id: z.optional(z.unknown()),
  mentions: maybe(z.array(z.looseObject({ id: z.string() }))),
  referenced_message: maybe(z.nullable(z.looseObject({ author: user }))),
});

export interface Reader {
  /** The bot's user id. */
  user: string;
  unmentioned: Unmentioned;
}

/** By server id: true if the bot also reads messages that do not mention it. `*` applies to all other servers. */
export type Unmentioned = Readonly<Record<string, boolean>>;

/**
 * Returns a delivery if the message is direct, mentions the bot, or replies to the bot, or if `unmentioned` is true
 * for the server. Otherwise, and for every message from a bot or webhook, returns `undefined`.
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
