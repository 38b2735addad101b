import { GATEWAY_ROUTES } from "../../contract/control.ts";
import type { Delivery, DeliveryNotice, DeliveryOutcome, Platform } from "../../contract/delivery.ts";
import type { Environment } from "../../contract/variables.ts";
import { isRecord, parseJson } from "../../shared/json.ts";
import { directRequest } from "../../contract/service-operations.ts";
import { directAddress } from "../../contract/services.ts";
import { readBytes } from "../../shared/read-bytes.ts";
import type { Sandbox } from "../ports.ts";
import { chatOfDelivery, type Chats, type OutageWord } from "./chats.ts";

/** Chats that may be told, and were. */
export type Telling = Pick<Chats, "claim" | "release">;

/** Dependencies of {@link Teller}. */
export interface TellerOptions {
  sandbox: Pick<Sandbox, "request" | "status">;
  /** Holds the platforms' keys. */
  environment: Environment;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** A request to a platform. */
interface PlatformRequest {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body: object;
}

/** Words while the gateway is down. They name no cause: who reads them is no operator. */
const TEXTS: Record<OutageWord, string> = {
  waits: "I cannot answer now: I am not running. Your message is kept, and I answer as soon as I am back.",
  "given up":
    "I have not been running for a day and cannot answer what you wrote. Please send it again later.",
};
const TIMEOUT_MS = 10_000;
/** Of a platform's answer, to learn whether it took the message. */
const MOST_BYTES = 64 * 1024;

/**
 * Tells a chat that its answer takes longer, or does not come: through the gateway, which knows who may be answered, and
 * with the deployment's own keys while that does not run, once a chat and outage.
 */
export class Teller {
  readonly #options: TellerOptions;
  /** Words on their way, by chat and word. */
  readonly #sending = new Map<string, Promise<void>>();

  constructor(options: TellerOptions) {
    this.#options = options;
  }

  /**
   * Resolves to true if the chat knows: this call told it, or an earlier one did in the same outage. Rejects if the
   * platform refuses the message.
   */
  async tell(delivery: Delivery, notice: DeliveryNotice, chats: Telling): Promise<boolean> {
    const { sandbox } = this.#options;
    if ((await sandbox.status()).state === "ready") {
      const body = JSON.stringify({ ...delivery, notice });
      const response = await sandbox.request("gateway", {
        method: "POST",
        path: GATEWAY_ROUTES.deliveries,
        body,
      });
      if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
      const { outcome } = (await response.json()) as Partial<DeliveryOutcome>;
      return outcome === "answered";
    }
    const word: OutageWord = notice.givenUp ? "given up" : "waits";
    const request = this.#requestFor(delivery, TEXTS[word]);
    if (request === undefined) return false;
    const chat = chatOfDelivery(delivery);
    const key = `${word} ${chat}`;
    const claim = chats.claim(chat, word);
    if (claim === "claimed") {
      const sending = this.#send(delivery.platform, request)
        .catch((error: unknown) => {
          chats.release(chat);
          throw error;
        })
        .finally(() => this.#sending.delete(key));
      this.#sending.set(key, sending);
    }
    // Several messages of a chat may be given up at once: they share the fate of the one word that tells of them.
    await this.#sending.get(key);
    return claim !== "not known";
  }

  async #send(platform: Platform, { url, method, headers, body }: PlatformRequest): Promise<void> {
    const response = await this.#options.fetch(url, {
      method,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`${platform} answered ${response.status}`);
    }
    // Slack refuses with 200, and says so in the body.
    const answer = parseJson(new TextDecoder().decode(await readBytes(response, MOST_BYTES)));
    if (isRecord(answer) && answer["ok"] === false)
      throw new Error(`${platform} refused: ${String(answer["error"] ?? answer["description"])}`);
  }

  /** Returns the platform's request for a text, or `undefined` if the message may not be meant for the bot. */
  #requestFor({ platform, payload }: Delivery, text: string): PlatformRequest | undefined {
    const { environment } = this.#options;
    switch (platform) {
      case "telegram": {
        const to = telegramTarget(payload);
        const key = environment["TELEGRAM_BOT_TOKEN"] ?? "";
        return (
          to && { ...directRequest("telegram/sendMessage", {}, { key, environment }), body: { ...to, text } }
        );
      }
      case "slack": {
        const to = slackTarget(payload);
        const key = environment["SLACK_BOT_TOKEN"] ?? "";
        return (
          to && {
            ...directRequest("slack/chat.postMessage", {}, { key, environment }),
            body: { ...to, text },
          }
        );
      }
      case "discord":
        return discordRequest(payload, text, environment);
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

/** https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-interaction-type */
const MESSAGE_COMPONENT = 3;

/**
 * A command, which Discord shows as being answered: its token is good for 15 minutes and needs no key. Or a direct
 * message, or a mention.
 */
function discordRequest(
  { t: kind, d: message, bot, type, application_id: application, token }: Record<string, unknown>,
  text: string,
  environment: Environment,
): PlatformRequest | undefined {
  // A press would lose the message that its button stands below.
  if (type === MESSAGE_COMPONENT) return undefined;
  if (kind === undefined) {
    if (typeof application !== "string" || typeof token !== "string") return undefined;
    const place = `${encodeURIComponent(application)}/${encodeURIComponent(token)}`;
    const url = `${directAddress("discord", environment)}/webhooks/${place}/messages/@original`;
    return { method: "PATCH", url, body: { content: text } };
  }
  if (!isRecord(message) || typeof message["channel_id"] !== "string") return undefined;
  const { channel_id: channel, guild_id: guild, mentions } = message;
  const isMention = Array.isArray(mentions) && mentions.some((one) => isRecord(one) && one["id"] === bot);
  if (guild !== undefined && !isMention) return undefined;
  const key = environment["DISCORD_BOT_TOKEN"] ?? "";
  const body = { content: text, allowed_mentions: { parse: [] } };
  return { ...directRequest("discord/message.create", { channel }, { key, environment }), body };
}
