import { CHAT_CLOSE, type ToPage } from "../contract/chat.ts";
import { helloForm } from "../shared/device-door.ts";
import { parseJson } from "../shared/json.ts";
import { closeSocket, joinSockets, type PageSocket } from "./page-sockets.ts";

interface Page {
  /** Device id that the page's first message claims; proven once `welcome` is true. */
  deviceId?: string | undefined;
  isNew: boolean;
  page: PageSocket;
  gateway: PageSocket;
  /** True once the gateway has accepted the device. Messages then count as activity. */
  welcome: boolean;
  running: Set<string>;
}

interface ChatRelayOptions {
  onUse(): void;
  /** Called when the gateway accepts a device, or closes the device's socket because access was revoked. */
  onDevice?(deviceId: string, isLetIn: boolean): void;
}

/** Maximum length, in characters, of a page's first message. The relay does not parse a longer one. */
const LONGEST_HELLO = 1_000;

/**
 * Relays frames between pages and the gateway. Reports activity only for accepted devices, because activity keeps the
 * container awake.
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

  closePages(reason: "asleep" | "restart" | "revoked"): void {
    for (const { page, gateway } of this.#pages) {
      closeSocket(page, CHAT_CLOSE[reason], reason);
      closeSocket(gateway, 1001);
    }
    this.#pages.clear();
  }
}

function deviceIn(text: string): string | undefined {
  if (text.length > LONGEST_HELLO) return undefined;
  return helloForm().safeParse(parseJson(text)).data?.deviceId;
}

function follow(one: Page, message: Partial<ToPage>): void {
  if (message.type === "welcome") one.welcome = true;
  if (message.type === "welcome" || message.type === "opened")
    one.running = new Set(Array.isArray(message.running) ? message.running : []);
  if (message.type === "accepted" && message.id !== undefined) one.running.add(message.id);
  if ((message.type === "answer" || message.type === "error" || message.type === "removed") && message.id)
    one.running.delete(message.id);
}
