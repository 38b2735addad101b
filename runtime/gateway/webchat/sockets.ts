import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import {
  type AdmittedBrowser,
  BROWSER_HEADER,
  CHAT_CLOSE,
  CHAT_MESSAGE_BYTES,
  isOwnPage,
  readBrowserHeader,
} from "../../contract/chat.ts";
import { networkOf } from "../../contract/client.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { problem } from "../../contract/problem.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Devices } from "../../shared/devices.ts";
import { chooseEvicted } from "../../shared/strangers.ts";
import { bearerToken, isSameToken } from "../../shared/token.ts";
import { refuseConnection } from "../../process/server.ts";
import type { WebChat } from "./chat.ts";
import { ChatSession } from "./session.ts";

const HELLO_MS = 10_000;
const LOOK_MS = 1_000;
const PING_MS = 30_000;
/** Maximum number of connections from approved devices. */
const MAX_PAIRED = 100;
/** Bytes of unsent data after which a page is disconnected. The page reconnects and catches up. */
const MAX_BUFFERED = 4 * 1024 * 1024;

export interface ChatSocketsOptions {
  /** Token of the edge. Forwarded headers are trusted only in requests that have it. */
  controlToken: string | undefined;
  devices: Devices;
  chat: WebChat;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

interface Caller {
  origin: string;
  remoteIp: string;
  admitted: AdmittedBrowser | undefined;
}

interface Socket {
  session: ChatSession;
  socket: WebSocket;
  /** See {@link networkOf}. */
  network: string;
  openedAt: number;
  /** True if nothing arrived since the last ping. */
  silent: boolean;
}

/** Manages the WebSockets of chat pages. */
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

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const caller = this.#caller(request);
    const { host } = caller;
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
    this.#server.handleUpgrade(request, socket, head, (open) =>
      this.#open(open, { ...caller, origin: origin ?? "" }),
    );
  }

  /** Asks every page to reconnect later, and refuses new pages. */
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

  /**
   * Closes the network's oldest unapproved connection if the network has too many; otherwise, the oldest of all
   * unapproved connections if there are too many in total.
   */
  #makeRoom(network: string): void {
    const strangers = [...this.#sockets].filter(({ session }) => !session.isPaired);
    const oldest = chooseEvicted(strangers, { network });
    if (oldest === undefined) return;
    this.#sockets.delete(oldest);
    oldest.session.close(CHAT_CLOSE.full, "replaced by a newer connection");
    setTimeout(() => oldest.socket.terminate(), LOOK_MS).unref();
  }

  /** Returns the caller's host, address and admission. Prefers the edge's headers to the data of the connection. */
  #caller({ headers, socket }: IncomingMessage) {
    const trusted = isSameToken(bearerToken(headers.authorization), this.#options.controlToken ?? "");
    const told = (name: string): string | undefined => (trusted ? headers[name]?.toString() : undefined);
    const browser = told(BROWSER_HEADER);
    return {
      host: told("x-forwarded-host") ?? headers.host,
      remoteIp: told("x-forwarded-for") ?? socket.remoteAddress ?? "",
      admitted: browser === undefined ? undefined : readBrowserHeader(browser),
    };
  }

  #open(socket: WebSocket, { origin, remoteIp, admitted }: Caller): void {
    const { devices, chat, clock, log } = this.#options;
    const network = networkOf(remoteIp);
    this.#makeRoom(network);
    const session = new ChatSession({
      wire: {
        send: (message) => {
          if (socket.readyState !== socket.OPEN) return;
          if (socket.bufferedAmount > MAX_BUFFERED) return socket.terminate();
          // Pages show only the parsed blocks. Sending their Markdown source too would double the size.
          socket.send(JSON.stringify(message, (key, value) => (key === "source" ? undefined : value)));
        },
        close: (code, reason) => socket.close(code, reason),
      },
      devices,
      admitted,
      chat,
      origin,
      remoteIp,
      hasRoom: () => [...this.#sockets].filter(({ session: { isPaired } }) => isPaired).length < MAX_PAIRED,
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
    // Only log: the library itself closes the socket after a broken frame or an oversized message.
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
