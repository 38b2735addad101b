import type { Attachment, Channel, InboundMessage, Reference } from "../channels/channel.ts";
import type { Image } from "../models/model.ts";
import type { Quoted } from "../prompt/speaker.ts";
import { oneLine, remark, speakerText } from "../prompt/text.ts";

/** Images that one question shows to the model. */
const MOST_IMAGES = 4;
const LOAD_MS = 20_000;
const LONGEST_NAME = 120;
/** Characters of a text that a message refers to. */
const LONGEST_QUOTED = 6_000;

/** Message as the model sees it. */
export interface ReadMessage {
  text: string;
  images: readonly Image[];
  /** Messages that it refers to. */
  quoted: readonly Quoted[];
}

type Content = Pick<InboundMessage, "text" | "attachments" | "references">;

/**
 * Fetches the images of messages that are answered together and puts a line into the text for every file
 * that came along. What is no image, is too large, is one too many or cannot be had stays that line.
 */
export async function readMessages(
  messages: readonly Content[],
  channel: Pick<Channel, "load" | "mediaMaxBytes">,
  signal: AbortSignal,
): Promise<ReadMessage[]> {
  const all = messages.flatMap(filesOf);
  const wanted = all.filter((attachment) => isImage(attachment, channel.mediaMaxBytes)).slice(0, MOST_IMAGES);
  const images = wanted.length === 0 ? new Map<Attachment, Image>() : await loadAll(wanted, channel, signal);
  return messages.map((message) => ({
    text: textWith(message, images),
    images: filesOf(message).flatMap((attachment) => images.get(attachment) ?? []),
    quoted: (message.references ?? []).map((reference) => readReference(reference, images)),
  }));
}

/** The files of a message, and then those of what it refers to. */
function filesOf({ attachments, references = [] }: Content): Attachment[] {
  return [...attachments, ...references.flatMap((reference) => reference.attachments)];
}

function readReference(reference: Reference, images?: ReadonlyMap<Attachment, Image>): Quoted {
  const { kind, author } = reference;
  const text = textWith(reference, images);
  const short = text.length > LONGEST_QUOTED ? `${text.slice(0, LONGEST_QUOTED - 1).toWellFormed()}…` : text;
  return { kind, ...(author && { author }), text: speakerText(short) };
}

/** A message's text, and a line for every file that came along. */
function textWith(
  { text, attachments }: Pick<Content, "text" | "attachments">,
  images: ReadonlyMap<Attachment, Image> = new Map(),
): string {
  const files = attachments.map((attachment) => placeholder(attachment, images.get(attachment)));
  return [text, ...files].filter((line) => line !== "").join("\n");
}

/** A message as a part of what was said in a group: in one text, with what it refers to. */
export function contextText(message: Content): string {
  const quoted = (message.references ?? []).map((reference) => {
    const { author, text } = readReference(reference);
    return remark("quoted", author === "bot" ? "from you" : (author?.name ?? ""), text);
  });
  return [...quoted, textWith(message)].filter((line) => line !== "").join("\n");
}

/** The line in place of a file: `[image: photo.jpg]`, `[file: report.pdf, 1.2 MB, not read]`. */
function placeholder({ kind, name = "", sizeBytes }: Attachment, image?: Image): string {
  const called = oneLine(name, LONGEST_NAME);
  if (image !== undefined) return remark(kind, called);
  return remark(kind, called, sizeBytes === undefined ? "" : formatSize(sizeBytes), "not read");
}

function isImage({ kind, sizeBytes }: Attachment, limit: number): boolean {
  return kind === "image" && (sizeBytes ?? 0) <= limit;
}

/** Side by side. One that hangs is left after a time, whether or not it heeds the signal. */
async function loadAll(
  wanted: readonly Attachment[],
  channel: Pick<Channel, "load" | "mediaMaxBytes">,
  signal: AbortSignal,
): Promise<Map<Attachment, Image>> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(LOAD_MS)]);
  const late = new Promise<void>((resolve) =>
    bound.addEventListener("abort", () => resolve(), { once: true }),
  );
  const images = new Map<Attachment, Image>();
  const loads = wanted.map(async (attachment) => {
    const image = await load(attachment, channel, bound);
    if (image !== undefined && !bound.aborted) images.set(attachment, image);
  });
  await Promise.race([Promise.all(loads), late]);
  return images;
}

async function load(
  attachment: Attachment,
  channel: Pick<Channel, "load" | "mediaMaxBytes">,
  signal: AbortSignal,
): Promise<Image | undefined> {
  try {
    const data = await channel.load?.(attachment, signal);
    const mediaType = data && imageType(data);
    if (data === undefined || mediaType === undefined || data.byteLength > channel.mediaMaxBytes) return;
    return { mediaType, data };
  } catch {
    return undefined;
  }
}

/** By the first bytes: models refuse a whole question over an image that is called by a wrong type. */
function imageType(data: Uint8Array): string | undefined {
  const head = Buffer.from(data.subarray(0, 12)).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  if (head.startsWith("RIFF") && head.endsWith("WEBP")) return "image/webp";
  return undefined;
}

function formatSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
