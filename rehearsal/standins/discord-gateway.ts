import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { Hono } from "hono";
import { type WebSocket, WebSocketServer } from "ws";
import { PERSON, PLAIN_MESSAGE, snowflakeNow } from "./discord-message.ts";

/** https://docs.discord.com/developers/events/gateway#list-of-intents */
const GUILD_MESSAGES = 1 << 9;
const DIRECT_MESSAGES = 1 << 12;
const MESSAGE_CONTENT = 1 << 15;
const KNOWN_INTENTS = 2 ** 26 - 1;
/** https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes */
const DECODE_ERROR = 4002;
const NOT_AUTHENTICATED = 4003;
const AUTHENTICATION_FAILED = 4004;
const INVALID_SEQUENCE = 4007;
const INVALID_INTENTS = 4013;
const DISALLOWED_INTENTS = 4014;

interface Event {
  op: 0;
  s: number;
  t: string;
  d: object;
}

interface Session {
  id: string;
  intents: number;
  sequence: number;
  /** All events, for a replay. */
  events: Event[];
  socket?: WebSocket | undefined;
}

export interface DiscordGatewayOptions {
  botToken: string;
  user: string;
  /** Default: 41,250 ms, as at Discord. */
  heartbeatMs?: number;
  onWritten?(message: WrittenMessage): void;
}

export interface WrittenMessage {
  id: string;
  channel_id: string;
  content: string;
  [field: string]: unknown;
}

/**
 * Stand-in for Discord's gateway: https://docs.discord.com/developers/events/gateway Not modelled: shards, compression,
 * ETF, rate limits, session expiry, presences, edits, deletions and all other events.
 */
export class DiscordGateway {
  readonly routes = new Hono();
  readonly #options: DiscordGatewayOptions;
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #sessions = new Map<string, Session>();
  #count = 0;
  /** IDENTIFY and RESUME payloads as received. */
  readonly identified: Record<string, unknown>[] = [];
  readonly resumed: Record<string, unknown>[] = [];
  /** Received sequence numbers. */
  readonly heartbeats: unknown[] = [];
  /** True if the developer portal allows the Message Content intent. */
  allowsContent = false;
  /** Session starts that remain today. */
  remaining = 1_000;
  acknowledges = true;

  constructor(options: DiscordGatewayOptions) {
    this.#options = options;
    this.routes.get("/gateway/bot", (context) =>
      context.json({
        url: `ws://${new URL(context.req.url).host}/`,
        shards: 1,
        session_start_limit: {
          total: 1_000,
          remaining: this.remaining,
          reset_after: 14_400_000,
          max_concurrency: 1,
        },
      }),
    );
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const address = `ws://${request.headers.host}/`;
    this.#server.handleUpgrade(request, socket, head, (accepted) => this.#serve(accepted, address));
  }

  get connected(): boolean {
    return [...this.#sessions.values()].some(({ socket }) => socket !== undefined);
  }

  say(content: string, fields: object = {}): WrittenMessage {
    return this.#write({ content, channel_id: "1094323234567890123", channel_type: 1, ...fields });
  }

  /** Simulates a server message that mentions the bot. `fields` can override the mention. */
  sayOnServer(content: string, fields: object = {}): WrittenMessage {
    const { user } = this.#options;
    return this.#write({
      content: `<@${user}> ${content}`,
      mentions: [{ id: user, username: "steward", bot: true }],
      guild_id: "290926798626357999",
      channel_id: "645027906669510667",
      channel_type: 0,
      member: { nick: null, roles: [], joined_at: "2017-03-13T19:19:14.040000+00:00" },
      ...fields,
    });
  }

  /** Sends an interaction over the gateway connection, as Discord does if the bot has no endpoint. */
  interact(payload: object): void {
    for (const session of this.#sessions.values()) this.#dispatch(session, "INTERACTION_CREATE", payload);
  }

  /** Cuts every connection without a close frame. The sessions can still be resumed. */
  drop(): void {
    for (const client of this.#server.clients) client.terminate();
  }

  askToReconnect(): void {
    for (const { socket } of this.#sessions.values()) send(socket, { op: 7, d: null });
  }

  /** Ends every session, so that it cannot be resumed. */
  endSessions(): void {
    for (const { socket } of this.#sessions.values()) send(socket, { op: 9, d: false });
    this.#sessions.clear();
  }

  close(): void {
    this.drop();
    this.#server.close();
  }

  #write(fields: Omit<WrittenMessage, "id">): WrittenMessage {
    const message: WrittenMessage = {
      ...PLAIN_MESSAGE,
      author: PERSON,
      timestamp: new Date().toISOString(),
      content: "",
      channel_id: "",
      ...fields,
      id: snowflakeNow(),
    };
    this.#options.onWritten?.(message);
    for (const session of this.#sessions.values()) {
      const isDirect = message["guild_id"] === undefined;
      if ((session.intents & (isDirect ? DIRECT_MESSAGES : GUILD_MESSAGES)) === 0) continue;
      this.#dispatch(session, "MESSAGE_CREATE", this.#shown(message, session.intents));
    }
    return message;
  }

  /** https://docs.discord.com/developers/events/gateway#message-content-intent */
  #shown(message: WrittenMessage, intents: number): object {
    const { user } = this.#options;
    const mentions = message["mentions"] as { id: string }[];
    const isShown =
      (intents & MESSAGE_CONTENT) !== 0 ||
      message["guild_id"] === undefined ||
      mentions.some(({ id }) => id === user);
    if (isShown) return message;
    const { poll: _, ...others } = message;
    return { ...others, content: "", embeds: [], attachments: [], components: [] };
  }

  #dispatch(session: Session, t: string, d: object): void {
    session.sequence += 1;
    const event: Event = { op: 0, s: session.sequence, t, d };
    session.events.push(event);
    send(session.socket, event);
  }

  #serve(socket: WebSocket, address: string): void {
    const { heartbeatMs = 41_250 } = this.#options;
    let session: Session | undefined;
    socket.on("close", () => {
      if (session?.socket === socket) session.socket = undefined;
    });
    socket.on("message", (data) => {
      const payload = readPayload(String(data));
      if (payload === undefined) return socket.close(DECODE_ERROR);
      const { op, d } = payload;
      if (op === 1) {
        this.heartbeats.push(d);
        if (this.acknowledges) send(socket, { op: 11 });
      } else if (op === 2) session = this.#identify(socket, Object(d), address);
      else if (op === 6) session = this.#resume(socket, Object(d));
      else if (session === undefined) socket.close(NOT_AUTHENTICATED);
    });
    send(socket, { op: 10, d: { heartbeat_interval: heartbeatMs } });
  }

  #identify(socket: WebSocket, asked: Record<string, unknown>, address: string): Session | undefined {
    this.identified.push(asked);
    this.remaining -= 1;
    const intents = Number(asked["intents"]);
    const refused = this.#refusal(asked["token"], intents);
    if (refused !== undefined) {
      socket.close(refused);
      return undefined;
    }
    this.#count += 1;
    const session: Session = { id: `session-${this.#count}`, intents, sequence: 0, events: [], socket };
    this.#sessions.set(session.id, session);
    const { user } = this.#options;
    this.#dispatch(session, "READY", {
      v: 10,
      user: { id: user, username: "steward", bot: true },
      guilds: [],
      session_id: session.id,
      resume_gateway_url: address,
      application: { id: user, flags: 0 },
    });
    return session;
  }

  #refusal(token: unknown, intents: number): number | undefined {
    if (token !== this.#options.botToken) return AUTHENTICATION_FAILED;
    if (!Number.isInteger(intents) || intents < 0 || intents > KNOWN_INTENTS) return INVALID_INTENTS;
    if ((intents & MESSAGE_CONTENT) !== 0 && !this.allowsContent) return DISALLOWED_INTENTS;
    return undefined;
  }

  #resume(socket: WebSocket, asked: Record<string, unknown>): Session | undefined {
    this.resumed.push(asked);
    const session = this.#sessions.get(String(asked["session_id"]));
    const sequence = Number(asked["seq"]);
    if (session === undefined || asked["token"] !== this.#options.botToken) {
      send(socket, { op: 9, d: false });
      return undefined;
    }
    if (!(sequence <= session.sequence)) {
      socket.close(INVALID_SEQUENCE);
      return undefined;
    }
    session.socket = socket;
    for (const event of session.events.filter(({ s }) => s > sequence)) send(socket, event);
    this.#dispatch(session, "RESUMED", {});
    return session;
  }
}

function send(socket: WebSocket | undefined, payload: object): void {
  socket?.send(JSON.stringify(payload), () => undefined);
}

function readPayload(text: string): { op: unknown; d: unknown } | undefined {
  try {
    const { op, d } = Object(JSON.parse(text));
    return { op, d };
  } catch {
    return undefined;
  }
}
