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
  /** A paired device and its gateway have spoken. */
  use(): void;
}

interface Page {
  page: WebSocket;
  gateway: WebSocket;
  /** The gateway has let the device in: what is said from here on counts. */
  welcome: boolean;
  /** Messages that are being answered. */
  running: Set<string>;
}

/** From the Worker; the gateway believes them because of the control token. */
const PASSED = ["origin", "x-forwarded-host", "x-forwarded-for"];
const OPEN = 1;

/**
 * The chat pages' sockets, each with its own to the gateway. The gateway's socket passed straight through would
 * cost nothing, but then nothing here would show that a chat is in use: the container would fall asleep during an
 * answer, or a silent page would keep it awake for ever. So each frame is handed on by hand. Frames count once
 * the gateway has let the device in: a stranger's greeting must not keep the container awake at the operator's
 * cost. Hibernation does not fit: the gateway's end of the pair lives in this memory, and a container that runs
 * keeps the object there anyway.
 */
export class ChatRelay {
  readonly #options: ChatRelayOptions;
  readonly #pages = new Set<Page>();

  constructor(options: ChatRelayOptions) {
    this.#options = options;
  }

  /** A message is being answered, even if the model says nothing for a while. */
  get answering(): boolean {
    return [...this.#pages].some(({ running }) => running.size > 0);
  }

  /** Opens a page's socket, or answers what the gateway refuses it with. */
  async open(headers: Headers): Promise<Response> {
    const passed = PASSED.map((name): [string, string] => [name, headers.get(name) ?? ""]);
    let answer: PlatformResponse;
    try {
      answer = await this.#options.upgrade(ROUTES.chatSocket.path, Object.fromEntries(passed));
    } catch {
      // It was ready a moment ago: it ends, or restarts.
      const document = problem("gateway_unavailable", "The gateway did not answer.");
      return problemResponse(document, { "retry-after": "5" });
    }
    const gateway = answer.webSocket;
    if (gateway === null) return answer as unknown as Response;
    const { 0: client, 1: page } = new WebSocketPair();
    this.#join({ page, gateway, welcome: false, running: new Set() });
    return new Response(null, { status: 101, webSocket: client } as ResponseInit);
  }

  /** Ends every page's socket, before the container is stopped for want of use. */
  sleep(): void {
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
      look(one, JSON.parse(String(data)) as ToPage);
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

function look(one: Page, message: ToPage): void {
  if (message.type === "welcome") {
    one.welcome = true;
    one.running = new Set(message.running);
  }
  if (message.type === "accepted") one.running.add(message.id);
  if (message.type === "answer" || message.type === "error") one.running.delete(message.id);
}

/** Codes below 1000 and 1004 to 1006 tell that none came: the other end was lost, and its page may connect again. */
function close(socket: WebSocket, code = 1006, reason = ""): void {
  const sent = code >= 1000 && ![1004, 1005, 1006, 1015].includes(code);
  try {
    socket.close(sent ? code : CHAT_CLOSE.restart, reason);
  } catch {
    // It was lost on its own meanwhile.
  }
}

/** Tells whether a request opens a chat page's socket. Such a one is taken on before the edge, as on a host. */
export function opensChat(request: Request): boolean {
  const { method, path } = ROUTES.chatSocket;
  const upgrade = request.headers.get("upgrade")?.toLowerCase();
  return request.method === method && upgrade === "websocket" && new URL(request.url).pathname === path;
}

/**
 * Hands a chat page's connection on to the Durable Object, with the host that it was asked of and the address
 * that it came from. Another site's page is refused here, so that it cannot wake the container. Of the page's own
 * headers only the origin is forwarded: it must not speak for the edge.
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
