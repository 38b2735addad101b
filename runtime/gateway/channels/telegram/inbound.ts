import { RetryableError } from "../../failure.ts";
import { unknownSenderText, type ChannelAccess } from "../access.ts";
import type { Inbound, InboundMessage, ReplyTarget, Sender } from "../channel.ts";
import { readText, type BotIdentity } from "./addressed.ts";
import { readAttachments, readOthers } from "./files.ts";
import { updateSchema, type TelegramMessage } from "./message.ts";

/** What an update is read with. */
export interface InboundOptions {
  access: ChannelAccess;
  bot: BotIdentity;
  /** Of a photo, the largest size within it is taken. */
  mediaMaxBytes: number;
}

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
  const { update_id: _, message, ...others } = parsed.data;
  if (message === undefined) return ignored(`not a new message: ${Object.keys(others)[0] ?? "nothing"}`);
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
  if (said === "" && attachments.length === 0) return ignored("no text");
  const target = replyTarget(message);
  // What the button sends by which a person opens a chat with a bot.
  const text = direct && said === "/start" ? "/help" : said;
  const inThread = target.thread !== undefined && { inThread: true };
  const content: InboundMessage = { direct, sender, text, attachments, target, ...inThread };
  if (direct) return directMessage(content, message, options.access);
  const { becomes, reason } = options.access.group(target.chat, sender.id, read.addressed);
  return becomes === "ignored" ? ignored(reason) : { kind: becomes, ...content };
}

function directMessage(content: InboundMessage, { from }: TelegramMessage, access: ChannelAccess): Inbound {
  const { sender, target } = content;
  const decision = access.direct(sender.id);
  if (decision.allowed) return { kind: "message", ...content };
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

/** Who wrote it, or why that is nobody to answer. */
function readSender({ from, sender_chat: shown, chat }: TelegramMessage): Sender | string {
  // An admin who hides behind the group; Telegram fills in a bot of its own as the sender.
  if (shown !== undefined && shown.id === chat.id)
    return { id: String(shown.id), name: shown.title ?? "admin" };
  if (shown !== undefined) return "written on behalf of a channel";
  if (from === undefined) return "no sender";
  if (from.is_bot === true) return "written by a bot";
  const name = [from.first_name, from.username && `(@${from.username})`].filter(Boolean).join(" ");
  return { id: String(from.id), ...(name !== "" && { name }) };
}

/** A topic's messages are answered in the topic; other threads are mere chains of replies. */
function replyTarget(message: TelegramMessage): ReplyTarget {
  const { chat, message_thread_id: thread, is_topic_message: isTopic } = message;
  return {
    chat: String(chat.id),
    ...(isTopic === true && thread !== undefined && { thread: String(thread) }),
  };
}

function ignored(note: string): Inbound {
  return { kind: "ignored", note };
}
