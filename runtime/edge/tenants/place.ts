import type { Delivery, Platform } from "../../contract/delivery.ts";
import type { TenantChat } from "../../contract/tenant.ts";
import { isRecord } from "../../shared/json.ts";

export interface EventPlace {
  chat: TenantChat;
  /** True for a chat with one person. */
  direct: boolean;
  /** Absent if a bot or the platform itself caused the event. */
  sender?: string;
  /** Id under which the config lists the group; on Discord, the server's id. */
  group: string;
  /** A group became a supergroup: https://core.telegram.org/bots/api#message, `migrate_to_chat_id` */
  move?: { from: string; to: string };
  /** Profile texts that help an operator to recognise a person. */
  meta: Record<string, string>;
}

type Fields = Record<string, unknown>;

/** Returns an event's chat and sender; `undefined` for events without a chat. */
export function placeOf({ platform, payload }: Pick<Delivery, "platform" | "payload">) {
  return PLACES[platform](payload);
}

const PLACES: Record<Platform, (payload: Fields) => EventPlace | undefined> = {
  slack: placeOnSlack,
  telegram: placeOnTelegram,
  discord: placeOnDiscord,
};

/**
 * Reads a Slack event: https://docs.slack.dev/reference/events/message. A button press has `user` and `channel` at the
 * top level.
 */
function placeOnSlack({ event, channel: pressed, user: presser }: Fields): EventPlace | undefined {
  const { channel, channel_type: kind, user, message, bot_id: bot } = fieldsOf(event);
  const chat = channel ?? fieldsOf(pressed)["id"];
  if (typeof chat !== "string" || chat === "") return undefined;
  const person = user ?? fieldsOf(message)["user"] ?? fieldsOf(presser)["id"];
  return {
    chat: { platform: "slack", chat },
    // Ids of direct messages begin with D: https://docs.slack.dev/reference/objects/conversation-object
    direct: kind === "im" || chat.startsWith("D"),
    group: chat,
    ...(typeof person === "string" && bot === undefined && { sender: person }),
    meta: {},
  };
}

const TELEGRAM_CHATS = new Set(["private", "group", "supergroup"]);

/** https://core.telegram.org/bots/api#update. Channel posts are not answered. */
function placeOnTelegram(update: Fields): EventPlace | undefined {
  const press = fieldsOf(update["callback_query"]);
  const message = fieldsOf(update["message"] ?? update["edited_message"] ?? press["message"]);
  const { id, type } = fieldsOf(message["chat"]);
  const { migrate_to_chat_id: next, migrate_from_chat_id: former } = message;
  if (id === undefined || typeof type !== "string" || !TELEGRAM_CHATS.has(type)) return undefined;
  const from = fieldsOf(press["from"] ?? message["from"]);
  // Use the group's id from before it became a supergroup, because the tenant keeps this id. A message from the
  // supergroup contains it as `former`.
  const chat = String(former ?? id);
  const move = { from: chat, to: String(next ?? id) };
  return {
    chat: { platform: "telegram", chat },
    ...((former ?? next) !== undefined && { move }),
    direct: type === "private",
    group: chat,
    ...(from["id"] !== undefined && from["is_bot"] !== true && { sender: String(from["id"]) }),
    meta: textsOf({ username: from["username"], firstName: from["first_name"] }),
  };
}

/**
 * Reads a Discord event: https://docs.discord.com/developers/interactions/receiving-and-responding. Events from
 * Discord's gateway hold the message in `d`.
 */
function placeOnDiscord(payload: Fields): EventPlace | undefined {
  const event = payload["t"] === undefined ? payload : fieldsOf(payload["d"]);
  const { channel_id: chat, guild_id: guild, member, user, author } = event;
  if (typeof chat !== "string") return undefined;
  const person = fieldsOf(fieldsOf(member)["user"] ?? user ?? author);
  const { id, bot } = person;
  return {
    chat: { platform: "discord", chat },
    direct: guild === undefined,
    group: typeof guild === "string" ? guild : chat,
    ...(typeof id === "string" && bot !== true && { sender: id }),
    meta: textsOf({ username: person["username"], firstName: person["global_name"] }),
  };
}

const LONGEST_META = 64;

function textsOf(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === "string" && value !== "" ? [[name, value.slice(0, LONGEST_META)]] : [],
    ),
  );
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
