/** The list of conversations with its search, and the dialog that renames and deletes one. */
import { CHAT_TITLE, type Conversation, type FromPage, type Hit } from "../../contract/chat.ts";
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

/** Functions of the page that {@link Conversations} uses. */
interface ConversationsOptions {
  send(message: FromPage): void;
  isConnected(): boolean;
  /** Shows a conversation. */
  open(id: string): void;
}

/** See the module. */
export class Conversations {
  readonly #options: ConversationsOptions;
  #all: readonly Conversation[] = [];
  #current: string;
  #query = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #managed = "";

  constructor(current: string, options: ConversationsOptions) {
    this.#current = current;
    this.#options = options;
    element("new", HTMLButtonElement).addEventListener("click", () => this.#choose(crypto.randomUUID()));
    menu.addEventListener("click", () => this.#unfold(sidebar.classList.contains("folded")));
    addEventListener("pointerdown", ({ target }) => {
      if (target instanceof Node && !sidebar.contains(target) && !menu.contains(target)) this.#unfold(false);
    });
    sidebar.addEventListener("keydown", ({ key }) => key === "Escape" && this.#unfold(false));
    search.addEventListener("input", () => this.#search());
    dialog.addEventListener("close", () => this.#rename());
    remove.addEventListener("click", () => this.#delete());
  }

  /** Id of the open conversation. */
  get current(): string {
    return this.#current;
  }

  /** Returns true if the gateway knows this conversation. */
  has(id: string): boolean {
    return this.#all.some((one) => one.id === id);
  }

  /** Shows the conversations; `undefined` if the gateway is of a version that has one only. */
  show(all: readonly Conversation[] | undefined): void {
    menu.hidden = all === undefined;
    sidebar.hidden = all === undefined;
    this.#all = all ?? [];
    if (search.value.trim() === "") this.#list(this.#rows());
    this.#name();
  }

  /** Shows the result of a search. */
  found(id: string, hits: readonly Hit[]): void {
    if (id !== this.#query) return;
    this.#list(
      hits.map(({ conversation, title: name, excerpt }) =>
        this.#row({ id: conversation, title: name }, excerpt),
      ),
      "Nothing found",
    );
  }

  #rows(): HTMLElement[] {
    const isNew = !this.has(this.#current);
    const rows = isNew ? [{ id: this.#current, title: NEW_TITLE }, ...this.#all] : this.#all;
    const wanted = search.value.trim().toLowerCase();
    return rows.filter((one) => one.title.toLowerCase().includes(wanted)).map((one) => this.#row(one));
  }

  #list(rows: readonly HTMLElement[], otherwise = ""): void {
    list.replaceChildren(...(rows.length > 0 ? rows : [made("li", [otherwise], "soft")]));
  }

  #row({ id, title: name }: Pick<Conversation, "id" | "title">, excerpt = ""): HTMLElement {
    const open = button(name, () => this.#choose(id));
    if (excerpt !== "") open.append(made("span", [excerpt], "soft"));
    if (id === this.#current) open.setAttribute("aria-current", "true");
    const more = iconButton("more", `Rename or delete ${name}`, () => this.#manage(id, name));
    return made("li", this.has(id) && excerpt === "" ? [open, more] : [open]);
  }

  #search(): void {
    const query = search.value.trim();
    this.#query = "";
    clearTimeout(this.#timer);
    this.#list(this.#rows(), "Nothing found");
    if (query.length < 2 || !this.#options.isConnected()) return;
    this.#timer = setTimeout(() => {
      this.#query = crypto.randomUUID();
      this.#options.send({ type: "find", id: this.#query, query: query.slice(0, CHAT_TITLE) });
    }, SEARCH_MS);
  }

  #choose(id: string): void {
    this.#current = id;
    search.value = "";
    this.#list(this.#rows());
    this.#unfold(false);
    this.#name();
    this.#options.open(id);
  }

  #name(): void {
    const { title: name = NEW_TITLE } = this.#all.find(({ id }) => id === this.#current) ?? {};
    element("name", HTMLElement).textContent = menu.hidden ? "steward" : name;
  }

  /** Opens or closes the list on a narrow screen; a wide one always shows it. */
  #unfold(open: boolean): void {
    sidebar.classList.toggle("folded", !open);
    menu.setAttribute("aria-expanded", String(open));
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

  #rename(): void {
    if (dialog.returnValue === "save")
      this.#options.send({ type: "rename", conversation: this.#managed, title: title.value.trim() });
  }

  /** Asks once more, then deletes the conversation. */
  #delete(): void {
    if (remove.textContent === "Delete") {
      remove.textContent = "Delete for good";
      return;
    }
    dialog.close();
    this.#options.send({ type: "delete", conversation: this.#managed });
    this.#all = this.#all.filter(({ id }) => id !== this.#managed);
    if (this.#managed === this.#current) this.#choose(this.#all[0]?.id ?? crypto.randomUUID());
    else this.#list(this.#rows());
  }
}
