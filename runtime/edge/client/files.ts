/** Files added to a message. Images are scaled down to save bandwidth. */
import { CHAT_FILES } from "../../contract/chat.ts";
import { trouble } from "./connection-state.ts";
import type { PageConnection } from "./connection.ts";
import { button, element, made } from "./dom.ts";
import { type AddedFile, inConversation, type Said } from "./unsent.ts";

/** Models scale larger images down: https://docs.claude.com/en/docs/build-with-claude/vision#evaluate-image-size */
const LONGEST_SIDE = 1_568;
const QUALITY = 0.85;
/** Maximum size, in bytes, of an image that is sent unchanged. Conversion can blur text and removes transparency. */
const SMALL_BYTES = 400_000;
const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const shelf = element("pictures", HTMLElement);
const input = element("file", HTMLInputElement);
const add = element("add", HTMLButtonElement);

let chosen: AddedFile[] = [];

/** Returns the files that the user chose, and replaces them with `instead`. */
export function takeFiles(instead: readonly AddedFile[] = []): AddedFile[] {
  const taken = chosen;
  chosen = [...instead];
  showShelf();
  return taken;
}

/**
 * Lets the user choose, paste and drop files.
 *
 * @param takesAll Returns true if the gateway accepts files other than images.
 */
export function offerFiles(takesAll: () => boolean): void {
  const choose = async (files: readonly File[]): Promise<void> => {
    for (const one of files) {
      const problem = await addFile(one, takesAll());
      if (problem !== undefined) trouble({ text: problem });
    }
    showShelf();
  };
  const take = (event: ClipboardEvent | DragEvent, files: FileList | undefined): void => {
    if (!files?.length || add.disabled) return;
    event.preventDefault();
    void choose([...files]);
  };
  add.addEventListener("click", () => input.click());
  input.addEventListener("change", async () => {
    await choose([...(input.files ?? [])]);
    input.value = "";
  });
  document.body.addEventListener("paste", (event) => take(event, event.clipboardData?.files));
  document.body.addEventListener("dragover", (event) => event.preventDefault());
  document.body.addEventListener("drop", (event) => take(event, event.dataTransfer?.files));
}

/** Adds a file. Returns a sentence that explains a refusal, or `undefined` on success. */
async function addFile(file: File, takesAll: boolean): Promise<string | undefined> {
  const { name, type } = file;
  if (chosen.length >= CHAT_FILES.most) return `A message can have at most ${CHAT_FILES.most} files.`;
  const isPicture = type.startsWith("image/");
  if (!isPicture && !takesAll) return `${name} is not a picture. This gateway accepts only pictures.`;
  const blob = isPicture ? await picture(file).catch(() => undefined) : file;
  if (blob === undefined) return `This browser cannot read ${name} as an image.`;
  if (blob.size === 0) return `${name} is empty.`;
  if (blob.size > CHAT_FILES.bytes)
    return `${name} is ${megabytes(blob.size)}; the limit is ${megabytes(CHAT_FILES.bytes)} per file.`;
  const data = await base64(blob);
  const length = chosen.reduce((sum, one) => sum + one.data.length, data.length);
  if (length > CHAT_FILES.longest)
    return `${name} does not fit: the limit is ${megabytes((CHAT_FILES.longest * 3) / 4)} per message.`;
  chosen.push({ name, mediaType: type, data, isPicture });
  return undefined;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1).replace(".0", "")} MB`;
}

export function sendMessage(connection: PageConnection, said: Said & { id: string }): void {
  const { id, text, files, conversation, instead } = said;
  for (const { name, mediaType, data, isPicture } of files) {
    const kind = isPicture ? ({ type: "picture" } as const) : ({ type: "file", name, mediaType } as const);
    for (let at = 0; at < data.length; at += CHAT_FILES.piece) {
      const part = data.slice(at, at + CHAT_FILES.piece);
      connection.send({ ...kind, id, part, ends: at + CHAT_FILES.piece >= data.length });
    }
  }
  const replaced = instead === undefined ? {} : { instead };
  connection.send({ type: "say", id, text, ...inConversation(conversation), ...replaced });
}

export function shownOf({ text, files }: Said): string {
  const lines = files.map(({ isPicture, name, mediaType }, at) => {
    if (isPicture) return `[image: picture ${at + 1}]`;
    const kind = mediaType.split("/", 1)[0] ?? "";
    return `[${kind === "audio" || kind === "video" ? kind : "file"}: ${name}]`;
  });
  return [text, ...lines].filter(Boolean).join("\n");
}

export function thumbnail({ data, name }: AddedFile): HTMLImageElement {
  return made("img", [], { alt: name, src: `data:;base64,${data}` });
}

function showShelf(): void {
  shelf.hidden = chosen.length === 0;
  const buttons = chosen.map((file, at) => {
    const { isPicture, name } = file;
    const remove = button(isPicture ? "" : `${name} ✕`, () => {
      chosen = chosen.filter((other) => other !== file);
      showShelf();
    });
    if (isPicture) remove.append(thumbnail({ ...file, name: "" }));
    remove.ariaLabel = `Remove ${isPicture ? `picture ${at + 1}` : name}`;
    return remove;
  });
  shelf.replaceChildren(...buttons);
}

/** Converts an image to a format and size that models accept. */
async function picture(given: File): Promise<Blob> {
  const bitmap = await createImageBitmap(given);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const isFit = scale === 1 && given.size <= SMALL_BYTES && KINDS.includes(given.type);
  const blob = isFit ? given : await scaled(bitmap, scale);
  bitmap.close();
  return blob;
}

async function base64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}

async function scaled(bitmap: ImageBitmap, scale: number): Promise<Blob> {
  const width = Math.max(1, Math.round(bitmap.width * scale));
  const height = Math.max(1, Math.round(bitmap.height * scale));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas");
  // JPEG has no alpha channel: transparent parts would turn black.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.drawImage(bitmap, 0, 0, width, height);
  return canvas.convertToBlob({ type: "image/jpeg", quality: QUALITY });
}
