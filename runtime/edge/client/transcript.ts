/** The messages of the open conversation, and what can be done with each. */
import type { ChatItem } from "../../contract/chat.ts";
import type { Block } from "../../contract/markdown.ts";
import { button, iconButton, made } from "./dom.ts";
import { thumbnail } from "./files.ts";
import { render } from "./markdown.ts";
import type { AddedFile } from "./unsent.ts";

type Role = "user" | "assistant";
/** `waiting`: not sent, or queued behind another message. `busy`: the answer grows. */
type Tone = "" | "waiting" | "busy" | "failed" | "stopped";

/** A message as the page shows it; without blocks it is shown verbatim. */
export interface Shown {
  text: string;
  blocks?: readonly Block[] | undefined;
  /** Length of the part that the person wrote; lines about files follow it. */
  words?: number | undefined;
  /** Milliseconds since the epoch; absent for a message of now. */
  at?: number;
}

/** Actions of the page on a message. */
interface TranscriptOptions {
  log: HTMLElement;
  /** Returns the files of one of the user's messages, if this browser has them. */
  filesOf(id: string): readonly AddedFile[];
  /** Returns true if the gateway can replace and withdraw messages. */
  canChange(): boolean;
  edit(id: string): void;
  /** Answers the last message again: under its id if it has no answer. */
  again(id: string, hasAnswer: boolean): void;
  withdraw(id: string): void;
}

/** Distance from the end, in pixels, within which the page keeps scrolling. */
const PINNED_PX = 80;

/** See the module. */
export class Transcript {
  readonly #options: TranscriptOptions;
  readonly #articles = new Map<string, HTMLElement>();
  readonly #own = new Map<string, Shown>();

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** Ids of answers that are growing. */
  get busy(): string[] {
    const growing = this.#options.log.querySelectorAll<HTMLElement>("article[aria-busy=true]");
    return [...growing].map(({ dataset }) => dataset["of"] ?? "");
  }

  /** Removes all messages. */
  clear(): void {
    this.#options.log.replaceChildren();
    this.#articles.clear();
    this.#own.clear();
  }

  /** Returns true if the user's message is shown. */
  has(id: string): boolean {
    return this.#own.has(id);
  }

  /** Returns true if an answer to a message is shown, complete or not. */
  isAnswered(id: string): boolean {
    return this.#articles.has(`assistant ${id}`);
  }

  /** Returns the user's message as it is shown. */
  textOf(id: string): string {
    return this.#own.get(id)?.text ?? "";
  }

  /** Returns the text that the user wrote. */
  wordsOf(id: string): string {
    const { text = "", words } = this.#own.get(id) ?? {};
    return text.slice(0, words);
  }

  show(role: Role, id: string, shown: Shown, tone: Tone = ""): void {
    const { log, filesOf } = this.#options;
    const pinned = log.scrollHeight - log.scrollTop - log.clientHeight < PINNED_PX;
    const article = this.place(role, id, id, shown.at);
    article.className = `${role === "user" ? "own" : ""} ${tone}`.trim();
    // Screen readers announce it when it is complete, not at every word.
    article.setAttribute("aria-busy", String(tone === "busy"));
    if (role === "user") {
      this.#own.set(id, { ...this.#own.get(id), ...shown });
      const { text, words = text.length } = shown;
      render(article, text.slice(0, words));
      const pictures = filesOf(id).filter(({ isPicture }) => isPicture);
      const lines = text.slice(words).split("\n").filter(Boolean);
      const files = [...pictures.map(thumbnail), ...lines.map((line) => made("span", [line], "file"))];
      if (files.length > 0) article.append(made("div", files, "files"));
    } else render(article, shown.text, shown.blocks);
    if (tone === "stopped") article.append(made("p", ["Stopped"], "soft"));
    if (pinned || role === "user") log.scrollTop = log.scrollHeight;
    if (tone !== "busy" || !article.dataset["busy"]) this.#offer();
    article.dataset["busy"] = tone === "busy" ? "1" : "";
  }

  /** Shows that a message has no answer, and offers another attempt. */
  fail(id: string, text: string, again: boolean): void {
    this.show("assistant", id, { text }, "failed");
    if (!again) return;
    const retry = button("Try again", () => this.#again(id, false));
    this.#articles.get(`assistant ${id}`)?.append(retry);
  }

  /** Removes a message with its answer and its items. */
  remove(id: string): void {
    for (const [key, article] of this.#articles) {
      if (article.dataset["of"] !== id) continue;
      article.remove();
      this.#articles.delete(key);
    }
    this.#own.delete(id);
    this.#offer();
  }

  /** Returns the element of an item. */
  placeItem({ id, item }: ChatItem): HTMLElement {
    return this.place("item", id, item);
  }

  /** Returns the element of a message or, by its `key`, of one of its items; creates it if it is missing. */
  place(role: Role | "item", id: string, key: string, at = Date.now()): HTMLElement {
    const known = this.#articles.get(`${role} ${key}`);
    if (known !== undefined) return known;
    const { log } = this.#options;
    const article = made("article", []);
    article.setAttribute("aria-label", role === "user" ? "You" : "steward");
    this.#articles.set(`${role} ${key}`, article);
    article.dataset["time"] = timeText(at);
    // Insert an answer directly after its question, and an item after everything that belongs to the same message.
    const others = role === "item" && id !== "" ? [...log.children] : [];
    const last = others.findLast((one) => one instanceof HTMLElement && one.dataset["of"] === id);
    const before = last ?? (role === "user" ? undefined : this.#articles.get(`user ${id}`));
    article.dataset["of"] = id;
    if (before === undefined) log.append(article);
    else before.after(article);
    return article;
  }

  /** Adds the buttons: to waiting messages, and to the last one if nothing is under way. */
  #offer(): void {
    const { log, canChange, edit, withdraw } = this.#options;
    for (const old of log.querySelectorAll(".actions")) old.remove();
    if (!canChange()) return;
    const add = (role: Role, id: string, ...buttons: HTMLElement[]): void => {
      const row = made("div", buttons, "actions");
      row.setAttribute("aria-live", "off");
      this.#articles.get(`${role} ${id}`)?.append(row);
    };
    const own = [...log.querySelectorAll<HTMLElement>("article.own")];
    for (const { dataset } of log.querySelectorAll<HTMLElement>("article.own.waiting")) {
      const id = dataset["of"] ?? "";
      add(
        "user",
        id,
        iconButton("remove", "Withdraw", () => withdraw(id)),
      );
    }
    const last = own.at(-1);
    const id = last?.dataset["of"] ?? "";
    if (last === undefined || last.classList.contains("waiting")) return;
    const answer = this.#articles.get(`assistant ${id}`);
    add(
      "user",
      id,
      iconButton("edit", "Edit", () => edit(id)),
    );
    if (answer === undefined || ["busy", "failed"].some((tone) => answer.classList.contains(tone))) return;
    add(
      "assistant",
      id,
      iconButton("again", "Answer again", () => this.#again(id, true)),
    );
  }

  #again(id: string, hasAnswer: boolean): void {
    this.#articles.get(`assistant ${id}`)?.remove();
    this.#articles.delete(`assistant ${id}`);
    this.#options.again(id, hasAnswer);
  }
}

/** Returns a time of today, or a date with it. */
function timeText(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString([], {
    ...(!isToday && { month: "short", day: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
  });
}
