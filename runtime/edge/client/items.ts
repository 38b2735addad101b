/** Files and questions from the assistant, each shown after the message it belongs to. */
import type { ChatItem, FromPage } from "../../contract/chat.ts";
import { trouble } from "./connection-state.ts";
import type { PageConnection } from "./connection.ts";
import { button, isAtEnd, made } from "./dom.ts";
import { render } from "./markdown.ts";
import type { Transcript } from "./transcript.ts";
import { inConversation } from "./unsent.ts";

type FileItem = Extract<ChatItem, { type: "file" }>;
type ChoicesItem = Extract<ChatItem, { type: "choices" }>;

const REVOKE_MS = 60_000;

interface ItemsOptions {
  connection: PageConnection;
  transcript: Transcript;
  conversation(): string;
}

export class Items {
  readonly #options: ItemsOptions;
  /** Unanswered button presses by item; resent after a lost connection. */
  readonly #presses = new Map<string, Extract<FromPage, { type: "press" }>>();
  readonly #pressed = new Set<string>();
  readonly #seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) this.#load(target);
  });
  /** Ticket that authorises file downloads while the page is connected. */
  #ticket = "";

  constructor(options: ItemsOptions) {
    this.#options = options;
  }

  /** Stores a new connection's ticket and resends unanswered button presses. */
  greet(ticket: string): void {
    this.#ticket = ticket;
    for (const press of this.#presses.values()) this.#options.connection.send(press);
  }

  close(): void {
    this.#ticket = "";
  }

  /** Returns true if a button press on this page sent the message `id`. Later calls with the same id return false. */
  isPressed(id: string): boolean {
    return this.#pressed.delete(id);
  }

  show(item: ChatItem): void {
    const { transcript } = this.#options;
    const pinned = isAtEnd(transcript.log);
    const shown = transcript.place("item", item.id, item.item);
    if (item.type === "file") this.#showFile(shown, item);
    else this.#showChoices(shown, item);
    if (pinned) transcript.log.scrollTop = transcript.log.scrollHeight;
  }

  #showFile(shown: HTMLElement, item: FileItem): void {
    const { name, size, picture, caption } = item;
    // After a reconnection, the gateway announces each file again. Files never change, so keep the element.
    if (shown.childElementCount > 0) return this.#observe(shown.querySelector("img:not([src])"));
    if (caption !== undefined) shown.append(made("p", [caption]));
    if (picture) {
      const image = made("img", [], { alt: name });
      image.dataset["item"] = item.item;
      shown.append(image);
      this.#observe(image);
    }
    const link = button(`${name} (${sizeText(size)})`, () => void this.#download(item));
    link.ariaLabel = `Download ${name}`;
    shown.append(link);
  }

  #observe(image: Element | null): void {
    if (image === null) return;
    this.#seen.unobserve(image);
    this.#seen.observe(image);
  }

  #showChoices(shown: HTMLElement, { item, question, blocks, buttons, note }: ChoicesItem): void {
    if (buttons.length === 0) this.#presses.delete(item);
    const said = made("div");
    render(said, question, blocks);
    const offered = buttons.map(({ label, press }) =>
      button(label, () => {
        for (const one of offered) one.disabled = true;
        this.#press(item, press);
      }),
    );
    const row = made("p", [...offered, note ?? ""], note === undefined ? "choices" : "soft");
    shown.replaceChildren(said, row);
  }

  #press(item: string, press: string): void {
    const { connection, conversation } = this.#options;
    const id = crypto.randomUUID();
    const message = { type: "press", id, press, ...inConversation(conversation()) } as const;
    this.#presses.set(item, message);
    this.#pressed.add(id);
    if (this.#ticket === "") connection.reconnectIfAsleep();
    else connection.send(message);
  }

  async #download({ item, name }: FileItem): Promise<void> {
    const file = await this.#fetch(item).catch(({ message }: Error) => trouble({ text: message }));
    if (file === undefined) return;
    const href = URL.createObjectURL(file);
    made("a", [], { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), REVOKE_MS);
  }

  /** Loads a picture that scrolled into view. On failure, its name stays visible. */
  #load(image: Element): void {
    if (!(image instanceof HTMLImageElement) || this.#ticket === "") return;
    this.#seen.unobserve(image);
    image.addEventListener("load", () => image.scrollIntoView({ block: "nearest" }), { once: true });
    void this.#fetch(image.dataset["item"] ?? "").then(
      (file) => void (image.src = URL.createObjectURL(file)),
      () => undefined,
    );
  }

  /** @throws Error with a message for the user. */
  async #fetch(item: string): Promise<Blob> {
    if (this.#ticket === "") {
      this.#options.connection.reconnectIfAsleep();
      throw new Error("The page is not connected. Try again once it has reconnected.");
    }
    const headers = { authorization: `Bearer ${this.#ticket}` };
    const response = await fetch(`/chat/files/${item}`, { headers });
    if (response.ok) return response.blob();
    const { title, fix } = (await response.json()) as { title: string; fix: string };
    throw new Error(`${title}. ${fix}`);
  }
}

function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
