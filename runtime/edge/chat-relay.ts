import { CHAT_CLOSE, type ToPage } from "../contract/chat.ts";
import { helloForm } from "../shared/device-door.ts";
import { parseJson } from "../shared/json.ts";
import { closeSocket, joinSockets, type PageSocket } from "./page-sockets.ts";

interface Page {
  /** Device id that the page's first message claims. It is proven once `welcome` is true. */
  deviceId?: string | undefined;
  /** The page has sent nothing. */
  isNew: boolean;
  page: PageSocket;
  gateway: PageSocket;
  /** The gateway has accepted the device: its messages count as use from now on. */
  welcome: boolean;
  /** Ids of the messages that are being answered. */
  running: Set<string>;
}

/** Callbacks of {@link ChatRelay}. */
interface ChatRelayOptions {
  /** A paired device is in use. */
  onUse(): void;
  /** The gateway has let a proven device in, or has closed its socket because its access was revoked. */
  onDevice?(deviceId: string, isLetIn: boolean): void;
}

/** Longest first message, in characters. A longer one is not parsed. */
const LONGEST_HELLO = 1_000;

/**
 * Joins the chat pages' sockets with the gateway's, frame by frame. Passing the gateway's socket straight through would
 * hide that a chat is in use: the gateway would sleep during an answer, or a silent page would keep it awake for ever.
 * Frames count as use once the gateway has accepted the device: a stranger must not keep it awake at the operator's cost.
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

  /** Joins a page with its gateway. */
  join(page: PageSocket, gateway: PageSocket): void {
    const { onUse, onDevice } = this.#options;
    const one: Page = { page, gateway, isNew: true, welcome: false, running: new Set() };
    this.#pages.add(one);
    joinSockets(page, gateway, {
      onPage: (data) => {
        if (one.isNew) one.deviceId = deviceIn(String(data));
        one.isNew = false;
        if (one.welcome) onUse();
      },
      onGateway: (data) => {
        const wasWelcome = one.welcome;
        follow(one, Object(parseJson(String(data))) as Partial<ToPage>);
        if (!wasWelcome && one.welcome && one.deviceId !== undefined) onDevice?.(one.deviceId, true);
        if (one.welcome) onUse();
      },
      onEnd: (code) => {
        this.#pages.delete(one);
        if (code === CHAT_CLOSE.revoked && one.deviceId !== undefined) onDevice?.(one.deviceId, false);
      },
    });
  }

  /** Closes every page's socket. */
  closePages(reason: "asleep" | "restart" | "revoked"): void {
    for (const { page, gateway } of this.#pages) {
      closeSocket(page, CHAT_CLOSE[reason], reason);
      closeSocket(gateway, 1001);
    }
    this.#pages.clear();
  }
}

/** Returns the device id in a `hello`; `undefined` for any other text. */
function deviceIn(text: string): string | undefined {
  if (text.length > LONGEST_HELLO) return undefined;
  return helloForm().safeParse(parseJson(text)).data?.deviceId;
}

/** Updates a page's state from a message of its gateway. */
function follow(one: Page, message: Partial<ToPage>): void {
  if (message.type === "welcome") one.welcome = true;
  if (message.type === "welcome" || message.type === "opened")
    one.running = new Set(Array.isArray(message.running) ? message.running : []);
  if (message.type === "accepted" && message.id !== undefined) one.running.add(message.id);
  if ((message.type === "answer" || message.type === "error" || message.type === "removed") && message.id)
    one.running.delete(message.id);
}
