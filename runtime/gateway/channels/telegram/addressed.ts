import type { TelegramContent, TelegramEntity, TelegramMessage } from "./message.ts";

/** Characters of a mention, and of a command: Telegram's own limit is 32 and a sign. */
const LONGEST_NAME = 64;

/** Identity of the bot. */
export interface BotIdentity {
  id: string;
  /** Without the `@`; `undefined` while Telegram was not asked yet. */
  username: string | undefined;
}

/** Text of a message, and whether it is for the bot. */
export interface ReadText {
  /** Without mentions of the bot; links behind words are written out. */
  text: string;
  /** The bot is mentioned, replied to, or given a command. */
  addressed: boolean;
  /** It is a command for another bot of the group. */
  forAnother: boolean;
  /** Unknown before the bot's own name is known. */
  nameNeeded: boolean;
}

/**
 * Reads a message's text or caption by its entities: an `@name` (in any case), a mention of a user
 * without a name, a command `/x` or `/x@name` at the start, a reply to one of the bot's messages.
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
    // Where a word is taken out, one of the spaces around it goes with it.
    if (instead === "" && source[position] === " " && before.trim() === "") position += 1;
  }
  read.text = (pieces.join("") + source.slice(position)).trim();
  return read;
}

/** Returns a text or caption with the links behind words written out. */
export function expandLinks(content: TelegramContent): string {
  return readAddressedText(content, { id: "", username: "" }).text;
}

/** Returns what stands in the place of an entity; `undefined` leaves it was said. */
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
