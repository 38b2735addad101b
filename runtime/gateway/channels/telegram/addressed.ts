import type { TelegramContent, TelegramEntity, TelegramMessage } from "./message.ts";

/**
 * Longest mention (`@name`), in characters, that is compared with the bot's user name. Twice Telegram's limit for
 * user names, as a margin.
 */
const LONGEST_NAME = 64;

export interface BotIdentity {
  id: string;
  /** User name without the `@`; `undefined` until Telegram returns it. */
  username: string | undefined;
}

export interface ReadText {
  /** The message's text without mentions of the bot, and with link targets written out. */
  text: string;
  /** True if the message mentions the bot, replies to it or is a command. */
  addressed: boolean;
  /** True for a command to another bot. */
  forAnother: boolean;
  /** True if `addressed` is undecided because the bot's name is unknown. */
  nameNeeded: boolean;
}

/**
 * Reads a message's text or caption. A message addresses the bot if it contains the bot's `@name` (in any case) or a
 * link to its account, starts with a command `/x` or `/x@name`, or replies to the bot.
 */
export function readAddressedText(
  message: TelegramContent & Pick<Partial<TelegramMessage>, "reply_to_message">,
  bot: BotIdentity,
): ReadText {
  const source = message.text ?? message.caption ?? "";
  const entities = (message.text === undefined ? message.caption_entities : message.entities) ?? [];
  const replied = message.reply_to_message;
  const read: ReadText = {
    text: "",
    addressed: replied?.forum_topic_created === undefined && String(replied?.from?.id) === bot.id,
    forAnother: false,
    nameNeeded: false,
  };
  const isBot = (name: string): boolean => {
    if (bot.username === undefined) read.nameNeeded = true;
    return bot.username?.toLowerCase() === name.toLowerCase();
  };

  const pieces: string[] = [];
  let position = 0;
  let before = " ";
  for (const entity of entities.toSorted((a, b) => a.offset - b.offset)) {
    const said = source.slice(entity.offset, entity.offset + entity.length);
    const instead = replacement(entity, said, read, isBot, bot);
    if (instead === undefined || entity.offset < position) continue;
    const piece = source.slice(position, entity.offset) + instead;
    pieces.push(piece);
    before = piece.at(-1) ?? before;
    position = entity.offset + entity.length;
    // Keep only one of the two spaces around a removed mention.
    if (instead === "" && source[position] === " " && before.trim() === "") position += 1;
  }
  read.text = (pieces.join("") + source.slice(position)).trim();
  return read;
}

export function expandLinks(content: TelegramContent): string {
  return readAddressedText(content, { id: "", username: "" }).text;
}

/** Returns the text that replaces an entity, such as a mention or a link; `undefined` keeps the original text. */
function replacement(
  entity: TelegramEntity,
  said: string,
  read: ReadText,
  isBot: (name: string) => boolean,
  bot: BotIdentity,
): string | undefined {
  switch (entity.type) {
    case "mention":
      if (said.length > LONGEST_NAME || !isBot(said.slice(1))) return undefined;
      read.addressed = true;
      return "";
    case "text_mention":
      if (String(entity.user?.id) !== bot.id) return undefined;
      read.addressed = true;
      return "";
    case "bot_command": {
      if (entity.offset !== 0 || said.length > 2 * LONGEST_NAME) return undefined;
      const [command = "", name] = said.split("@", 2);
      if (name !== undefined && !isBot(name)) {
        read.forAnother = true;
        return undefined;
      }
      read.addressed = true;
      return command;
    }
    case "text_link":
      return entity.url === undefined || entity.url === said ? undefined : `${said} (${entity.url})`;
    default:
      return undefined;
  }
}
