import { GATEWAY_ROUTES } from "../../contract/control.ts";
import type { Delivery, DeliveryNotice } from "../../contract/delivery.ts";
import type { Environment } from "../../contract/variables.ts";
import { isRecord } from "../../shared/json.ts";
import { directAddress } from "../../contract/services.ts";
import type { Sandbox } from "../ports.ts";

/** Dependencies of {@link Teller}. */
export interface TellerOptions {
  sandbox: Pick<Sandbox, "request" | "status">;
  /** Holds the platforms' keys. */
  environment: Environment;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** A request to a platform. */
interface PlatformRequest {
  method: "POST" | "PATCH";
  url: string;
  headers?: Record<string, string>;
  body: object;
}

/** Says that the gateway is down. It names no cause: who reads it is no operator. */
const DOWN_TEXT =
  "I cannot answer now: I am not running. Your message is kept, and I answer as soon as I am back.";
const TIMEOUT_MS = 10_000;
/** Chats that are remembered as told in this outage. */
const MOST_TOLD = 10_000;

/**
 * Tells a chat that its answer takes longer: through the gateway, which knows who may be answered, and with the
 * deployment's own keys while that does not run, once a chat and outage.
 */
export class Teller {
  readonly #options: TellerOptions;
  readonly #told = new Set<string>();

  constructor(options: TellerOptions) {
    this.#options = options;
  }

  /** Rejects where the platform did not take it. */
  async tell(delivery: Delivery, notice: DeliveryNotice): Promise<void> {
    const { sandbox } = this.#options;
    if ((await sandbox.status()).state === "ready") {
      this.#told.clear();
      const body = JSON.stringify({ ...delivery, notice });
      const response = await sandbox.request("gateway", {
        method: "POST",
        path: GATEWAY_ROUTES.deliveries,
        body,
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
      return;
    }
    const request = this.#requestFor(delivery);
    const chat = `${delivery.platform}:${delivery.conversation}`;
    if (request === undefined || this.#told.has(chat)) return;
    if (this.#told.size >= MOST_TOLD) this.#told.clear();
    this.#told.add(chat);
    const { url, method, headers, body } = request;
    const response = await this.#options.fetch(url, {
      method,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`${delivery.platform} answered ${response.status}`);
  }

  /** Returns the platform's request that says so; `undefined` where it is not sure that the message is for the bot. */
  #requestFor({ platform, payload }: Delivery): PlatformRequest | undefined {
    const { environment } = this.#options;
    const address = directAddress(platform, environment);
    switch (platform) {
      case "telegram": {
        const to = telegramTarget(payload);
        const url = `${address}/bot${environment["TELEGRAM_BOT_TOKEN"]}/sendMessage`;
        return to && { method: "POST", url, body: { ...to, text: DOWN_TEXT } };
      }
      case "slack": {
        const to = slackTarget(payload);
        const headers = { authorization: `Bearer ${environment["SLACK_BOT_TOKEN"]}` };
        return (
          to && {
            method: "POST",
            url: `${address}/chat.postMessage`,
            headers,
            body: { ...to, text: DOWN_TEXT },
          }
        );
      }
      case "discord": {
        const place = discordPlace(payload);
        const url = `${address}/webhooks/${place}/messages/@original`;
        return place === undefined ? undefined : { method: "PATCH", url, body: { content: DOWN_TEXT } };
      }
    }
  }
}

/** A private chat: whether a group's message is for the bot, the gateway alone knows. */
function telegramTarget({ message }: Record<string, unknown>): object | undefined {
  if (!isRecord(message) || !isRecord(message["chat"]) || !isRecord(message["from"])) return undefined;
  const { chat, from, message_thread_id: thread } = message;
  if (chat["type"] !== "private" || from["is_bot"] === true) return undefined;
  return { chat_id: chat["id"], ...(typeof thread === "number" && { message_thread_id: thread }) };
}

/** A direct message, or a mention. */
function slackTarget({ event }: Record<string, unknown>): object | undefined {
  if (!isRecord(event) || event["bot_id"] !== undefined || event["subtype"] !== undefined) return undefined;
  const { type, channel, channel_type: kind, ts, thread_ts: thread } = event;
  const isMention = type === "app_mention";
  if (typeof channel !== "string" || !(isMention || (type === "message" && kind === "im"))) return undefined;
  const at = thread ?? (isMention ? ts : undefined);
  return { channel, ...(typeof at === "string" && { thread_ts: at }) };
}

/** A command, which Discord shows as being answered. Its token is good for 15 minutes and needs no key. */
function discordPlace({ application_id: application, token }: Record<string, unknown>): string | undefined {
  if (typeof application !== "string" || typeof token !== "string") return undefined;
  return `${encodeURIComponent(application)}/${encodeURIComponent(token)}`;
}
