import { GATEWAY_ROUTES } from "../../contract/control.ts";
import type { Delivery, DeliveryNotice } from "../../contract/delivery.ts";
import type { Environment } from "../../contract/variables.ts";
import { outcomeIn } from "./deliver.ts";
import type { Sandbox } from "../ports.ts";
import { chatOfDelivery, type Chats, type OutageWord } from "./chats.ts";
import { type Fetch, replyRequest, post } from "./post.ts";

export type NoticeClaims = Pick<Chats, "claim" | "release">;

export interface ChatNotifierOptions {
  sandbox: Pick<Sandbox, "request" | "status">;
  environment: Environment;
  fetch: Fetch;
}

/** Messages sent while the gateway is down. They name no cause, since their readers are not operators. */
const TEXTS: Record<OutageWord, string> = {
  waits: "I am unavailable at the moment. Your message is saved, and I will answer as soon as I am back.",
  "given up": "I was unavailable for a day and cannot answer what you wrote. Please send it again later.",
};

/**
 * Notifies chats of delayed or dropped messages. A running gateway sends the notice. During an outage of the gateway,
 * the edge sends it, except to unknown chats and to chats whose last notice was the same.
 */
export class ChatNotifier {
  readonly #options: ChatNotifierOptions;
  /** Notices being sent, by kind and chat. */
  readonly #sending = new Map<string, Promise<void>>();

  constructor(options: ChatNotifierOptions) {
    this.#options = options;
  }

  /**
   * Sends a notice, unless the chat has already received it. Resolves to true if the chat now has the notice, and to
   * false if the chat cannot be notified or the delivery requires no notice. Rejects if the edge cannot send the
   * notice, or if the running gateway responds with an error.
   *
   * A running gateway sends the notice itself. The gateway omits a delay notice if the chat has already received a
   * reply to the message. If the gateway cannot send a delay notice, the gateway only logs the error. In both cases,
   * the promise still resolves to true.
   */
  async notify(delivery: Delivery, notice: DeliveryNotice, chats: NoticeClaims): Promise<boolean> {
    const { sandbox, environment, fetch } = this.#options;
    if ((await sandbox.status()).state === "ready") {
      const body = JSON.stringify({ ...delivery, notice });
      const response = await sandbox.request("gateway", {
        method: "POST",
        path: GATEWAY_ROUTES.deliveries,
        body,
      });
      if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
      return outcomeIn(await response.json())?.outcome === "answered";
    }
    const word: OutageWord = notice.givenUp ? "given up" : "waits";
    const request = replyRequest(delivery, TEXTS[word], environment);
    if (request === undefined) return false;
    const chat = chatOfDelivery(delivery);
    const key = `${word} ${chat}`;
    const claim = chats.claim(chat, word);
    if (claim === "claimed") {
      const sending = post(delivery.platform, request, fetch)
        .catch((error: unknown) => {
          chats.release(chat);
          throw error;
        })
        .finally(() => this.#sending.delete(key));
      this.#sending.set(key, sending);
    }
    // Wait until the notice is sent. An earlier call for this chat may be sending it.
    await this.#sending.get(key);
    return claim !== "not known";
  }
}
