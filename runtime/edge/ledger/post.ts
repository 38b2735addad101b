import type { Delivery, Platform } from "../../contract/delivery.ts";
import { directRequest } from "../../contract/service-operations.ts";
import { directAddress } from "../../contract/services.ts";
import type { Environment } from "../../contract/variables.ts";
import { isRecord, parseJson } from "../../shared/json.ts";
import { readBytes } from "../../shared/read-bytes.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

interface PlatformRequest {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body: object;
}

const TIMEOUT_MS = 10_000;
/** Maximum bytes read of a platform's response. */
const MAX_BYTES = 64 * 1024;

/** Returns the request that replies to an event; `undefined` if the bot should not reply to it. */
export function replyRequest(
  { platform, payload }: Delivery,
  text: string,
  environment: Environment,
): PlatformRequest | undefined {
  return REQUESTS[platform](payload, text, environment);
}

type MakeRequest = (
  payload: Delivery["payload"],
  text: string,
  environment: Environment,
) => PlatformRequest | undefined;

const REQUESTS: Record<Platform, MakeRequest> = {
  slack(payload, text, environment) {
    const to = slackTarget(payload);
    return to && slackText(to, text, environment);
  },
  telegram(payload, text, environment) {
    const to = telegramTarget(payload);
    return to && telegramText(to, text, environment);
  },
  discord: discordRequest,
};

export function chatRequest(
  platform: Platform,
  chat: string,
  text: string,
  environment: Environment,
): PlatformRequest {
  switch (platform) {
    case "telegram":
      return telegramText({ chat_id: chat }, text, environment);
    case "slack":
      return slackText({ channel: chat }, text, environment);
    case "discord":
      return discordText(chat, text, environment);
  }
}

function telegramText(to: object, text: string, environment: Environment): PlatformRequest {
  const key = environment["TELEGRAM_BOT_TOKEN"] ?? "";
  return { ...directRequest("telegram/sendMessage", {}, { key, environment }), body: { ...to, text } };
}

function slackText(to: object, text: string, environment: Environment): PlatformRequest {
  const key = environment["SLACK_BOT_TOKEN"] ?? "";
  return { ...directRequest("slack/chat.postMessage", {}, { key, environment }), body: { ...to, text } };
}

function discordText(channel: string, text: string, environment: Environment): PlatformRequest {
  const key = environment["DISCORD_BOT_TOKEN"] ?? "";
  const body = { content: text, allowed_mentions: { parse: [] } };
  return { ...directRequest("discord/message.create", { channel }, { key, environment }), body };
}

/** Rejects if the platform refuses the request. */
export async function post(
  platform: Platform,
  { url, method, headers, body }: PlatformRequest,
  fetch: Fetch,
): Promise<void> {
  const response = await fetch(url, {
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
  // Slack reports errors with status 200 and `ok: false`.
  const answer = parseJson(new TextDecoder().decode(await readBytes(response, MAX_BYTES)));
  if (isRecord(answer) && answer["ok"] === false)
    throw new Error(`${platform} refused: ${String(answer["error"] ?? answer["description"])}`);
}

/** Returns the private chat to reply to; `undefined` for groups. */
function telegramTarget({ message }: Record<string, unknown>): object | undefined {
  if (!isRecord(message) || !isRecord(message["chat"]) || !isRecord(message["from"])) return undefined;
  const { chat, from, message_thread_id: thread } = message;
  if (chat["type"] !== "private" || from["is_bot"] === true) return undefined;
  return { chat_id: chat["id"], ...(typeof thread === "number" && { message_thread_id: thread }) };
}

/** Returns the chat and thread to reply to, for a direct message or a mention. */
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
 * Returns the request that replies to a command, direct message or mention. A command's token permits replies for 15
 * minutes without the bot token.
 */
function discordRequest(
  { t: kind, d: message, bot, type, application_id: application, token }: Record<string, unknown>,
  text: string,
  environment: Environment,
): PlatformRequest | undefined {
  // A reply to a button press would overwrite the message that contains the button.
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
  return discordText(channel, text, environment);
}
