import type { Attachment } from "../../contract/message.ts";
import { CHAT_PICTURES } from "../../contract/chat.ts";
import { type ReadMessage, readMessages, type ReadOptions } from "../inbox/attachments.ts";

/**
 * Pictures of one page's next message, which come in pieces before it: a socket takes short messages only, since anyone
 * may open one.
 */
export class IncomingPictures {
  #message = "";
  #done: string[] = [];
  #open = "";
  #length = 0;

  /** Adds a piece. Those of another message before are dropped. False: it is more than a message may have. */
  add({ id, part, ends }: { id: string; part: string; ends?: boolean | undefined }): boolean {
    if (id !== this.#message) this.#clear(id);
    this.#length += part.length;
    if (this.#length > CHAT_PICTURES.longest || this.#done.length >= CHAT_PICTURES.most) return false;
    this.#open += part;
    if (ends !== true) return true;
    this.#done.push(this.#open);
    this.#open = "";
    return true;
  }

  /** Returns the whole pictures of a message, and keeps none. */
  take(id: string): Buffer[] {
    const done = id === this.#message ? this.#done : [];
    this.#clear("");
    return done.map((picture) => Buffer.from(picture, "base64"));
  }

  #clear(message: string): void {
    [this.#message, this.#done, this.#open, this.#length] = [message, [], "", 0];
  }
}

/** Returns a message of the web chat as the model sees it. */
export async function readWebMessage(
  { text, pictures }: { text: string; pictures: readonly Buffer[] },
  reading: Omit<ReadOptions, "channel">,
): Promise<ReadMessage> {
  const attachments = pictures.map((data, at): Attachment => ({
    kind: "image",
    name: pictureName(at),
    sizeBytes: data.byteLength,
    reference: String(at),
  }));
  const load = async ({ reference }: Attachment): Promise<Buffer> =>
    pictures[Number(reference)] ?? Buffer.of();
  const channel = { load, mediaMaxBytes: CHAT_PICTURES.longest };
  const { messages } = await readMessages([{ text, attachments }], { channel, ...reading });
  return messages[0] ?? { text, images: [], quoted: [] };
}

/** Returns the text that pages show of a message. */
export function shownText({ text, pictures }: { text: string; pictures: readonly Buffer[] }): string {
  const lines = pictures.map((_, at) => `[image: ${pictureName(at)}]`);
  return [text, ...lines].filter((line) => line !== "").join("\n");
}

function pictureName(at: number): string {
  return `picture ${at + 1}`;
}
