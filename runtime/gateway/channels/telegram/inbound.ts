import type { Inbound, InboundMessage, ReplyTarget, Sender } from "../../../contract/message.ts";
import { RetryableError } from "../../failure.ts";
import { unknownSenderText, type ChannelAccess } from "../../../shared/channel-access.ts";
import { asEdit, textOfBlocks, unreadableMessage } from "../blocks.ts";
import { readAddressedText, expandLinks, type BotIdentity } from "./addressed.ts";
import type { ChatMoves } from "./moves.ts";
import {
  isNotice,
  readAttachments,
  readOthers,
  type TelegramMessage,
  type TelegramPress,
  updateSchema,
} from "./message.ts";
import { asForwarded, personOf, readRepliedTo } from "./references.ts";

export interface InboundOptions {
  access: ChannelAccess;
  bot: BotIdentity;
  moves: Pick<ChatMoves, "knownAs">;
  mediaMaxBytes: number;
}

/**
 * Text that a bot's Start button sends. It may contain a deep link's parameter:
 * https://core.telegram.org/bots/features#deep-linking
 */
const OPENING = /^\/start(?: [\w-]{1,64})?$/;

/**
 * Minimum length, in characters, of a text that may continue in the next message. Apps split texts above 4,096
 * characters.
 */
const NEARLY_CUT = 4_000;

/** Delay in milliseconds before the edge retries an event that arrived before the bot's name was known. */
const NAME_WAIT_MS = 1_000;

/**
 * Parses a new or edited message, or a button press. Ignores other updates.
 *
 * @throws RetryableError if interpreting a group's message requires the bot's name, which is not known yet
 */
export function readTelegramUpdate(payload: Record<string, unknown>, options: InboundOptions): Inbound {
  const parsed = updateSchema.safeParse(payload);
  if (!parsed.success) return ignored("not an update of a known form");
  const { update_id: _, message, edited_message: edited, callback_query: press, ...others } = parsed.data;
  if (press !== undefined) return readPress(press, options);
  if (message !== undefined) return readMessage(message, payload["message"], options);
  if (edited !== undefined) return asEdit(readMessage(edited, payload["edited_message"], options));
  return ignored(`not a message: ${Object.keys(others)[0] ?? "nothing"}`);
}

function readMessage(received: TelegramMessage, whole: unknown, options: InboundOptions): Inbound {
  const message = withRichText(received);
  const direct = message.chat.type === "private";
  if (!direct && message.chat.type !== "group" && message.chat.type !== "supergroup")
    return ignored(`a chat of type ${message.chat.type}`);
  // Ignore ephemeral messages: only commands can be ephemeral, and steward registers no commands with Telegram.
  if (message.ephemeral_message_id !== undefined) return ignored("a message that only its sender sees");
  const moved = readMove(message, options);
  if (moved !== undefined) return moved;
  const sender = readSender(message);
  if (typeof sender === "string") return ignored(sender);

  const { bot, moves, mediaMaxBytes } = options;
  const { forward_origin: origin } = message;
  // A forwarded text is usually somebody else's, so it does not address the bot and is not a command.
  const read =
    origin === undefined ? readAddressedText(message, bot) : { ...UNADDRESSED, text: expandLinks(message) };
  if (read.nameNeeded && !direct) {
    throw new RetryableError("channel_failed", "The bot's name has not been requested from Telegram yet.", {
      retryAfterMs: NAME_WAIT_MS,
    });
  }
  if (read.forAnother && !direct) return ignored("a command for another bot");
  const attachments = readAttachments(message, mediaMaxBytes);
  const said = [read.text, ...readOthers(message)].filter((line) => line !== "").join("\n");
  const answered = readRepliedTo(message, bot, mediaMaxBytes);
  const hadText = (received.text ?? received.caption) !== undefined;
  // A message that consists only of the bot's name asks about the message it replies to.
  const isEmpty = said === "" && attachments.length === 0 && !(hadText && answered.length > 0);
  // In a group, an unknown kind of message is probably not for the bot.
  const isForBot = direct || read.addressed;
  if (isEmpty && (hadText || !isForBot || isNotice(whole))) return ignored("no text");
  const target = replyTarget(message, moves);
  const text = direct && OPENING.test(said) ? "/help" : said;
  const inThread = target.thread !== undefined && { inThread: true };
  const own = { text, attachments, ...(answered.length > 0 && { references: answered }) };
  const words = origin === undefined ? own : asForwarded(own, origin, bot);
  const id = String(message.message_id);
  const continues =
    message.media_group_id ?? ((received.text?.length ?? 0) >= NEARLY_CUT ? "text" : undefined);
  const more = continues !== undefined && { continues };
  const content: Content = { direct, sender, ...words, target, message: id, ...inThread, ...more };
  const inbound = direct
    ? directMessage(content, message, options.access)
    : groupMessage(content, message, read.addressed, options.access);
  if (!isEmpty) return inbound;
  if (inbound.kind !== "message") return inbound;
  return unreadableMessage(target);
}

const UNADDRESSED = { addressed: false, forAnother: false, nameNeeded: false };

/** Parses a button press, which is authorized like a message from the same person. */
function readPress(
  { id: ticket, from, message: { message_id: below, ...place }, data }: TelegramPress,
  { access, moves }: InboundOptions,
): Inbound {
  const sender = personOf(from);
  const target = replyTarget(place, moves);
  const direct = place.chat.type === "private";
  const decision = direct
    ? access.direct(sender.id)
    : access.group(target.chat, sender.id, true, String(place.chat.id));
  const admission = "admission" in decision && { admission: decision.admission };
  return {
    kind: "pressed",
    direct,
    ...admission,
    sender,
    target,
    press: data,
    ticket,
    message: String(below),
  };
}

/**
 * Parses Telegram's announcement of a group's new id, sent in both the old and the new chat. Ignores groups whose old
 * id the access rules do not list.
 */
function readMove(
  { chat, from, migrate_to_chat_id: to, migrate_from_chat_id: by }: TelegramMessage,
  { access }: InboundOptions,
): Inbound | undefined {
  if (to === undefined && by === undefined) return undefined;
  const [former, current] = [String(by ?? chat.id), String(to ?? chat.id)];
  const decision = access.group(former, String(from?.id), true);
  if (decision.becomes === "ignored" && decision.unlisted !== undefined)
    return ignored(decision.reason, decision.unlisted);
  const note = `the group became a supergroup: its id changed from ${former} to ${current}`;
  return { kind: "moved", former, chat: current, note };
}

type Content = Omit<InboundMessage, "admission">;

function groupMessage(
  content: Content,
  { chat }: TelegramMessage,
  addressed: boolean,
  access: ChannelAccess,
): Inbound {
  const { target, sender } = content;
  const decision = access.group(target.chat, sender.id, addressed, String(chat.id));
  if (decision.becomes === "ignored") return ignored(decision.reason, decision.unlisted);
  return { kind: decision.becomes, admission: decision.admission, ...content };
}

/** Pattern of a mention, for text without entities. */
const NAMED = /@\w{5,32}/g;
const COMMAND = /^\/\w{1,32}(?:@\w{5,32})?/;

/**
 * Copies a rich message's text to `text`. Finds mentions and commands in the text, because rich messages have no
 * entities.
 */
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

function readSender({ from, sender_chat: shown, chat }: TelegramMessage): Sender | string {
  // An anonymous admin writes as the group itself; `from` is then a bot that belongs to Telegram.
  if (shown !== undefined && shown.id === chat.id)
    return { id: String(shown.id), name: shown.title ?? "admin" };
  if (shown !== undefined) return "written on behalf of a channel";
  if (from === undefined) return "no sender";
  if (from.is_bot === true) return "written by a bot";
  return personOf(from);
}

/** Returns the chat and, in a forum, the topic. Ignores other threads, which are only chains of replies. */
function replyTarget(
  message: Pick<TelegramMessage, "chat" | "message_thread_id" | "is_topic_message">,
  moves: Pick<ChatMoves, "knownAs">,
): ReplyTarget {
  const { chat, message_thread_id: thread, is_topic_message: isTopic } = message;
  return {
    chat: moves.knownAs(String(chat.id)),
    ...(isTopic === true && thread !== undefined && { thread: String(thread) }),
  };
}

function ignored(note: string, unlisted?: string): Inbound {
  return { kind: "ignored", note, unlisted };
}
