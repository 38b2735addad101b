/** Messages of the open conversation, with their buttons. */
import type { ChatTurn } from "../../contract/chat.ts";
import { button, element, iconButton, isAtEnd, made } from "./dom.ts";
import { thumbnail } from "./files.ts";
import { render } from "./markdown.ts";
import { messages } from "./unsent.ts";

type Role = "user" | "assistant";
/** `waiting`: unsent, or queued behind another message. `busy`: the answer is in progress. */
type Tone = "" | "waiting" | "busy" | "failed" | "stopped";

/** A message to display. Without `blocks`, `text` is shown verbatim. `at` defaults to the current time. */
type Shown = Pick<ChatTurn, "text" | "blocks" | "words"> & Partial<Pick<ChatTurn, "at">>;

interface TranscriptOptions {
  canChange(): boolean;
  edit(id: string): void;
  /** Requests another answer. A message without an answer is resent with the same id. */
  again(id: string, hasAnswer: boolean): void;
  withdraw(id: string): void;
}

const idOf = ({ dataset }: HTMLElement): string => dataset["of"] ?? "";

export class Transcript {
  readonly log = element("log", HTMLElement);
  readonly #options: TranscriptOptions;
  readonly #articles = new Map<string, HTMLElement>();
  readonly #own = new Map<string, Shown>();

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** Ids of answers in progress. */
  get busy(): string[] {
    return [...this.log.querySelectorAll<HTMLElement>("article[aria-busy=true]")].map(idOf);
  }

  clear(): void {
    this.log.replaceChildren();
    this.#articles.clear();
    this.#own.clear();
  }

  has(id: string): boolean {
    return this.#own.has(id);
  }

  /** Returns true if an answer is shown, even an incomplete one. */
  isAnswered(id: string): boolean {
    return this.#articles.has(`assistant ${id}`);
  }

  wordsOf(id: string): string {
    const { text = "", words } = this.#own.get(id) ?? {};
    return text.slice(0, words);
  }

  showOwn(id: string, text = this.#own.get(id)?.text ?? "", tone: Tone = ""): void {
    const words = messages.get(id)?.text.length;
    this.show("user", id, { text, ...(words !== undefined && { words }) }, tone);
  }

  show(role: Role, id: string, shown: Shown, tone: Tone = ""): void {
    const pinned = isAtEnd(this.log);
    const article = this.place(role, id, id, shown.at);
    const wasBusy = article.ariaBusy === "true";
    article.className = `${role === "user" ? "own" : ""} ${tone}`.trim();
    // Screen readers announce the complete answer, not every word.
    article.ariaBusy = String(tone === "busy");
    if (role === "user") this.#fillOwn(article, id, shown);
    else render(article, shown.text, shown.blocks);
    if (tone === "stopped") article.append(made("p", ["Stopped"], "soft"));
    if (pinned || role === "user") this.log.scrollTop = this.log.scrollHeight;
    if (tone !== "busy" || !wasBusy) this.#offer();
  }

  #fillOwn(article: HTMLElement, id: string, shown: Shown): void {
    this.#own.set(id, { ...this.#own.get(id), ...shown });
    const { text, words = text.length } = shown;
    render(article, text.slice(0, words));
    const pictures = messages.filesOf(id).filter(({ isPicture }) => isPicture);
    const lines = text.slice(words).split("\n").filter(Boolean);
    const files = [...pictures.map(thumbnail), ...lines.map((line) => made("span", [line], "file"))];
    if (files.length > 0) article.append(made("div", files, "files"));
  }

  fail(id: string, text: string, again: boolean): void {
    this.show("assistant", id, { text }, "failed");
    if (!again) return;
    const retry = button("Try again", () => this.#again(id, false));
    this.#articles.get(`assistant ${id}`)?.append(retry);
  }

  /** Removes a message, its answer, and their files and buttons. */
  remove(id: string): void {
    for (const [key, article] of this.#articles) {
      if (idOf(article) !== id) continue;
      article.remove();
      this.#articles.delete(key);
    }
    this.#own.delete(id);
    this.#offer();
  }

  /**
   * Returns the element of a message or item (file or buttons); creates a missing one. `id` is the message's id.
   * `key` is the item's id; for a message, it equals `id`.
   */
  place(role: Role | "item", id: string, key: string, at = Date.now()): HTMLElement {
    const known = this.#articles.get(`${role} ${key}`);
    if (known !== undefined) return known;
    const article = made("article", [], { ariaLabel: role === "user" ? "You" : "steward" });
    this.#articles.set(`${role} ${key}`, article);
    article.dataset["time"] = timeText(at);
    // Place an answer after its question. Place an item (a file or buttons) after everything else that belongs to the
    // same message.
    const others = role === "item" && id !== "" ? [...this.log.querySelectorAll<HTMLElement>("article")] : [];
    const last = others.findLast((one) => idOf(one) === id);
    const before = last ?? (role === "user" ? undefined : this.#articles.get(`user ${id}`));
    article.dataset["of"] = id;
    if (before === undefined) this.log.append(article);
    else before.after(article);
    return article;
  }

  /**
   * Adds "Withdraw" to unsent and queued messages. If the last message is neither, adds "Edit" to it, and "Answer
   * again" to its answer unless that answer is in progress or failed.
   */
  #offer(): void {
    const { canChange, edit, withdraw } = this.#options;
    for (const old of this.log.querySelectorAll(".actions")) old.remove();
    if (!canChange()) return;
    const add = (article: HTMLElement, action: HTMLElement): void =>
      article.append(made("div", [action], { className: "actions", ariaLive: "off" }));
    const own = [...this.log.querySelectorAll<HTMLElement>("article.own")];
    for (const one of own.filter((article) => article.matches(".waiting"))) {
      const remove = iconButton("remove", "Withdraw", () => withdraw(idOf(one)));
      add(one, remove);
    }
    const last = own.at(-1);
    if (last === undefined || last.matches(".waiting")) return;
    const id = idOf(last);
    const answer = this.#articles.get(`assistant ${id}`);
    const change = iconButton("edit", "Edit", () => edit(id));
    add(last, change);
    if (answer === undefined || answer.matches(".busy, .failed")) return;
    const again = iconButton("again", "Answer again", () => this.#again(id, true));
    add(answer, again);
  }

  #again(id: string, hasAnswer: boolean): void {
    this.#articles.get(`assistant ${id}`)?.remove();
    this.#articles.delete(`assistant ${id}`);
    this.#options.again(id, hasAnswer);
  }
}

/** Returns the time, with the date unless it is today. */
function timeText(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ month: "short", day: "numeric" } as const);
  return date.toLocaleString([], { ...day, hour: "2-digit", minute: "2-digit" });
}
