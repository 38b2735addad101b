import type { Attachment, InboundMessage, Reference } from "../../contract/message.ts";
import type { Channel } from "../channels/channel.ts";
import type { Media, ReadFile, UnheardReason } from "../media/media.ts";
import type { ModelImage } from "../models/model.ts";
import type { Quoted } from "../prompt/speaker.ts";
import { indented, oneLine, remark, speakerText } from "../prompt/text.ts";

/** Maximum number of images per question. */
const MAX_IMAGES = 4;
const MAX_FILES = 4;
const MAX_RECORDINGS = 4;
/**
 * Maximum total size of a question's images, in bytes. As base64, the images and the text fit into a request of 32
 * MB.
 */
const MAX_SHOWN_BYTES = 22_000_000;
/**
 * Maximum total length of file text in a question, in characters. If `TEXT_SHARE` of the model's context is less,
 * that share is the limit.
 */
const MAX_TEXT = 100_000;
const TEXT_SHARE = 0.3;
const CHARACTERS_A_TOKEN = 4;
const LOAD_MS = 20_000;
/** Timeout in milliseconds for fetching and reading all files of a question. */
const READ_MS = 120_000;
const LONGEST_NAME = 120;
/** Maximum length, in characters, of a quoted message; the rest is omitted. */
const LONGEST_QUOTED = 6_000;

export interface ReadMessage {
  text: string;
  images: readonly ModelImage[];
  /** Messages that this message refers to. */
  quoted: readonly Quoted[];
}

type Content = Pick<InboundMessage, "text" | "attachments" | "references">;

interface ReadQuestion {
  messages: ReadMessage[];
  /**
   * Reason why recordings could not be transcribed. Set only if the question contains nothing else; the model is then
   * not asked.
   */
  unheard?: UnheardReason | undefined;
}

export interface ReadOptions {
  channel: Pick<Channel, "load" | "mediaMaxBytes">;
  media: Pick<Media, "read" | "transcriptRefusal">;
  contextTokens: number;
  signal: AbortSignal;
}

/**
 * Fetches and reads a question's files. Appends each file's placeholder and text to the text of the message that
 * contains the file.
 */
export async function readMessages(
  messages: readonly Content[],
  options: ReadOptions,
): Promise<ReadQuestion> {
  const all = messages.flatMap(filesOf);
  const fitting = all.filter(({ sizeBytes = 0 }) => sizeBytes <= options.channel.mediaMaxBytes);
  const wanted = [
    ...fitting.filter(({ kind }) => kind === "image").slice(0, MAX_IMAGES),
    ...fitting.filter(({ kind }) => kind === "file").slice(0, MAX_FILES),
    ...fitting
      .filter(
        (attachment) =>
          attachment.kind === "audio" && options.media.transcriptRefusal(attachment) === undefined,
      )
      .slice(0, MAX_RECORDINGS),
  ];
  const read = wanted.length === 0 ? new Map<Attachment, ReadFile>() : await readAll(wanted, options);
  const files = bounded(all, read, options.contextTokens);
  const whyUnheard = (recording: Attachment): UnheardReason | undefined =>
    options.media.transcriptRefusal(recording) ?? (fitting.includes(recording) ? undefined : "too long");
  const isUnheard =
    all.length > 0 &&
    messages.every(({ text, references = [] }) => text.trim() === "" && references.length === 0) &&
    all.every((attachment) => attachment.kind === "audio" && !files.get(attachment)?.text);
  return {
    messages: messages.map((message) => ({
      text: textWith(message, files),
      images: filesOf(message).flatMap((attachment) => files.get(attachment)?.image ?? []),
      quoted: (message.references ?? []).map((reference) => readReference(reference, files)),
    })),
    unheard: isUnheard ? (all.map(whyUnheard).find(Boolean) ?? "failed") : undefined,
  };
}

function filesOf({ attachments, references = [] }: Content): Attachment[] {
  return [...attachments, ...references.flatMap((reference) => reference.attachments)];
}

function readReference(reference: Reference, files?: ReadonlyMap<Attachment, ReadFile>): Quoted {
  const { kind, author, text, attachments } = reference;
  const short = text.length > LONGEST_QUOTED ? `${text.slice(0, LONGEST_QUOTED - 1).toWellFormed()}…` : text;
  const said = textWith({ text: short, attachments }, files);
  return { kind, ...(author && { author }), text: speakerText(said) };
}

/**
 * Limits the total bytes and characters of a question's files; the first files have priority. Replaces a PDF above
 * the byte limit with its extracted text. Cuts text at the character limit.
 */
function bounded(
  all: readonly Attachment[],
  read: ReadonlyMap<Attachment, ReadFile>,
  contextTokens: number,
): Map<Attachment, ReadFile> {
  const files = new Map<Attachment, ReadFile>();
  let bytes = MAX_SHOWN_BYTES;
  let characters = Math.min(MAX_TEXT, Math.floor(contextTokens * CHARACTERS_A_TOKEN * TEXT_SHARE));
  for (const attachment of all) {
    const { image, text = "", facts } = read.get(attachment) ?? {};
    if (facts === undefined) continue;
    const isShown = image !== undefined && image.data.byteLength <= bytes;
    if (isShown) {
      bytes -= image.data.byteLength;
      files.set(attachment, { image, facts });
    } else if (text.length <= characters) {
      characters -= text.length;
      files.set(attachment, { text, facts: [...facts, ...(image && text === "" ? ["not read"] : [])] });
    } else {
      const part = text.slice(0, characters).toWellFormed();
      const cut = characters === 0 ? "not read" : `only its first ${characters} characters`;
      files.set(attachment, { text: part, facts: [...facts, cut] });
      characters = 0;
    }
  }
  return files;
}

function textWith(
  { text, attachments }: Pick<Content, "text" | "attachments">,
  files: ReadonlyMap<Attachment, ReadFile> = new Map(),
): string {
  const lines = attachments.flatMap((attachment) => {
    const file = files.get(attachment);
    return [placeholder(attachment, file), indented(speakerText(file?.text ?? ""))];
  });
  return [text, ...lines].filter((line) => line !== "").join("\n");
}

/** Returns the text of a group message, preceded by the messages that it refers to. */
export function contextText(message: Content): string {
  const quoted = (message.references ?? []).map((reference) => {
    const { author, text } = readReference(reference);
    return remark("quoted", author === "bot" ? "from you" : (author?.name ?? ""), text);
  });
  return [...quoted, textWith(message)].filter((line) => line !== "").join("\n");
}

/**
 * Returns the line that represents a file in the prompt: `[image: photo.jpg]`, `[file: report.pdf, 1.2 MB, not
 * read]`, `[voice note, 1:05, transcribed]`.
 */
function placeholder({ kind, name = "", sizeBytes, seconds }: Attachment, file?: ReadFile): string {
  const called = oneLine(name, LONGEST_NAME);
  if (kind === "audio") {
    const length = seconds === undefined ? "" : formatLength(seconds);
    return remark(
      called === "" ? "voice note" : kind,
      called,
      length,
      ...(file?.facts ?? ["not transcribed"]),
    );
  }
  if (file !== undefined) return remark(kind, called, ...file.facts);
  return remark(kind, called, sizeBytes === undefined ? "" : formatSize(sizeBytes), "not read");
}

/** Reads files in parallel. After the timeout, returns only the files read so far. */
async function readAll(
  wanted: readonly Attachment[],
  { channel, media, signal }: ReadOptions,
): Promise<Map<Attachment, ReadFile>> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
  const files = new Map<Attachment, ReadFile>();
  const reads = wanted.map(async (attachment) => {
    const data = await load(attachment, channel, bound);
    if (data === undefined) return;
    const file = await media.read(data, attachment, bound);
    if (!bound.aborted) files.set(attachment, file);
  });
  await Promise.race([Promise.all(reads), aborted(bound)]);
  return files;
}

async function load(
  attachment: Attachment,
  channel: Pick<Channel, "load" | "mediaMaxBytes">,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(LOAD_MS)]);
  try {
    const data = await Promise.race([channel.load?.(attachment, bound), aborted(bound)]);
    return data !== undefined && data.byteLength <= channel.mediaMaxBytes ? data : undefined;
  } catch {
    return undefined;
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

function formatSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** `1:05`, `1:00:00` */
function formatLength(seconds: number): string {
  const [whole, minutes] = [Math.round(seconds), Math.floor(Math.round(seconds) / 60)];
  const two = (part: number): string => String(part).padStart(2, "0");
  const rest = two(whole % 60);
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
}
