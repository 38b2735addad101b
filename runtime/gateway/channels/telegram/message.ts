import * as z from "zod/mini";
import { remark } from "../../prompt/text.ts";
import type { Attachment } from "../channel.ts";

/** The parts of an update that are read; Telegram adds others freely. https://core.telegram.org/bots/api#update */

const user = z.object({
  id: z.number(),
  is_bot: z.optional(z.boolean()),
  first_name: z.optional(z.string()),
  username: z.optional(z.string()),
});

/** https://core.telegram.org/bots/api#messageentity: places in UTF-16 units, as JavaScript counts. */
const entity = z.object({
  type: z.string(),
  offset: z.int().check(z.minimum(0)),
  length: z.int().check(z.minimum(0)),
  url: z.optional(z.string()),
  user: z.optional(user),
});

const file = z.object({
  file_id: z.string().check(z.minLength(1)),
  file_size: z.optional(z.number()),
  file_name: z.optional(z.string()),
  mime_type: z.optional(z.string()),
});

const message = z.object({
  message_id: z.number(),
  message_thread_id: z.optional(z.number()),
  is_topic_message: z.optional(z.boolean()),
  from: z.optional(user),
  /** Chat that is shown as the sender, where that is a chat: an anonymous admin or a channel. */
  sender_chat: z.optional(z.object({ id: z.number(), title: z.optional(z.string()) })),
  chat: z.object({ id: z.number(), type: z.string() }),
  reply_to_message: z.optional(
    z.object({
      from: z.optional(user),
      // In a topic everything that replies to nothing else replies to the topic's beginning.
      forum_topic_created: z.optional(z.unknown()),
    }),
  ),
  text: z.optional(z.string()),
  entities: z.optional(z.array(entity)),
  /** Since Bot API 10.1 a pasted or formatted message has these blocks in the place of a text. */
  rich_message: z.optional(z.object({ blocks: z.optional(z.unknown()) })),
  caption: z.optional(z.string()),
  caption_entities: z.optional(z.array(entity)),
  /** Of an album, which comes as a message for each of its files. */
  media_group_id: z.optional(z.string()),
  photo: z.optional(z.array(file)),
  /** A short video with its picture. */
  live_photo: z.optional(z.extend(file, { photo: z.optional(z.array(file)) })),
  document: z.optional(file),
  animation: z.optional(file),
  voice: z.optional(file),
  audio: z.optional(file),
  video: z.optional(file),
  video_note: z.optional(file),
  sticker: z.optional(
    z.extend(file, {
      emoji: z.optional(z.string()),
      is_animated: z.optional(z.boolean()),
      is_video: z.optional(z.boolean()),
    }),
  ),
  location: z.optional(z.object({ latitude: z.number(), longitude: z.number() })),
  venue: z.optional(z.object({ title: z.string(), address: z.string() })),
  contact: z.optional(
    z.object({ first_name: z.string(), last_name: z.optional(z.string()), phone_number: z.string() }),
  ),
  poll: z.optional(z.object({ question: z.string(), options: z.array(z.object({ text: z.string() })) })),
  checklist: z.optional(z.object({ title: z.string(), tasks: z.array(z.object({ text: z.string() })) })),
});

/** https://core.telegram.org/bots/api#update */
export const updateSchema = z.looseObject({ update_id: z.number(), message: z.optional(message) });

/** A piece of a text that is more than text. */
export type TelegramEntity = z.infer<typeof entity>;
/** A message of a person, a bot or the chat itself. */
export type TelegramMessage = z.infer<typeof message>;

type File = NonNullable<TelegramMessage["document"]>;

/** Returns what a file that came with a message is, by the field it came in. */
export function readAttachments(message: TelegramMessage, maxBytes: number): Attachment[] {
  const { live_photo: live, animation, document, voice, audio, video, video_note: note, sticker } = message;
  const { photo = live?.photo } = message;
  const picture = photo && bestSize(photo, maxBytes);
  return [
    // Photos are always JPEG: https://core.telegram.org/bots/api#photosize
    ...(picture ? [attachment("image", picture, "image/jpeg")] : []),
    ...(live && !picture ? [attachment("video", live, "video/mp4")] : []),
    ...(animation ? [attachment("video", animation, "video/mp4")] : []),
    // An animation comes as a document once more, for clients that know no animations.
    ...(document && !animation ? [attachment(kindOf(document.mime_type), document)] : []),
    ...(voice ? [attachment("audio", voice, "audio/ogg")] : []),
    ...(audio ? [attachment("audio", audio, "audio/mpeg")] : []),
    ...(video ? [attachment("video", video, "video/mp4")] : []),
    ...(note ? [attachment("video", note, "video/mp4")] : []),
    ...(sticker ? [readSticker(sticker)] : []),
  ];
}

/** Returns what is no text and no file, in words. */
export function readOthers({ venue, location, contact, poll, checklist }: TelegramMessage): string[] {
  const name = contact && [contact.first_name, contact.last_name].filter(Boolean).join(" ");
  return [
    ...(venue ? [remark("place", venue.title, venue.address)] : []),
    ...(location ? [remark("location", `${location.latitude}`, `${location.longitude}`)] : []),
    ...(contact ? [remark("contact", name ?? "", contact.phone_number)] : []),
    ...(poll ? [remark("poll", `${poll.question} ${poll.options.map(({ text }) => text).join(" / ")}`)] : []),
    ...(checklist ? [remark("checklist", checklist.title, ...checklist.tasks.map(({ text }) => text))] : []),
  ];
}

/** The largest that may be fetched, else the smallest. Telegram lists a photo's sizes in growing order. */
function bestSize(sizes: readonly File[], maxBytes: number): File | undefined {
  return sizes.findLast(({ file_size: size = 0 }) => size <= maxBytes) ?? sizes[0];
}

/** https://core.telegram.org/bots/api#sticker */
function readSticker(sticker: NonNullable<TelegramMessage["sticker"]>): Attachment {
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
  };
}
