import { RetryableError } from "../../failure.ts";
import { unknownSenderText, type ChannelAccess } from "../access.ts";
import { textOfBlocks, unreadable } from "../blocks.ts";
import type { Inbound, InboundMessage, ReplyTarget, Sender } from "../channel.ts";
import { readText, type BotIdentity } from "./addressed.ts";
import { readAttachments, readOthers, type TelegramMessage, updateSchema } from "./message.ts";

/** Dependencies of reading an update. */
export interface InboundOptions {
  access: ChannelAccess;
  bot: BotIdentity;
  /** Of a photo, the largest size within it is taken. */
  mediaMaxBytes: number;
}

/**
 * The message of the button by which a person opens a chat with a bot, with the parameter of the link that led there:
 * https://core.telegram.org/bots/features#deep-linking
 */
const OPENING = /^\/start(?: [\w-]{1,64})?$/;

/** Apps cut a text at 4,096 characters, at a space where there is one, and send the rest behind it. */
const NEARLY_CUT = 4_000;

/** The bot's name is asked for meanwhile, which takes a moment. */
const NAME_WAIT_MS = 1_000;

/**
 * Reads one update: a message of a private chat, a group or a topic. Edits, channel posts, service
 * messages and bots are left with the reason.
 *
 * @throws RetryableError where a group's message can be understood only once the bot's name is known.
 */
export function readTelegramUpdate(payload: Record<string, unknown>, options: InboundOptions): Inbound {
  const parsed = updateSchema.safeParse(payload);
  if (!parsed.success) return ignored("not an update of a known form");
  const { update_id: _, message: received, ...others } = parsed.data;
  if (received === undefined) return ignored(`not a new message: ${Object.keys(others)[0] ?? "nothing"}`);
  const message = withRichText(received);
  const direct = message.chat.type === "private";
  if (!direct && message.chat.type !== "group" && message.chat.type !== "supergroup")
    return ignored(`a chat of the kind ${message.chat.type}`);
  const sender = readSender(message);
  if (typeof sender === "string") return ignored(sender);

  const read = readText(message, options.bot);
  if (read.nameNeeded && !direct) {
    throw new RetryableError("channel_failed", "Telegram was not asked for the bot's name yet.", {
      retryAfterMs: NAME_WAIT_MS,
    });
  }
  if (read.forAnother && !direct) return ignored("a command for another bot");
  const attachments = readAttachments(message, options.mediaMaxBytes);
  const said = [read.text, ...readOthers(message)].filter((line) => line !== "").join("\n");
  const isEmpty = said === "" && attachments.length === 0;
  const hadText = (received.text ?? received.caption) !== undefined;
  // In a group an unknown kind is more likely a notice of the chat than something that was said to the bot.
  const isForBot = direct || read.addressed;
  if (isEmpty && (hadText || !isForBot || isNotice(payload["message"]))) return ignored("no text");
  const target = replyTarget(message);
  const text = direct && OPENING.test(said) ? "/help" : said;
  const inThread = target.thread !== undefined && { inThread: true };
  const continues =
    message.media_group_id ?? ((received.text?.length ?? 0) >= NEARLY_CUT ? "text" : undefined);
  const content: Content = {
    direct,
    sender,
    text,
    attachments,
    target,
    ...inThread,
    ...(continues !== undefined && { continues }),
  };
  const inbound = direct
    ? directMessage(content, message, options.access)
    : groupMessage(content, read.addressed, options.access);
  if (!isEmpty) return inbound;
  if (inbound.kind !== "message") return inbound;
  return unreadable(target);
}

/** A message before access is decided. */
type Content = Omit<InboundMessage, "admission">;

function groupMessage(content: Content, addressed: boolean, access: ChannelAccess): Inbound {
  const decision = access.group(content.target.chat, content.sender.id, addressed);
  if (decision.becomes === "ignored") return ignored(decision.reason, decision.unlisted);
  return { kind: decision.becomes, admission: decision.admission, ...content };
}

/** Names and commands in a text that has no entities of its own. */
const NAMED = /@\w{5,32}/g;
const COMMAND = /^\/\w{1,32}(?:@\w{5,32})?/;

/** Puts the text of a rich message, which has no entities, where that of any other is. */
function withRichText(message: TelegramMessage): TelegramMessage {
  const { text, caption, rich_message: rich } = message;
  if (text !== undefined || caption !== undefined || rich === undefined) return message;
  const said = textOfBlocks(rich.blocks);
  const command = COMMAND.exec(said)?.[0];
  const names = [...said.matchAll(NAMED)].filter(({ index }) => index >= (command?.length ?? 0));
  const entities = [
    ...(command === undefined ? [] : [{ type: "bot_command", offset: 0, length: command.length }]),
    ...names.map(({ 0: name, index }) => ({ type: "mention", offset: index, length: name.length })),
  ];
  return { ...message, text: said, entities };
}

/** Notices of the chat itself, such as a new member or a pinned message: https://core.telegram.org/bots/api#message */
const NOTICES =
  /^(?:new_chat_|left_chat_|delete_chat_|(?:super)?group_chat_|channel_chat_|message_auto_delete_|migrate_|pinned_message$|successful_payment$|refunded_payment$|users_shared$|chat_shared$|(?:unique_)?gift|connected_website$|write_access_allowed$|passport_data$|proximity_alert_|boost_added$|chat_background_|checklist_tasks_|direct_message_price_|paid_message_price_|suggested_post_|forum_topic_|general_forum_|giveaway_|community_chat_|chat_owner_|poll_option_|managed_bot_|video_chat_|web_app_data$)/;

function isNotice(message: unknown): boolean {
  return Object.keys(Object(message)).some((key) => NOTICES.test(key));
}

function directMessage(content: Content, { from }: TelegramMessage, access: ChannelAccess): Inbound {
  const { sender, target } = content;
  const decision = access.direct(sender.id);
  if (decision.allowed) return { kind: "message", admission: decision.admission, ...content };
  const { answer, reason: note } = decision;
  if (answer === "ignore") return ignored(note);
  if (answer === "refuse")
    return { kind: "refused", target, text: unknownSenderText("telegram", sender.id), note };
  const meta = {
    ...(from?.username !== undefined && { username: from.username }),
    ...(from?.first_name !== undefined && { firstName: from.first_name }),
  };
  return { kind: "unpaired", sender: sender.id, meta, target, note };
}

/** Returns the author, or the reason why there is no one to answer. */
function readSender({ from, sender_chat: shown, chat }: TelegramMessage): Sender | string {
  // An admin who hides behind the group; Telegram fills in a bot of its own as the sender.
  if (shown !== undefined && shown.id === chat.id)
    return { id: String(shown.id), name: shown.title ?? "admin" };
  if (shown !== undefined) return "written on behalf of a channel";
  if (from === undefined) return "no sender";
  if (from.is_bot === true) return "written by a bot";
  const { id, first_name: name, username } = from;
  return { id: String(id), ...(name && { name }), ...(username && { username }) };
}

/** A topic's messages are answered in the topic; other threads are mere chains of replies. */
function replyTarget(message: TelegramMessage): ReplyTarget {
  const { chat, message_thread_id: thread, is_topic_message: isTopic } = message;
  return {
    chat: String(chat.id),
    ...(isTopic === true && thread !== undefined && { thread: String(thread) }),
  };
}

function ignored(note: string, unlisted?: string): Inbound {
  return { kind: "ignored", note, unlisted };
}
