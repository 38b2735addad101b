import type { Attachment } from "../../contract/message.ts";
import { CHAT_FILES } from "../../contract/chat.ts";
import { attachmentKind } from "../channels/files.ts";
import { readMessages, type ReadOptions } from "../inbox/attachments.ts";

export interface IncomingFile extends Pick<Attachment, "kind"> {
  name: string;
  data: Buffer;
}

interface Piece {
  id: string;
  part: string;
  ends?: boolean | undefined;
  name?: string | undefined;
  mediaType?: string | undefined;
}

/**
 * Collects the files of a page's next message. Their parts arrive before the message, because sockets limit message
 * sizes.
 */
export class IncomingFiles {
  #message = "";
  #done: IncomingFile[] = [];
  #open = "";
  #length = 0;

  /**
   * Adds a part of a file in message `id`. Discards all other messages' files. Returns false if message `id` would
   * exceed its limits.
   */
  add({ id, part, ends, name = `picture ${this.#done.length + 1}`, mediaType = "image/*" }: Piece): boolean {
    if (id !== this.#message) this.#clear(id);
    this.#length += part.length;
    if (this.#length > CHAT_FILES.longest || this.#done.length >= CHAT_FILES.most) return false;
    this.#open += part;
    if (ends !== true) return true;
    this.#done.push({ name, kind: attachmentKind(mediaType), data: Buffer.from(this.#open, "base64") });
    this.#open = "";
    return true;
  }

  take(id: string): IncomingFile[] {
    const done = id === this.#message ? this.#done : [];
    this.#clear("");
    return done;
  }

  #clear(message: string): void {
    [this.#message, this.#done, this.#open, this.#length] = [message, [], "", 0];
  }
}

interface WithFiles {
  text: string;
  files: readonly IncomingFile[];
}

/**
 * Reads a message for the model. The result's `unheard` is set if the message has only recordings, all without a
 * transcript.
 */
export async function readWebMessage({ text, files }: WithFiles, reading: Omit<ReadOptions, "channel">) {
  const attachments = files.map(({ name, kind, data }, at): Attachment => ({
    kind,
    name,
    sizeBytes: data.byteLength,
    reference: String(at),
  }));
  const load = async ({ reference }: Attachment): Promise<Buffer> =>
    files[Number(reference)]?.data ?? Buffer.of();
  const channel = { load, mediaMaxBytes: CHAT_FILES.bytes };
  const { messages, unheard } = await readMessages([{ text, attachments }], { channel, ...reading });
  return { read: messages[0] ?? { text, images: [], quoted: [] }, unheard };
}

export function shownText({ text, files }: WithFiles): string {
  const lines = files.map(({ kind, name }) => `[${kind}: ${name}]`);
  return [text, ...lines].filter((line) => line !== "").join("\n");
}
