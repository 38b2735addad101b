import { CHAT_CLOSE, type ToPage } from "../contract/chat.ts";
import { parseJson } from "../shared/json.ts";
import { closeSocket, joinSockets, type PageSocket } from "./page-sockets.ts";

interface Page {
  page: PageSocket;
  gateway: PageSocket;
  /** The gateway has accepted the device: its messages count as use from now on. */
  welcome: boolean;
  /** Ids of the messages that are being answered. */
  running: Set<string>;
}

/**
 * Joins the chat pages' sockets with the gateway's, frame by frame. Passing the gateway's socket straight through would
 * hide that a chat is in use: the gateway would sleep during an answer, or a silent page would keep it awake for ever.
 * Frames count as use once the gateway has accepted the device: a stranger must not keep it awake at the operator's cost.
 */
export class ChatRelay {
  readonly #use: () => void;
  readonly #pages = new Set<Page>();

  /** @param use A paired device is in use. */
  constructor(use: () => void) {
    this.#use = use;
  }

  /** True while a message is being answered, even if the model is silent. */
  get answering(): boolean {
    return [...this.#pages].some(({ running }) => running.size > 0);
  }

  /** Joins a page with its gateway. */
  join(page: PageSocket, gateway: PageSocket): void {
    const one: Page = { page, gateway, welcome: false, running: new Set() };
    this.#pages.add(one);
    joinSockets(page, gateway, {
      onPage: () => one.welcome && this.#use(),
      onGateway: (data) => {
        follow(one, Object(parseJson(String(data))) as Partial<ToPage>);
        if (one.welcome) this.#use();
      },
      onEnd: () => void this.#pages.delete(one),
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
