import type { InboundMessage, Reference, Sender } from "../../../contract/message.ts";
import { textOfBlocks } from "../blocks.ts";
import { type BotIdentity, expandLinks } from "./addressed.ts";
import {
  readAttachments,
  readOthers,
  type TelegramContent,
  type TelegramMessage,
  type TelegramOrigin,
} from "./message.ts";

/**
 * Returns the replied-to message, or only the part of it that the sender selected. For a message in another chat,
 * Telegram provides only the selected part and the files: https://core.telegram.org/bots/api#externalreplyinfo
 */
export function readRepliedTo(
  { reply_to_message: replied, external_reply: external, quote }: TelegramMessage,
  bot: BotIdentity,
  maxBytes: number,
): Reference[] {
  const source = external ?? replied;
  if (source === undefined || (quote === undefined && replied?.forum_topic_created !== undefined)) return [];
  const author = external === undefined ? replied && authorOf(replied, bot) : writerOf(external.origin, bot);
  const text = quote?.text ?? (external === undefined && replied ? wordsOf(replied) : "");
  const attachments = readAttachments(source, maxBytes);
  const said = [text, ...readOthers(source)].filter((line) => line !== "").join("\n");
  if (said === "" && attachments.length === 0) return [];
  return [
    { kind: quote === undefined ? "reply" : "quote", ...(author && { author }), text: said, attachments },
  ];
}

type Words = Pick<InboundMessage, "text" | "attachments" | "references">;

/** Converts a forwarded message to a reference, because the sender did not write its text. */
export function asForwarded(
  { text, attachments, references = [] }: Words,
  origin: TelegramOrigin,
  bot: BotIdentity,
): Words {
  const author = writerOf(origin, bot);
  const forwarded: Reference = { kind: "forward", ...(author && { author }), text, attachments };
  return { text: "", attachments: [], references: [...references, forwarded] };
}

function writerOf(origin: TelegramOrigin, bot: BotIdentity): Reference["author"] {
  const { sender_user: user, sender_user_name: name, sender_chat: chat = origin.chat } = origin;
  if (user !== undefined || chat !== undefined)
    return authorOf({ from: user, ...(user === undefined && { sender_chat: chat }) }, bot);
  return name === undefined ? undefined : { name };
}

function authorOf(
  { from, sender_chat: chat }: Pick<TelegramContent, "from" | "sender_chat">,
  bot: BotIdentity,
): Reference["author"] {
  if (chat !== undefined) return { id: String(chat.id), ...(chat.title && { name: chat.title }) };
  if (from === undefined) return undefined;
  return String(from.id) === bot.id ? "bot" : personOf(from);
}

export function personOf({ id, first_name: name, username }: NonNullable<TelegramContent["from"]>): Sender {
  return { id: String(id), ...(name && { name }), ...(username && { username }) };
}

function wordsOf(content: TelegramContent): string {
  const { text, caption, rich_message: rich } = content;
  return text === undefined && caption === undefined ? textOfBlocks(rich?.blocks) : expandLinks(content);
}
