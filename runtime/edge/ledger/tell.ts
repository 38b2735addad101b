import { GATEWAY_ROUTES } from "../../contract/control.ts";
import type { Delivery, DeliveryNotice } from "../../contract/delivery.ts";
import type { Environment } from "../../contract/variables.ts";
import { outcomeIn } from "./deliver.ts";
import type { Sandbox } from "../ports.ts";
import { chatOfDelivery, type Chats, type OutageWord } from "./chats.ts";
import { type Fetch, replyRequest, post } from "./post.ts";

/** Records which chats may get a notice, and which already did. */
export type Telling = Pick<Chats, "claim" | "release">;

/** Dependencies of {@link Teller}. */
export interface TellerOptions {
  sandbox: Pick<Sandbox, "request" | "status">;
  /** Contains the platforms' keys. */
  environment: Environment;
  fetch: Fetch;
}

/** Messages sent while the gateway is down. They name no cause, since their readers are not operators. */
const TEXTS: Record<OutageWord, string> = {
  waits: "I am unavailable at the moment. Your message is kept, and I will answer as soon as I am back.",
  "given up": "I was unavailable for a day and cannot answer what you wrote. Please send it again later.",
};

/**
 * Tells a chat that its answer is delayed or cancelled: through the gateway, which checks who may be answered, or,
 * while it is down, directly with the deployment's keys, once per chat and outage.
 */
export class Teller {
  readonly #options: TellerOptions;
  /** Notices being sent, by chat and kind. */
  readonly #sending = new Map<string, Promise<void>>();

  constructor(options: TellerOptions) {
    this.#options = options;
  }

  /**
   * Resolves to true if the chat has been told, by this call or earlier in the same outage. Rejects if the platform
   * refuses the message.
   */
  async tell(delivery: Delivery, notice: DeliveryNotice, chats: Telling): Promise<boolean> {
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
    // Several messages of a chat may be given up together: wait for their shared notice.
    await this.#sending.get(key);
    return claim !== "not known";
  }
}
