/** The list of conversations with its search, and the dialog to rename or delete one. */
import { CHAT_TITLE, type Conversation, type Hit } from "../../contract/chat.ts";
import type { PageConnection } from "./connection.ts";
import { button, element, iconButton, made } from "./dom.ts";

const SEARCH_MS = 250;
const NEW_TITLE = "New conversation";

const sidebar = element("sidebar", HTMLElement);
const list = element("conversations", HTMLElement);
const search = element("search", HTMLInputElement);
const menu = element("menu", HTMLButtonElement);
const dialog = element("manage", HTMLDialogElement);
const title = element("title", HTMLInputElement);
const remove = element("delete", HTMLButtonElement);

export class Conversations {
  current: string;
  readonly #connection: PageConnection;
  readonly #open: (id: string) => void;
  #all: readonly Conversation[] = [];
  #query = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #managed = "";

  constructor(current: string, connection: PageConnection, open: (id: string) => void) {
    this.current = current;
    this.#connection = connection;
    this.#open = open;
    element("new", HTMLButtonElement).addEventListener("click", () => this.#choose(crypto.randomUUID()));
    menu.addEventListener("click", () => this.#unfold(sidebar.classList.contains("folded")));
    addEventListener("pointerdown", ({ target }) => {
      if (target instanceof Node && !sidebar.contains(target) && !menu.contains(target)) this.#unfold(false);
    });
    sidebar.addEventListener("keydown", ({ key }) => key === "Escape" && this.#unfold(false));
    search.addEventListener("input", () => this.#search());
    dialog.addEventListener("close", () => {
      if (dialog.returnValue === "save")
        connection.send({ type: "rename", conversation: this.#managed, title: title.value.trim() });
    });
    remove.addEventListener("click", () => this.#delete());
  }

  /**
   * Shows the list of conversations. Hides it if `all` is `undefined`: an older gateway supports only one conversation.
   */
  show(all: readonly Conversation[] | undefined): void {
    for (const part of [menu, sidebar]) part.hidden = all === undefined;
    this.#all = all ?? [];
    if (search.value.trim() === "") this.#list(this.#rows());
    this.#name();
  }

  found(id: string, hits: readonly Hit[]): void {
    if (id !== this.#query) return;
    const rows = hits.map((hit) => this.#row({ ...hit, id: hit.conversation }, hit.excerpt));
    this.#list(rows, "Nothing found");
  }

  #find(id: string): Conversation | undefined {
    return this.#all.find((one) => one.id === id);
  }

  #rows(): HTMLElement[] {
    const rows = this.#find(this.current)
      ? this.#all
      : [{ id: this.current, title: NEW_TITLE }, ...this.#all];
    const wanted = search.value.trim().toLowerCase();
    return rows.filter((one) => one.title.toLowerCase().includes(wanted)).map((one) => this.#row(one));
  }

  #list(rows: readonly HTMLElement[], otherwise = ""): void {
    list.replaceChildren(...(rows.length > 0 ? rows : [made("li", [otherwise], "soft")]));
  }

  #row({ id, title: name }: Pick<Conversation, "id" | "title">, excerpt = ""): HTMLElement {
    const open = button(name, () => this.#choose(id));
    if (excerpt !== "") open.append(made("span", [excerpt], "soft"));
    if (id === this.current) open.ariaCurrent = "true";
    const more = iconButton("more", `Rename or delete ${name}`, () => this.#manage(id, name));
    return made("li", this.#find(id) && excerpt === "" ? [open, more] : [open]);
  }

  #search(): void {
    const query = search.value.trim();
    this.#query = "";
    clearTimeout(this.#timer);
    this.#list(this.#rows(), "Nothing found");
    if (query.length < 2 || !this.#connection.isWelcome) return;
    this.#timer = setTimeout(() => {
      this.#query = crypto.randomUUID();
      this.#connection.send({ type: "find", id: this.#query, query: query.slice(0, CHAT_TITLE) });
    }, SEARCH_MS);
  }

  #choose(id: string): void {
    this.current = id;
    search.value = "";
    this.#list(this.#rows());
    this.#unfold(false);
    this.#name();
    this.#open(id);
  }

  #name(): void {
    const name = this.#find(this.current)?.title ?? NEW_TITLE;
    element("name", HTMLElement).textContent = menu.hidden ? "steward" : name;
  }

  /** Opens or closes the list on a narrow screen. A wide screen always shows it. */
  #unfold(open: boolean): void {
    sidebar.classList.toggle("folded", !open);
    menu.ariaExpanded = String(open);
    if (open) search.focus();
    else if (sidebar.contains(document.activeElement)) menu.focus();
  }

  #manage(id: string, name: string): void {
    this.#managed = id;
    title.value = name;
    remove.textContent = "Delete";
    dialog.returnValue = "";
    dialog.showModal();
    title.select();
  }

  #delete(): void {
    if (remove.textContent === "Delete") {
      remove.textContent = "Delete permanently";
      return;
    }
    dialog.close();
    this.#connection.send({ type: "delete", conversation: this.#managed });
    this.#all = this.#all.filter(({ id }) => id !== this.#managed);
    if (this.#managed === this.current) this.#choose(this.#all[0]?.id ?? crypto.randomUUID());
    else this.#list(this.#rows());
  }
}
