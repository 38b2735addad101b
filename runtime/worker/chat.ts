import type {
  CloseEvent,
  MessageEvent,
  Response as PlatformResponse,
  WebSocket,
} from "@cloudflare/workers-types/index.ts";
import { CHAT_CLOSE, isOwnPage, type ToPage } from "../contract/chat.ts";
import { problem, problemResponse } from "../contract/problem.ts";
import { ROUTES } from "../contract/routes.ts";
import type { ChatDoor } from "./environment.ts";

/** Dependencies of {@link ChatRelay}. */
interface ChatRelayOptions {
  /** Asks the gateway for a WebSocket, with the control token added. */
  upgrade(path: string, headers: Record<string, string>): Promise<PlatformResponse>;
  /** A paired device is in use. */
  use(): void;
}

interface Page {
  page: WebSocket;
  gateway: WebSocket;
  /** The gateway has accepted the device: its messages count as use from now on. */
  welcome: boolean;
  /** Ids of the messages that are being answered. */
  running: Set<string>;
}

/** Headers of the Worker. The gateway trusts them because of the control token. */
const PASSED = ["origin", "x-forwarded-host", "x-forwarded-for"];
const OPEN = 1;

/**
 * Relays the chat pages' sockets to the gateway, frame by frame. Passing the gateway's socket straight through would
 * hide that a chat is in use: the container would sleep during an answer, or a silent page would keep it awake for
 * ever. Frames count as use once the gateway has accepted the device: a stranger must not keep the container awake at
 * the operator's cost. Hibernation does not fit: the gateway's end of the pair is in this memory, and a running
 * container keeps the object in memory anyway.
 */
export class ChatRelay {
  readonly #options: ChatRelayOptions;
  readonly #pages = new Set<Page>();

  constructor(options: ChatRelayOptions) {
    this.#options = options;
  }

  /** True while a message is being answered, even if the model is silent. */
  get answering(): boolean {
    return [...this.#pages].some(({ running }) => running.size > 0);
  }

  /** Opens a page's socket, or returns the gateway's refusal. */
  async open(headers: Headers): Promise<Response> {
    const passed = PASSED.map((name): [string, string] => [name, headers.get(name) ?? ""]);
    let answer: PlatformResponse;
    try {
      answer = await this.#options.upgrade(ROUTES.chatSocket.path, Object.fromEntries(passed));
    } catch {
      // The gateway was ready a moment ago: it is stopping or restarting.
      const document = problem("gateway_unavailable", "The gateway did not answer.");
      return problemResponse(document, { "retry-after": "5" });
    }
    const gateway = answer.webSocket;
    if (gateway === null) return answer as unknown as Response;
    const { 0: client, 1: page } = new WebSocketPair();
    this.#join({ page, gateway, welcome: false, running: new Set() });
    return new Response(null, { status: 101, webSocket: client } as ResponseInit);
  }

  /** Closes every page's socket, before the container is stopped because nobody uses it. */
  closePages(): void {
    for (const { page, gateway } of this.#pages) {
      close(page, CHAT_CLOSE.asleep, "asleep");
      close(gateway, 1001, "");
    }
    this.#pages.clear();
  }

  #join(one: Page): void {
    const { page, gateway } = one;
    this.#pages.add(one);
    page.addEventListener("message", ({ data }: MessageEvent) => {
      if (one.welcome) this.#options.use();
      if (gateway.readyState === OPEN) gateway.send(data);
    });
    gateway.addEventListener("message", ({ data }: MessageEvent) => {
      if (page.readyState === OPEN) page.send(data);
      follow(one, JSON.parse(String(data)) as ToPage);
      if (one.welcome) this.#options.use();
    });
    const end = (other: WebSocket) => (event: unknown) => {
      this.#pages.delete(one);
      const { code, reason } = event as Partial<CloseEvent>;
      close(other, code, reason);
    };
    page.addEventListener("close", end(gateway));
    page.addEventListener("error", end(gateway));
    gateway.addEventListener("close", end(page));
    gateway.addEventListener("error", end(page));
    gateway.accept();
    page.accept();
  }
}

/** Notes what a message of the gateway says about the page. */
function follow(one: Page, message: ToPage): void {
  if (message.type === "welcome") {
    one.welcome = true;
    one.running = new Set(message.running);
  }
  if (message.type === "accepted") one.running.add(message.id);
  if (message.type === "answer" || message.type === "error") one.running.delete(message.id);
}

/** Closes a socket. Some codes cannot be sent: they mean that the other end was lost, and its page may reconnect. */
function close(socket: WebSocket, code = 1006, reason = ""): void {
  const sent = code >= 1000 && ![1004, 1005, 1006, 1015].includes(code);
  try {
    socket.close(sent ? code : CHAT_CLOSE.restart, reason);
  } catch {
    // The socket was lost meanwhile.
  }
}

/** Returns true if a request opens a chat page's socket. The edge does not see such a request, as on a host. */
export function opensChat(request: Request): boolean {
  const { method, path } = ROUTES.chatSocket;
  const upgrade = request.headers.get("upgrade")?.toLowerCase();
  return request.method === method && upgrade === "websocket" && new URL(request.url).pathname === path;
}

/**
 * Forwards a chat page's connection to the Durable Object, with the requested host and the client's address. Another
 * site's page is refused here, so that it cannot wake the container. Only the origin of the page's own headers is
 * forwarded: the page must not speak for the edge.
 */
export async function proxyChat(request: Request, object: ChatDoor): Promise<Response> {
  const { host } = new URL(request.url);
  const origin = request.headers.get("origin") ?? undefined;
  if (origin === undefined || !isOwnPage(origin, host))
    return problemResponse(problem("chat_origin_refused"));
  const headers = {
    upgrade: "websocket",
    origin,
    "x-forwarded-host": host,
    // Cloudflare sets it itself: https://developers.cloudflare.com/fundamentals/reference/http-headers/#cf-connecting-ip
    "x-forwarded-for": request.headers.get("cf-connecting-ip") ?? "",
  };
  return object.fetch(new Request(request.url, { headers }));
}
