import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { CHAT_CLOSE, CHAT_MESSAGE_BYTES, isOwnPage } from "../../contract/chat.ts";
import { networkOf } from "../../contract/client.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { problem } from "../../contract/problem.ts";
import { ROUTES } from "../../contract/routes.ts";
import { bearerToken, sameToken } from "../../shared/token.ts";
import { refuseConnection } from "../../process/server.ts";
import type { DeviceStore } from "../devices.ts";
import type { WebChat } from "./chat.ts";
import { ChatSession } from "./session.ts";

const HELLO_MS = 10_000;
const LOOK_MS = 1_000;
const PING_MS = 30_000;
/** Of approved devices; others take no place of theirs. */
const MOST_PAIRED = 100;
/** Limit of other connections. One more replaces the oldest of them. */
const MOST_STRANGERS = 50;
const MOST_STRANGERS_OF_NETWORK = 8;
/** A page that reads this slowly is disconnected; it reconnects and gets what it missed. */
const MOST_BUFFERED = 4 * 1024 * 1024;

/** Dependencies of the sockets. */
export interface ChatSocketsOptions {
  /** The edge's requests carry it; only theirs may say where a page comes from. */
  controlToken: string | undefined;
  devices: DeviceStore;
  chat: WebChat;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

interface Socket {
  session: ChatSession;
  socket: WebSocket;
  /** See {@link networkOf}. */
  network: string;
  openedAt: number;
  /** Nothing has come since the last ping. */
  silent: boolean;
}

/** The WebSockets of the chat pages: who may open one, its limits, its end. The library comes with the first. */
export class ChatSockets {
  readonly #options: ChatSocketsOptions;
  readonly #sockets = new Set<Socket>();
  #server: WebSocketServer | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pingedAt = 0;
  #closing = false;

  constructor(options: ChatSocketsOptions) {
    this.#options = options;
  }

  /** Takes an upgrade request of the gateway's port on, or refuses it. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { host, remoteIp } = this.#caller(request);
    const { origin } = request.headers;
    const refused = this.#refusal(request.url ?? "", host, origin);
    if (refused !== undefined) return refuseConnection(socket, problem(refused));
    if (this.#server === undefined) {
      const { WebSocketServer } = await import("./ws.ts");
      this.#server ??= new WebSocketServer({
        noServer: true,
        maxPayload: CHAT_MESSAGE_BYTES,
        perMessageDeflate: false,
      });
    }
    if (socket.destroyed) return;
    this.#server.handleUpgrade(request, socket, head, (open) => this.#open(open, origin ?? "", remoteIp));
  }

  /** Tells every page to connect again later, and takes no new one. */
  close(): void {
    this.#closing = true;
    clearInterval(this.#timer);
    for (const { session, socket } of this.#sockets) {
      session.close(CHAT_CLOSE.restart, "restart");
      setTimeout(() => socket.terminate(), LOOK_MS).unref();
    }
  }

  #refusal(url: string, host: string | undefined, origin: string | undefined): ErrorCode | undefined {
    if (url !== ROUTES.chatSocket.path) return "not_found";
    if (this.#closing) return "gateway_unavailable";
    return isOwnPage(origin, host) ? undefined : "chat_origin_refused";
  }

  /** Ends the oldest stranger where there are as many as allowed, of this network or in all. */
  #makeRoom(network: string): void {
    const strangers = [...this.#sockets].filter(({ session }) => !session.isPaired);
    const ofNetwork = strangers.filter((one) => one.network === network);
    const [oldest] = ofNetwork.length >= MOST_STRANGERS_OF_NETWORK ? ofNetwork : strangers;
    if (ofNetwork.length < MOST_STRANGERS_OF_NETWORK && strangers.length < MOST_STRANGERS) return;
    if (oldest === undefined) return;
    this.#sockets.delete(oldest);
    oldest.session.close(CHAT_CLOSE.full, "others took its place");
    setTimeout(() => oldest.socket.terminate(), LOOK_MS).unref();
  }

  /** Returns where a page is and comes from: from the edge's headers, else from the connection itself. */
  #caller({ headers, socket }: IncomingMessage): { host: string | undefined; remoteIp: string } {
    const trusted = sameToken(bearerToken(headers.authorization), this.#options.controlToken ?? "");
    const told = (name: string): string | undefined => (trusted ? headers[name]?.toString() : undefined);
    return {
      host: told("x-forwarded-host") ?? headers.host,
      remoteIp: told("x-forwarded-for") ?? socket.remoteAddress ?? "",
    };
  }

  #open(socket: WebSocket, origin: string, remoteIp: string): void {
    const { devices, chat, clock, log } = this.#options;
    const network = networkOf(remoteIp);
    this.#makeRoom(network);
    const session = new ChatSession({
      wire: {
        send: (message) => {
          if (socket.readyState !== socket.OPEN) return;
          if (socket.bufferedAmount > MOST_BUFFERED) return socket.terminate();
          // A page shows blocks; the Markdown that they were read from would double the message.
          socket.send(JSON.stringify(message, (key, value) => (key === "source" ? undefined : value)));
        },
        close: (code, reason) => socket.close(code, reason),
      },
      devices,
      chat,
      origin,
      remoteIp,
      hasRoom: () => [...this.#sockets].filter(({ session: { isPaired } }) => isPaired).length < MOST_PAIRED,
      clock,
    });
    const one: Socket = { session, socket, network, openedAt: clock(), silent: false };
    this.#sockets.add(one);
    socket.on("message", (data, binary) => {
      one.silent = false;
      try {
        if (binary) session.close(CHAT_CLOSE.invalid, "text messages only");
        else session.receive(data.toString());
      } catch (error) {
        log.error("a chat page's message failed", { error: String(error) });
        session.close(CHAT_CLOSE.restart, "failed");
      }
    });
    socket.on("pong", () => (one.silent = false));
    // Too long a message, a broken frame: the library closes with the code for it.
    socket.on("error", (error) => log.debug("a chat page's connection failed", { error: error.message }));
    socket.on("close", (code) => {
      this.#sockets.delete(one);
      session.close(code, "gone");
      if (this.#sockets.size === 0) clearInterval(this.#timer);
      if (this.#sockets.size === 0) this.#timer = undefined;
    });
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS);
  }

  #look(): void {
    const { devices, clock, log } = this.#options;
    const now = clock();
    const ping = now - this.#pingedAt >= PING_MS;
    if (ping) this.#pingedAt = now;
    try {
      const paired = new Map(devices.paired().map((device) => [device.deviceId, device]));
      for (const one of this.#sockets) {
        if (one.session.isNew && now - one.openedAt >= HELLO_MS)
          one.session.close(CHAT_CLOSE.late, "no hello");
        else one.session.look(paired);
        if (ping && one.silent) one.socket.terminate();
        else if (ping) {
          one.silent = true;
          one.socket.ping();
        }
      }
    } catch (error) {
      log.error("the devices cannot be read", { error: String(error) });
    }
  }
}
