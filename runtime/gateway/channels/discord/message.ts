import type { Attachment, Reference, Sender } from "../../../contract/message.ts";
import * as z from "zod/mini";
import { attachmentKind } from "../files.ts";
import { remark } from "../../prompt/text.ts";
import { maybe } from "../../../shared/maybe.ts";
import { unknownFields } from "../channel.ts";

// Discord adds fields at any time, so these schemas accept unknown fields.

const snowflake = z.string().check(z.regex(/^\d{1,20}$/));

/** https://docs.discord.com/developers/resources/user#user-object */
const person = z.object({
  id: snowflake,
  username: maybe(z.string()),
  global_name: maybe(z.string()),
  bot: maybe(z.boolean()),
  system: maybe(z.boolean()),
});
/** https://docs.discord.com/developers/resources/guild#guild-member-object */
const member = { nick: maybe(z.string()) };

/** https://docs.discord.com/developers/resources/message#attachment-object */
export const file = z.object({
  id: snowflake,
  filename: maybe(z.string()),
  content_type: maybe(z.string()),
  size: maybe(z.number()),
  duration_secs: maybe(z.number()),
  url: z.string(),
});

/** https://docs.discord.com/developers/resources/sticker#sticker-item-object */
const sticker = z.object({ id: snowflake, name: maybe(z.string()), format_type: maybe(z.number()) });

/** https://docs.discord.com/developers/resources/poll#poll-object */
const poll = z.object({
  question: z.object({ text: z.string() }),
  answers: maybe(z.array(z.object({ poll_media: maybe(z.object({ text: maybe(z.string()) })) }))),
});

const content = {
  content: maybe(z.string()),
  mentions: maybe(z.array(z.extend(person, { member: maybe(z.object(member)) }))),
  attachments: maybe(z.array(file)),
  sticker_items: maybe(z.array(sticker)),
  poll: maybe(poll),
};

/** A message: https://docs.discord.com/developers/resources/message#message-object */
const message = z.object({
  ...content,
  id: snowflake,
  type: maybe(z.number()),
  channel_id: snowflake,
  channel_type: maybe(z.number()),
  // Reject a malformed server id, which `maybe` would drop: the message would then count as a direct message.
  guild_id: z.optional(snowflake),
  author: person,
  member: maybe(z.object(member)),
  webhook_id: maybe(snowflake),
  flags: maybe(z.number()),
  message_reference: maybe(z.object({ type: maybe(z.number()) })),
  message_snapshots: maybe(z.array(z.object({ message: z.object(content) }))),
  referenced_message: maybe(z.object({ ...content, author: maybe(person) })),
});

/**
 * A message received from Discord's gateway. The receiving process adds `bot`, the bot's user id.
 * https://docs.discord.com/developers/events/gateway-events#message-create
 */
export const messageEvent = z.object({ t: z.literal("MESSAGE_CREATE"), bot: snowflake, d: message });

/** Members of every interaction: https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object */
const interaction = {
  id: snowflake,
  application_id: snowflake,
  token: z.string(),
  channel_id: snowflake,
  guild_id: z.optional(snowflake),
  member: maybe(z.object({ user: person, ...member })),
  user: maybe(person),
};

export const commandSchema = z.object({
  ...interaction,
  type: z.literal(2),
  data: z.object({
    name: z.string(),
    options: maybe(z.array(z.object({ name: z.string(), value: z.unknown() }))),
    resolved: maybe(z.object({ attachments: maybe(z.record(z.string(), file)) })),
  }),
});

/** A button press: https://docs.discord.com/developers/components/reference#button */
export const pressSchema = z.object({
  ...interaction,
  type: z.literal(3),
  data: z.object({ custom_id: z.string() }),
  message: z.object({ id: snowflake, content: maybe(z.string()) }),
});

export type DiscordPerson = z.infer<typeof person>;
export type DiscordMessage = z.infer<typeof message>;
export type DiscordCommandEvent = z.infer<typeof commandSchema>;
export type DiscordPress = z.infer<typeof pressSchema>;
type Content = Pick<DiscordMessage, keyof typeof content>;

const SILENT_IN_COMMANDS =
  `version locale guild_locale context app_permissions entitlements channel guild message
  authorizing_integration_owners attachment_size_limit`.split(/\s+/);
/**
 * Documented message fields that are irrelevant to the model:
 * https://docs.discord.com/developers/resources/message#message-object-message-structure
 */
const SILENT_IN_MESSAGES =
  `timestamp edited_timestamp tts mention_everyone mention_roles mention_channels embeds
  reactions nonce pinned activity application application_id interaction_metadata interaction thread components
  stickers position role_subscription_data resolved call shared_client_theme`.split(/\s+/);

export function unknownParts(payload: Record<string, unknown>): string[] {
  if (payload["t"] === undefined)
    return unknownFields(payload, "", { read: commandSchema.shape, left: SILENT_IN_COMMANDS });
  return [
    ...unknownFields(payload, "", { read: messageEvent.shape, left: [] }),
    ...unknownFields(payload["d"], "d", { read: message.shape, left: SILENT_IN_MESSAGES }),
  ];
}

/** A mention of a user; the form with `!` is deprecated: https://docs.discord.com/developers/reference#message-formatting-formats */
const USER = /<@!?(\d{1,20})>( ?)/g;

/** Returns a message's text without mentions of the bot. Other mentions are replaced with names. */
export function readWords({ content: said = "", mentions = [], poll: asked }: Content, bot: string): string {
  const names = new Map(mentions.map((one) => [one.id, nameOf(one, one.member?.nick)]));
  const text = said
    // Remove a mention of the bot together with the space after it.
    .replaceAll(USER, (mention, id: string, space: string) => {
      if (id === bot) return "";
      return names.has(id) ? `@${names.get(id)}${space}` : mention;
    })
    .trim();
  return [text, ...(asked ? [pollWords(asked)] : [])].filter((part) => part !== "").join("\n");
}

function pollWords({ question, answers = [] }: z.infer<typeof poll>): string {
  const choices = answers.map(({ poll_media: choice }) => choice?.text ?? "").filter((text) => text !== "");
  return remark("poll", [question.text, choices.join(" / ")].join(" ").trim());
}

export function readFiles({ attachments = [], sticker_items: stickers = [] }: Content): Attachment[] {
  return [...attachments.map(readFile), ...stickers.map(readSticker)];
}

export function readFile(sent: z.infer<typeof file>): Attachment {
  const { filename, content_type, size, duration_secs: seconds, url } = sent;
  const mediaType = content_type?.split(";", 1)[0]?.trim().toLowerCase();
  const kind = attachmentKind(mediaType);
  return {
    kind,
    reference: url,
    ...(filename !== undefined && { name: filename }),
    ...(mediaType !== undefined && { mediaType }),
    ...(size !== undefined && { sizeBytes: size }),
    ...(seconds !== undefined && kind === "audio" && { seconds }),
  };
}

/** Formats of stickers: https://docs.discord.com/developers/resources/sticker#sticker-object-sticker-format-types */
const LOTTIE = 3;
const GIF = 4;

/** https://docs.discord.com/developers/reference#image-formatting-cdn-endpoints */
function readSticker({ id, name = "", format_type: format }: z.infer<typeof sticker>): Attachment {
  const called = { name: `sticker ${name}`.trim() };
  if (format === LOTTIE)
    return { ...called, kind: "file", reference: `https://cdn.discordapp.com/stickers/${id}.json` };
  const reference =
    format === GIF
      ? `https://media.discordapp.net/stickers/${id}.gif`
      : `https://cdn.discordapp.com/stickers/${id}.png`;
  return { ...called, kind: "image", mediaType: format === GIF ? "image/gif" : "image/png", reference };
}

/** A reference's type: https://docs.discord.com/developers/resources/message#message-reference-types */
const FORWARD = 1;

/** Returns the messages that `received` forwards, or the message to which it replies. */
export function readReferences(received: DiscordMessage, bot: string): Reference[] {
  const {
    message_reference: reference,
    message_snapshots: passed = [],
    referenced_message: answered,
  } = received;
  if (reference?.type === FORWARD) {
    return passed.map((one) => ({
      kind: "forward",
      text: readWords(one.message, bot),
      attachments: readFiles(one.message),
    }));
  }
  if (answered === undefined) return [];
  const { author } = answered;
  const [text, attachments] = [readWords(answered, bot), readFiles(answered)];
  const isHidden = text === "" && attachments.length === 0;
  return [
    {
      kind: "reply",
      ...(author && { author: author.id === bot ? "bot" : senderOf(author) }),
      text: isHidden ? remark("message", "the bot cannot see its text") : text,
      attachments,
    },
  ];
}

/** `nick`: name on the server. */
export function senderOf(user: DiscordPerson, nick?: string): Sender {
  const { id, username } = user;
  const name = nick ?? user.global_name ?? username;
  return { id, ...(name !== undefined && { name }), ...(username !== undefined && { username }) };
}

function nameOf(user: DiscordPerson, nick?: string): string {
  return senderOf(user, nick).name ?? user.id;
}
