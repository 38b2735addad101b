import { CHAT_CLOSE, type ToPage } from "../contract/chat.ts";
import { parseJson } from "../shared/json.ts";
import { closeSocket, joinSockets, type PageSocket } from "./page-sockets.ts";

interface Page {
  /** Id of the first message. The gateway accepts a page only if it has proven that the id is its own. */
  deviceId?: string | undefined;
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
  /** The gateway has accepted a device that has proven its key, or has refused one whose access was revoked. */
  onDevice?(deviceId: string, isLetIn: boolean): void;
}

/** Longest first message of a page, in characters; no other message names the device. */
const LONGEST_HELLO = 1_000;
const DEVICE_ID = /^[0-9a-f]{64}$/;

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
    const one: Page = { page, gateway, welcome: false, running: new Set() };
    this.#pages.add(one);
    joinSockets(page, gateway, {
      onPage: (data) => {
        if (one.welcome) onUse();
        else one.deviceId ??= deviceIn(String(data));
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

/** Returns the device that a page's first message names; `undefined` for any other message. */
function deviceIn(text: string): string | undefined {
  if (text.length > LONGEST_HELLO) return undefined;
  const { deviceId } = Object(parseJson(text)) as { deviceId?: unknown };
  return typeof deviceId === "string" && DEVICE_ID.test(deviceId) ? deviceId : undefined;
}

/** Notes what a message of the gateway says about the page. */
function follow(one: Page, message: Partial<ToPage>): void {
  if (message.type === "welcome") {
    one.welcome = true;
    one.running = new Set(Array.isArray(message.running) ? message.running : []);
  }
  if (message.type === "accepted" && message.id !== undefined) one.running.add(message.id);
  if ((message.type === "answer" || message.type === "error") && message.id !== undefined)
    one.running.delete(message.id);
}
