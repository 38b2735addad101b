/** Pictures that the user adds to a message, scaled down in the browser to save bandwidth. */
import { CHAT_PICTURES, type FromPage } from "../../contract/chat.ts";
import { element } from "./dom.ts";

/** Models scale larger pictures down: https://docs.claude.com/en/docs/build-with-claude/vision#evaluate-image-size */
const LONGEST_SIDE = 1_568;
const QUALITY = 0.85;
/** Smaller files are sent unchanged: a drawing may have an alpha channel, and text is hard to read when scaled. */
const SMALL_BYTES = 400_000;
const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** A message written on this page. */
export interface Said {
  text: string;
  /** In base64. */
  pictures: readonly string[];
}

const shelf = element("pictures", HTMLElement);
const file = element("file", HTMLInputElement);
const add = element("add", HTMLButtonElement);

/** Pictures for the next message, in base64. */
let chosen: string[] = [];

/** Returns the chosen pictures and clears the selection. */
export function takePictures(): string[] {
  const taken = chosen;
  chosen = [];
  showShelf();
  return taken;
}

/**
 * Lets the user choose pictures with the button and paste them into a field. `tell` shows why a picture was not added.
 */
export function offerPictures(field: HTMLElement, tell: (text: string) => void): void {
  const choose = async (files: readonly File[]): Promise<void> => {
    for (const one of files) {
      if (chosen.length >= CHAT_PICTURES.most) return tell(`A message takes ${CHAT_PICTURES.most} pictures.`);
      const picture = await read(one).catch(() => undefined);
      if (picture === undefined) tell(`${one.name} is no picture that this browser can read.`);
      else chosen.push(picture);
    }
    showShelf();
  };
  add.addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    await choose([...(file.files ?? [])]);
    file.value = "";
  });
  field.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
    if (files.length === 0) return;
    event.preventDefault();
    void choose(files);
  });
}

/** Sends a message after its pictures. */
export function sendSaid(
  send: (message: FromPage) => void,
  { id, text, pictures }: Said & { id: string },
): void {
  for (const picture of pictures) {
    for (let at = 0; at < picture.length; at += CHAT_PICTURES.piece) {
      const part = picture.slice(at, at + CHAT_PICTURES.piece);
      send({ type: "picture", id, part, ends: at + CHAT_PICTURES.piece >= picture.length });
    }
  }
  send({ type: "say", id, text });
}

/** Returns the text that the page shows for a message. */
export function shownOf({ text, pictures }: Said): string {
  const lines = pictures.map((_, at) => `[image: picture ${at + 1}]`);
  return [text, ...lines].filter(Boolean).join("\n");
}

/** Returns a message with each picture replaced by a line of text. */
export function withoutPictures({ text, pictures }: Said): Said {
  const gone = pictures.map(() => "[image: lost when the page was loaded again]");
  return { text: [text, ...gone].filter(Boolean).join("\n"), pictures: [] };
}

function showShelf(): void {
  shelf.hidden = chosen.length === 0;
  shelf.replaceChildren(
    ...chosen.map((picture, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-label", `Remove picture ${at + 1}`);
      const image = document.createElement("img");
      image.alt = "";
      image.src = `data:;base64,${picture}`;
      button.append(image);
      button.addEventListener("click", () => {
        chosen = chosen.filter((_, other) => other !== at);
        showShelf();
      });
      return button;
    }),
  );
}

/** Reads a picture as base64, scaled down to the size that models use. */
async function read(given: File): Promise<string> {
  const bitmap = await createImageBitmap(given);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const isFit = scale === 1 && given.size <= SMALL_BYTES && KINDS.includes(given.type);
  const blob = isFit ? given : await scaled(bitmap, scale);
  bitmap.close();
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}

async function scaled(bitmap: ImageBitmap, scale: number): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas");
  // JPEG has no alpha channel: transparent parts would turn black.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error("no picture")) : resolve(blob)),
      "image/jpeg",
      QUALITY,
    );
  });
}
