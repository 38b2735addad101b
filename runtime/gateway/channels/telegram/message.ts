import type { Attachment } from "../../../contract/message.ts";
import * as z from "zod/mini";
import { remark } from "../../prompt/text.ts";
import { maybe } from "../../../shared/maybe.ts";
import { unknownFields } from "../channel.ts";

const user = z.object({
  id: z.number(),
  is_bot: maybe(z.boolean()),
  first_name: maybe(z.string()),
  username: maybe(z.string()),
});

/**
 * A formatted part of a message's text: https://core.telegram.org/bots/api#messageentity. `offset` and `length` are
 * in UTF-16 code units, as in JavaScript.
 */
const entity = z.object({
  type: z.string(),
  offset: z.int().check(z.minimum(0)),
  length: z.int().check(z.minimum(0)),
  url: maybe(z.string()),
  user: maybe(user),
});

const file = z.object({
  file_id: z.string().check(z.minLength(1)),
  file_size: maybe(z.number()),
  file_name: maybe(z.string()),
  /** Seconds. */
  duration: maybe(z.number()),
  mime_type: maybe(z.string()),
});

const chat = z.object({ id: z.number(), title: maybe(z.string()) });

/**
 * Attachment fields of a message. If the message replies to a message in another chat, `external_reply` has the same
 * fields for the replied-to message.
 */
const media = z.object({
  photo: maybe(z.array(file)),
  /** A short video with a still picture. */
  live_photo: maybe(z.extend(file, { photo: maybe(z.array(file)) })),
  document: maybe(file),
  animation: maybe(file),
  voice: maybe(file),
  audio: maybe(file),
  video: maybe(file),
  video_note: maybe(file),
  sticker: maybe(
    z.extend(file, {
      emoji: maybe(z.string()),
      is_animated: maybe(z.boolean()),
      is_video: maybe(z.boolean()),
    }),
  ),
  location: maybe(z.object({ latitude: z.number(), longitude: z.number() })),
  venue: maybe(z.object({ title: z.string(), address: z.string() })),
  contact: maybe(
    z.object({ first_name: z.string(), last_name: maybe(z.string()), phone_number: z.string() }),
  ),
  poll: maybe(z.object({ question: z.string(), options: z.array(z.object({ text: z.string() })) })),
  checklist: maybe(z.object({ title: z.string(), tasks: z.array(z.object({ text: z.string() })) })),
  dice: maybe(z.object({ emoji: z.string(), value: z.number() })),
  game: maybe(z.object({ title: z.string(), description: maybe(z.string()) })),
  invoice: maybe(z.object({ title: z.string(), description: maybe(z.string()) })),
});

const content = z.extend(media, {
  from: maybe(user),
  /** The chat shown as the sender: an anonymous admin's group, or a channel. */
  sender_chat: maybe(chat),
  text: maybe(z.string()),
  entities: maybe(z.array(entity)),
  /** Content of a pasted or formatted message, in blocks that replace `text` (since Bot API 10.1). */
  rich_message: maybe(z.object({ blocks: maybe(z.unknown()) })),
  caption: maybe(z.string()),
  caption_entities: maybe(z.array(entity)),
});

/** Combines the fields of all variants: https://core.telegram.org/bots/api#messageorigin */
const origin = z.object({
  sender_user: maybe(user),
  sender_user_name: maybe(z.string()),
  sender_chat: maybe(chat),
  chat: maybe(chat),
});

const message = z.extend(content, {
  message_id: z.number(),
  message_thread_id: maybe(z.number()),
  is_topic_message: maybe(z.boolean()),
  /** The album's id; an album arrives as one message per file. */
  media_group_id: maybe(z.string()),
  chat: z.extend(chat, { type: z.string() }),
  reply_to_message: maybe(
    z.extend(content, {
      // Set if the replied-to message created the forum topic. Telegram marks every message in a topic as a reply to
      // the topic's first message, unless the person replied to another one.
      forum_topic_created: maybe(z.unknown()),
    }),
  ),
  /** Replied-to message in another chat: https://core.telegram.org/bots/api#externalreplyinfo */
  external_reply: maybe(z.extend(media, { origin })),
  /** Selected part of the replied-to message: https://core.telegram.org/bots/api#textquote */
  quote: maybe(z.object({ text: z.string() })),
  forward_origin: maybe(origin),
  /** Set if only the sender and the bot can see the message: https://core.telegram.org/bots/api#ephemeral-messages */
  ephemeral_message_id: maybe(z.number()),
  /** The group's new id after it became a supergroup. */
  migrate_to_chat_id: maybe(z.number()),
  migrate_from_chat_id: maybe(z.number()),
});

/** A button press: https://core.telegram.org/bots/api#callbackquery */
const press = z.object({
  id: z.string(),
  from: user,
  message: z.object({
    message_id: z.number(),
    message_thread_id: maybe(z.number()),
    is_topic_message: maybe(z.boolean()),
    chat: z.extend(chat, { type: z.string() }),
  }),
  data: z.string(),
});

/** https://core.telegram.org/bots/api#update */
export const updateSchema = z.looseObject({
  update_id: z.number(),
  message: z.optional(message),
  /** Telegram informs bots of edited messages, but not of deleted ones. */
  edited_message: maybe(message),
  callback_query: maybe(press),
});

export type TelegramPress = z.infer<typeof press>;

/** Types of documented updates that are not messages from people: https://core.telegram.org/bots/api#update */
const OTHER_UPDATES = `channel_post edited_channel_post business_connection business_message
  edited_business_message deleted_business_messages message_reaction message_reaction_count inline_query
  chosen_inline_result shipping_query pre_checkout_query purchased_paid_media poll poll_answer
  my_chat_member chat_member chat_join_request chat_boost removed_chat_boost managed_bot`.split(/\s+/);

/** Documented message fields that are irrelevant to the model: https://core.telegram.org/bots/api#message */
const SILENT_FIELDS = `date edit_date direct_messages_topic sender_boost_count sender_business_bot sender_tag
  business_connection_id is_automatic_forward reply_to_story reply_to_checklist_task_id reply_to_poll_option_id via_bot
  has_protected_content is_from_offline is_paid_post author_signature paid_star_count
  link_preview_options suggested_post_info effect_id show_caption_above_media has_media_spoiler reply_markup story
  paid_media forward_from forward_from_chat forward_from_message_id forward_signature forward_sender_name forward_date
  receiver_user`.split(/\s+/);

/** Service messages, such as a new member or a pinned message: https://core.telegram.org/bots/api#message */
const NOTICES =
  /^(?:new_chat_|left_chat_|delete_chat_|(?:super)?group_chat_|channel_chat_|message_auto_delete_|migrate_|pinned_message$|successful_payment$|refunded_payment$|users_shared$|chat_shared$|(?:unique_)?gift|connected_website$|write_access_allowed$|passport_data$|proximity_alert_|boost_added$|chat_background_|checklist_tasks_|direct_message_price_|paid_message_price_|suggested_post_|forum_topic_|general_forum_|giveaway|community_chat_|chat_owner_|poll_option_|managed_bot_|video_chat_|web_app_data$)/;

export function isNotice(part: unknown): boolean {
  return Object.keys(Object(part)).some((key) => NOTICES.test(key));
}

export function unknownParts(payload: Record<string, unknown>): string[] {
  const { message: said, edited_message: received = said } = payload;
  return [
    ...unknownFields(payload, "", { read: updateSchema.shape, left: OTHER_UPDATES }),
    ...unknownFields(received, "message", { read: message.shape, left: SILENT_FIELDS }).filter(
      (field) => !NOTICES.test(field.slice("message.".length)),
    ),
  ];
}

export type TelegramEntity = z.infer<typeof entity>;
export type TelegramMessage = z.infer<typeof message>;
export type TelegramContent = z.infer<typeof content>;
export type TelegramOrigin = z.infer<typeof origin>;
export type TelegramMedia = z.infer<typeof media>;

type File = NonNullable<TelegramMedia["document"]>;

export function readAttachments(message: TelegramMedia, maxBytes: number): Attachment[] {
  const { live_photo: live, animation, document, voice, audio, video, video_note: note, sticker } = message;
  const { photo = live?.photo } = message;
  const picture = photo && bestSize(photo, maxBytes);
  return [
    // Photos are always JPEG: https://core.telegram.org/bots/api#photosize
    ...(picture ? [attachment("image", picture, "image/jpeg")] : []),
    ...(live && !picture ? [attachment("video", live, "video/mp4")] : []),
    ...(animation ? [attachment("video", animation, "video/mp4")] : []),
    // Telegram also sends an animation as a document, for older clients. Skip that duplicate.
    ...(document && !animation ? [attachment(kindOf(document.mime_type), document)] : []),
    ...(voice ? [attachment("audio", voice, "audio/ogg")] : []),
    ...(audio ? [attachment("audio", audio, "audio/mpeg")] : []),
    ...(video ? [attachment("video", video, "video/mp4")] : []),
    ...(note ? [attachment("video", note, "video/mp4")] : []),
    ...(sticker ? [readSticker(sticker)] : []),
  ];
}

export function readOthers(media: TelegramMedia): string[] {
  const { venue, location, contact, poll, checklist, dice, game, invoice } = media;
  const name = contact && [contact.first_name, contact.last_name].filter(Boolean).join(" ");
  return [
    ...(venue ? [remark("place", venue.title, venue.address)] : []),
    ...(location ? [remark("location", `${location.latitude}`, `${location.longitude}`)] : []),
    ...(contact ? [remark("contact", name ?? "", contact.phone_number)] : []),
    ...(poll ? [remark("poll", `${poll.question} ${poll.options.map(({ text }) => text).join(" / ")}`)] : []),
    ...(checklist ? [remark("checklist", checklist.title, ...checklist.tasks.map(({ text }) => text))] : []),
    ...(dice ? [remark("dice", dice.emoji, `${dice.value}`)] : []),
    ...(game ? [remark("game", game.title, game.description ?? "")] : []),
    ...(invoice ? [remark("invoice", invoice.title, invoice.description ?? "")] : []),
  ];
}

/** Returns the largest size within `maxBytes`, else the smallest. Telegram sorts sizes in ascending order. */
function bestSize(sizes: readonly File[], maxBytes: number): File | undefined {
  return sizes.findLast(({ file_size: size = 0 }) => size <= maxBytes) ?? sizes[0];
}

/** https://core.telegram.org/bots/api#sticker */
function readSticker(sticker: NonNullable<TelegramMedia["sticker"]>): Attachment {
  const named = { ...sticker, file_name: ["sticker", sticker.emoji].filter(Boolean).join(" ") };
  if (sticker.is_animated === true) return attachment("file", named, "application/x-tgsticker");
  if (sticker.is_video === true) return attachment("video", named, "video/webm");
  return attachment("image", named, "image/webp");
}

function kindOf(mediaType = ""): Attachment["kind"] {
  const kind = mediaType.split("/", 1)[0];
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "file";
}

function attachment(kind: Attachment["kind"], file: File, usual?: string): Attachment {
  const mediaType = file.mime_type ?? usual;
  return {
    kind,
    reference: file.file_id,
    ...(file.file_name !== undefined && { name: file.file_name }),
    ...(mediaType !== undefined && { mediaType }),
    ...(file.file_size !== undefined && { sizeBytes: file.file_size }),
    ...(kind === "audio" && file.duration !== undefined && { seconds: file.duration }),
  };
}
