import type { Attachment } from "../../contract/message.ts";
import * as z from "zod/mini";
import { parseJson } from "../../shared/json.ts";
import type { ModelImage } from "../models/model.ts";
import type { Transcriber } from "../models/transcription.ts";
import type { MediaProcess } from "./media-process.ts";
import { type ImageFacts, imageFacts, imageType } from "./image.ts";

/**
 * Maximum size, in bytes, of an image before base64 encoding, which makes it a third larger. Anthropic has the lowest
 * limits of the providers: 5 MB in base64, and 8,000 pixels per side
 * (https://docs.claude.com/en/docs/build-with-claude/vision).
 */
const MAX_IMAGE_BYTES = 3_750_000;
const LONGEST_SIDE = 8_000;
/**
 * Longest side, in pixels, of a picture that is decoded. Larger pictures are refused, because a file of a few
 * kilobytes can expand to gigabytes.
 */
const LONGEST_DECODED_SIDE = 20_000;
const MAX_PIXELS = 100_000_000;
/** Memory, in bytes, per decoded pixel, measured with photos of 12 and 49 megapixels. */
const BYTES_A_PIXEL = 10;
/** Memory of the decoding process. */
const PROGRAM_BYTES = 200_000_000;
/** Memory of supervisor and gateway. */
const RESERVED_BYTES = 170_000_000;
/** https://docs.claude.com/en/docs/build-with-claude/pdf-support */
const MAX_PDF_PAGES = 100;

const MAX_TEXT_BYTES = 1_000_000;
const PDF = "%PDF-";
/**
 * PDF readers accept the header anywhere in a file's first 1,024 bytes, and the end marker anywhere in its last
 * 1,024.
 */
const PDF_MARGIN = 1_024;

const documentSchema = z.object({
  text: z.optional(z.string()),
  pages: z.optional(z.number()),
  locked: z.optional(z.boolean()),
});

export interface ReadFile {
  /** Facts to show after the file's name in the prompt. */
  facts: readonly string[];
  image?: ModelImage;
  /** Text of the file. Used if there is no image, or if the image exceeds the question's byte limit. */
  text?: string;
}

export interface MediaOptions {
  apart: Pick<MediaProcess, "run">;
  memoryBytes: number;
  /** True if all configured models accept PDFs. */
  takesPdf: boolean;
  transcriber?: Transcriber | undefined;
}

/** Reason why a recording has no transcript. */
export type UnheardReason = "not configured" | "too long" | "failed";

/** Prepares files for the model. `read` never throws, but reports unreadable files in the returned `facts`. */
export class Media {
  readonly #options: MediaOptions;

  constructor(options: MediaOptions) {
    this.#options = options;
  }

  /** Returns the reason why a recording is not worth downloading; `undefined` if it can be transcribed. */
  transcriptRefusal({ seconds = 0 }: Pick<Attachment, "seconds">): UnheardReason | undefined {
    const { transcriber } = this.#options;
    if (transcriber === undefined) return "not configured";
    return seconds > transcriber.mostSeconds ? "too long" : undefined;
  }

  async read(data: Uint8Array, { kind }: Pick<Attachment, "kind">, signal: AbortSignal): Promise<ReadFile> {
    if (kind === "audio") {
      const text = await this.#options.transcriber?.transcribe(data, signal);
      return text === undefined ? { facts: ["not transcribed"] } : { text, facts: ["transcribed"] };
    }
    const facts = imageFacts(data);
    try {
      if (facts !== undefined) return await this.#image(data, facts, signal);
      if (kind === "image") return ofUnknownSize(data);
      if (isPdf(data)) return await this.#pdf(data, signal);
      if (isArchive(data)) return await this.#office(data, signal);
    } catch {
      return { facts: ["cannot be read"] };
    }
    const text = plainText(data)?.trimEnd();
    if (text === undefined) return { facts: ["of a kind that cannot be read"] };
    return text === "" ? { facts: ["without text"] } : { text, facts: [] };
  }

  async #image(
    data: Uint8Array,
    { mediaType, width, height, whole }: ImageFacts,
    signal: AbortSignal,
  ): Promise<ReadFile> {
    if (!whole) return { facts: ["cannot be read"] };
    const side = Math.max(width, height);
    if (data.byteLength <= MAX_IMAGE_BYTES && side <= LONGEST_SIDE) {
      return { image: { mediaType, data }, facts: [] };
    }
    if (side > LONGEST_DECODED_SIDE || width * height > mostPixels(this.#options.memoryBytes)) {
      return { facts: [`${width} x ${height} pixels`, "too large to be read"] };
    }
    const scaled = await this.#options.apart.run("image", data, signal);
    const found = imageFacts(scaled);
    if (found === undefined || scaled.byteLength > MAX_IMAGE_BYTES) return { facts: ["cannot be read"] };
    return { image: { mediaType: found.mediaType, data: scaled }, facts: [] };
  }

  async #pdf(data: Uint8Array, signal: AbortSignal): Promise<ReadFile> {
    const { text = "", pages = 0, locked = false } = await this.#document("pdf", data, signal);
    if (locked) return { facts: ["protected by a password"] };
    const whole = isWholePdf(data);
    const facts = [pages === 1 ? "1 page" : `${pages} pages`, ...(whole ? [] : ["its end is missing"])];
    if (this.#options.takesPdf && whole && pages <= MAX_PDF_PAGES) {
      return { image: { mediaType: "application/pdf", data, pages }, text, facts };
    }
    return text === "" ? { facts: [...facts, "without text that could be read"] } : { text, facts };
  }

  async #office(data: Uint8Array, signal: AbortSignal): Promise<ReadFile> {
    const { text } = await this.#document("office", data, signal);
    if (text === undefined) return { facts: ["an archive", "not read"] };
    return text === "" ? { facts: ["without text"] } : { text, facts: [] };
  }

  async #document(task: "pdf" | "office", data: Uint8Array, signal: AbortSignal): Promise<DocumentText> {
    const made = await this.#options.apart.run(task, data, signal);
    return documentSchema.parse(parseJson(made.toString("utf8")));
  }
}

type DocumentText = z.output<typeof documentSchema>;

/** Returns the number of pixels that can be decoded in the given memory. */
export function mostPixels(memoryBytes: number): number {
  return Math.min(MAX_PIXELS, (memoryBytes - RESERVED_BYTES - PROGRAM_BYTES) / BYTES_A_PIXEL);
}

/**
 * Accepts a picture whose dimensions are unknown because its header cannot be read. If the provider refuses the
 * picture, the request is repeated without it.
 */
function ofUnknownSize(data: Uint8Array): ReadFile {
  const mediaType = imageType(data);
  if (mediaType === undefined || data.byteLength > MAX_IMAGE_BYTES) return { facts: ["cannot be read"] };
  return { image: { mediaType, data }, facts: [] };
}

function isPdf(data: Uint8Array): boolean {
  return latin1(data.subarray(0, PDF_MARGIN)).includes(PDF);
}

function isWholePdf(data: Uint8Array): boolean {
  return latin1(data.subarray(-PDF_MARGIN)).includes("%%EOF");
}

/** Office files are ZIP archives, too. */
function isArchive(data: Uint8Array): boolean {
  return latin1(data.subarray(0, 4)) === "PK\x03\x04";
}

/**
 * Returns the first megabyte of a text file in UTF-8, or in UTF-16 with a byte order mark; `undefined` for other
 * files.
 */
function plainText(data: Uint8Array): string | undefined {
  const mark = latin1(data.subarray(0, 2));
  const encoding = mark === "\xff\xfe" ? "utf-16le" : mark === "\xfe\xff" ? "utf-16be" : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(data.subarray(0, MAX_TEXT_BYTES), {
      // Ignore the incomplete character that cutting may leave at the end.
      stream: data.byteLength > MAX_TEXT_BYTES,
    });
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function latin1(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("latin1");
}
