import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { channelAccess } from "../../../runtime/shared/channel-access.ts";
import { readTelegramUpdate } from "../../../runtime/gateway/channels/telegram/inbound.ts";

export const BOT = { id: "1234567890", username: "StewardBot" };
const USER = { id: 123456789, is_bot: false, first_name: "Ada", username: "ada", language_code: "en" };
const CHATS = {
  private: { id: 123456789, type: "private", first_name: "Ada", username: "ada" },
  group: { id: -987654321, type: "group", title: "Old group", all_members_are_administrators: true },
  supergroup: { id: -1001234567890, type: "supergroup", title: "Team", is_forum: true },
};

/** No group has another id than at first. */
export const UNMOVED = {
  knownAs: (chat: string) => chat,
  current: (chat: string) => chat,
  all: () => ({}),
  note: () => {},
};

/** Whom the bot does not know. */
export const SOMEBODY = { id: 4242, is_bot: false, first_name: "Grace" };

/** The bot itself, as a user. */
export const THE_BOT = { id: Number(BOT.id), is_bot: true, first_name: "steward", username: BOT.username };

/** Who may write under these keys of the channel; 555 is the one who was approved. */
export function telegramAccess(extra: object = {}) {
  const checked = checkConfig({ channels: { telegram: { botToken: "1:x", groupPolicy: "open", ...extra } } });
  if (!checked.ok || checked.config.channels.telegram === undefined) throw new Error("not a config");
  return channelAccess(
    { ...checked.config.channels.telegram, operators: [] },
    { granted: (id) => (id === "555" ? "person" : undefined) },
  );
}

/** A message as https://core.telegram.org/bots/api#message has it. */
export function message(extra: object = {}, kind: keyof typeof CHATS = "private") {
  return { message_id: 7, from: USER, chat: CHATS[kind], date: 1_795_000_000, text: "hello", ...extra };
}

/** A text with its entities, each found by the words it stands for. */
export function marked(text: string, ...entities: { type: string; of: string; [key: string]: unknown }[]) {
  return {
    text,
    entities: entities.map((entity) =>
      Object.assign(entity, { offset: text.indexOf(entity.of), length: entity.of.length }),
    ),
  };
}

/** An update as https://core.telegram.org/bots/api#update has it. */
export function update(content: object, kind = "message"): Record<string, unknown> {
  return { update_id: 10_000, [kind]: content };
}

/** Reads a message of a private chat, a group or a supergroup. */
export function read(
  extra: object,
  kind: keyof typeof CHATS = "private",
  {
    access = telegramAccess({ dmPolicy: "open", allowFrom: ["*"] }),
    bot = BOT as typeof BOT | Unnamed,
    moves = UNMOVED as Pick<typeof UNMOVED, "knownAs">,
  } = {},
) {
  return readTelegramUpdate(update(message(extra, kind)), { access, bot, moves, mediaMaxBytes: 5_000_000 });
}

interface Unnamed {
  id: string;
  username: undefined;
}
