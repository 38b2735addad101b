import type { Admission, Inbound, InboundMessage, ReplyTarget, Sender } from "../../../contract/message.ts";
import { isPrivateAnswer } from "../../../contract/discord-commands.ts";
import { unknownGuildText, unknownSenderText, type ChannelAccess } from "../../../shared/channel-access.ts";
import { unreadableMessage } from "../blocks.ts";
import {
  commandSchema,
  type DiscordCommandEvent,
  type DiscordMessage,
  type DiscordPerson,
  type DiscordPress,
  messageEvent,
  pressSchema,
  readFile,
  readFiles,
  readReferences,
  readWords,
  senderOf,
} from "./message.ts";

/** Start of 2015, the epoch of the times in Discord's ids, in milliseconds since 1970. */
const DISCORD_EPOCH_MS = 1_420_070_400_000;
/** Milliseconds for which an interaction's token is usable: 15 minutes, less some time for the request. */
export const TICKET_MS = 15 * 60_000 - 30_000;

/** Message types of people: https://docs.discord.com/developers/resources/message#message-object-message-types */
const DEFAULT = 0;
const REPLY = 19;
/** https://docs.discord.com/developers/resources/message#message-object-message-flags */
const EPHEMERAL = 64;
/** https://docs.discord.com/developers/resources/channel#channel-object-channel-types */
const DIRECT = 1;

const MENTION_NEEDED =
  "Discord shows me only messages that mention me. Please mention me, or leave the @ of your reply on.";

export function readDiscordEvent(payload: Record<string, unknown>, access: ChannelAccess): Inbound {
  const press = pressSchema.safeParse(payload).data;
  if (press !== undefined) return readPress(press, access);
  if (payload["t"] === undefined) return readCommand(payload, access);
  const { data } = messageEvent.safeParse(payload);
  if (data === undefined) return { kind: "ignored", note: "not a message of a known form" };
  return readMessage(data.d, data.bot, access);
}

/**
 * Parses a message. A message on a server is for the bot if it mentions the bot, if it replies to the bot, or if the
 * config requires no mention.
 */
function readMessage(received: DiscordMessage, bot: string, access: ChannelAccess): Inbound {
  const { id, channel_id: chat, channel_type: kind, guild_id: guild, author, type = DEFAULT } = received;
  const ignored = (note: string, unlisted?: string): Inbound => ({ kind: "ignored", note, unlisted });
  if (received.webhook_id !== undefined) return ignored("written by a webhook");
  if (author.id === bot || author.bot === true || author.system === true) return ignored("written by a bot");
  if (type !== DEFAULT && type !== REPLY) return ignored(`a service message of type ${type}`);
  if (((received.flags ?? 0) & EPHEMERAL) > 0) return ignored("a message that only its sender sees");
  const direct = guild === undefined;
  if (direct && kind !== undefined && kind !== DIRECT) return ignored(`a chat of type ${kind}`);

  const text = readWords(received, bot);
  const attachments = readFiles(received);
  const references = readReferences(received, bot);
  const isForward = references.some((one) => one.kind === "forward");
  // Accept a reply that contains only a mention of the bot, because the message being replied to supplies the
  // content.
  const hasMentioned = isAddressedIn(received, bot);
  const isEmpty =
    text === "" && attachments.length === 0 && !isForward && !(hasMentioned && references.length > 0);
  const target: ReplyTarget = { chat, ...(!direct && { answers: id }) };
  const content = {
    direct,
    sender: senderOf(author, received.member?.nick),
    text,
    attachments,
    ...(references.length > 0 && { references }),
    target,
    message: id,
  };
  if (direct)
    return isEmpty && received.content ? ignored("no text") : directMessage(content, author, access, isEmpty);
  const answersBot = received.referenced_message?.author?.id === bot;
  const decision = access.group(guild, author.id, hasMentioned || answersBot);
  if (decision.becomes === "ignored") return ignored(decision.reason, decision.unlisted);
  if (!isEmpty) return { kind: decision.becomes, admission: decision.admission, ...content };
  if (decision.becomes !== "message" || hasMentioned || !answersBot) return ignored("no text");
  return {
    kind: "refused",
    target,
    text: MENTION_NEEDED,
    note: "Discord sends the bot no text without a mention",
  };
}

/**
 * Returns true if the text mentions the bot, or if Discord added a mention because the message replies to the bot.
 */
function isAddressedIn({ mentions = [], content = "" }: DiscordMessage, bot: string): boolean {
  return (
    mentions.some(({ id }) => id === bot) || content.includes(`<@${bot}>`) || content.includes(`<@!${bot}>`)
  );
}

type Content = Omit<InboundMessage, "admission">;

function directMessage(
  content: Content,
  author: DiscordPerson,
  access: ChannelAccess,
  isEmpty: boolean,
): Inbound {
  const decision = access.direct(author.id);
  const { target } = content;
  if (!decision.allowed)
    return inboundForDenial(author, target, decision) ?? { kind: "ignored", note: decision.reason };
  return isEmpty ? unreadableMessage(target) : { kind: "message", admission: decision.admission, ...content };
}

type Denial = Extract<ReturnType<ChannelAccess["direct"]>, { allowed: false }>;

function inboundForDenial(
  user: DiscordPerson,
  target: ReplyTarget,
  { answer, reason: note }: Denial,
): Inbound | undefined {
  if (answer === "ignore") return undefined;
  if (answer === "refuse")
    return { kind: "refused", target, text: unknownSenderText("discord", user.id), note };
  return { kind: "unpaired", sender: user.id, meta: metaOf(user), target, note };
}

/**
 * Parses a command, which always addresses the bot. `/ask` contains a message; any other command is the chat command
 * of the same name.
 */
function readCommand(payload: Record<string, unknown>, access: ChannelAccess): Inbound {
  const parsed = commandSchema.safeParse(payload);
  if (!parsed.success) return { kind: "ignored", note: "not a command of a known form" };
  const command = parsed.data;
  const { guild_id: guild, member } = command;
  const target = replyTarget(command);
  const ignored = (note: string, unlisted?: string): Inbound => ({ kind: "ignored", note, target, unlisted });
  const user = member?.user ?? command.user;
  if (user === undefined) return ignored("no sender");
  if (user.bot === true) return ignored("written by a bot");
  const direct = guild === undefined;
  let admission: Admission;
  if (direct) {
    const decision = access.direct(user.id);
    if (!decision.allowed) return inboundForDenial(user, target, decision) ?? ignored(decision.reason);
    ({ admission } = decision);
  } else {
    const decision = access.group(guild, user.id, true);
    if (decision.becomes === "ignored") {
      const { reason, unlisted } = decision;
      return {
        ...ignored(reason, unlisted),
        ...(unlisted !== undefined && { text: unknownGuildText(guild) }),
      };
    }
    ({ admission } = decision);
  }
  const text = textOf(command);
  const attachments = Object.values(command.data.resolved?.attachments ?? {}).map(readFile);
  if (text === "" && attachments.length === 0) return ignored("no text");
  const sender: Sender = senderOf(user, member?.nick);
  return { kind: "message", direct, admission, sender, text, attachments, target };
}

/** Parses a button press, which is authorized like a message from the same person. */
function readPress(press: DiscordPress, access: ChannelAccess): Inbound {
  const {
    application_id: application,
    token,
    channel_id: chat,
    guild_id: guild,
    member,
    message,
    data,
  } = press;
  const user = member?.user ?? press.user;
  if (user === undefined) return { kind: "ignored", note: "no sender" };
  const direct = guild === undefined;
  const decision = direct ? access.direct(user.id) : access.group(guild, user.id, true);
  return {
    kind: "pressed",
    direct,
    ...("admission" in decision && { admission: decision.admission }),
    sender: senderOf(user, member?.nick),
    target: { chat },
    press: data.custom_id,
    ticket: `${application}/${token}`,
    message: message.id,
    ...(message.content !== undefined && { text: message.content }),
  };
}

/**
 * Returns the time encoded in an id:
 * https://docs.discord.com/developers/reference#snowflakes-snowflake-id-format-structure-left-to-right
 */
function snowflakeTime(id: string): number {
  return Number(BigInt(id) >> 22n) + DISCORD_EPOCH_MS;
}

/**
 * Returns the address for a reply. The address's `ticket.token` is `<application id>/<interaction token>`, a part of
 * the interaction's webhook URL.
 */
function replyTarget({
  id,
  application_id,
  token,
  channel_id,
  guild_id,
  data,
}: DiscordCommandEvent): ReplyTarget {
  const hidden = isPrivateAnswer(data.name, guild_id !== undefined);
  return {
    chat: channel_id,
    ticket: {
      token: `${application_id}/${token}`,
      expiresAt: snowflakeTime(id) + TICKET_MS,
      ...(hidden && { private: true }),
    },
  };
}

function textOf({ data: { name, options = [] } }: DiscordCommandEvent): string {
  const value = (option: string): string => {
    const given = options.find((candidate) => candidate.name === option)?.value;
    return typeof given === "string" ? given.trim() : "";
  };
  return name === "ask" ? value("text") : `/${name} ${value("name")}`.trim();
}

function metaOf({ username, global_name: firstName }: DiscordPerson): Record<string, string> {
  return { ...(username !== undefined && { username }), ...(firstName && { firstName }) };
}
