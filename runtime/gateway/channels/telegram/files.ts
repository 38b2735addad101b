import type { Attachment } from "../channel.ts";
import type { TelegramMessage } from "./message.ts";

type File = NonNullable<TelegramMessage["document"]>;

/** What a file that came with a message is, by the field it came in. */
export function readAttachments(message: TelegramMessage, maxBytes: number): Attachment[] {
  const { photo, animation, document, voice, audio, video, video_note: note, sticker } = message;
  const picture = photo && bestSize(photo, maxBytes);
  return [
    // Photos are always JPEG: https://core.telegram.org/bots/api#photosize
    ...(picture ? [attachment("image", picture, "image/jpeg")] : []),
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

/** What is no text and no file, in words. */
export function readOthers({ venue, location, contact, poll }: TelegramMessage): string[] {
  const name = contact && [contact.first_name, contact.last_name].filter(Boolean).join(" ");
  return [
    ...(venue ? [`[place: ${venue.title}, ${venue.address}]`] : []),
    ...(location ? [`[location: ${location.latitude}, ${location.longitude}]`] : []),
    ...(contact ? [`[contact: ${name}, ${contact.phone_number}]`] : []),
    ...(poll ? [`[poll: ${poll.question} ${poll.options.map(({ text }) => text).join(" / ")}]`] : []),
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
