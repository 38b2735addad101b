import type { Sender } from "../../contract/message.ts";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { DayMessages } from "../../contract/control.ts";
import { lightTransaction, transaction } from "../../process/database.ts";
import type { Turn } from "../prompt/conversation.ts";
import type { Quoted, Said } from "../prompt/speaker.ts";
import { type ModelText, modelText, speakerText } from "../prompt/text.ts";
import { type ContextMessage, ContextNotes, readAsides, readSpeaker, storedSenderNames } from "./context.ts";
import { sessionStatements, type SessionStatements } from "./statements.ts";
import { Steps } from "./steps.ts";

interface Entry {
  role: "user" | "assistant";
  text: string;
  session: string;
  delivery: string;
  sender?: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** A question: one message, or several that arrived in a burst. */
interface QuestionEntry {
  session: string;
  messages: readonly {
    delivery: string;
    sender: Sender;
    text: string;
    quoted?: readonly Quoted[];
    /** The platform's id of the message. */
    message?: string;
    /** Number of characters at the beginning of `text` that the sender wrote. Remarks about files follow. */
    words?: number;
  }[];
  /** True for a group. Its prompt names the senders and includes messages that did not address the bot. */
  group: boolean;
  /** Milliseconds since the epoch. */
  at: number;
}

/** A message of the transcript. `seq` increases with each message. */
export type PlacedTurn = Turn & { seq: number };

export interface History {
  summary?: ModelText;
  turns: PlacedTurn[];
  question: { said: Said; seq: number; delivery: string }[];
}

export interface Version {
  /** The sender's own text, without remarks about files. */
  words: string;
  /** True if the sender has asked no newer question. */
  latest: boolean;
  /** True if the session was started over after this message, which hides it from the model. */
  forgotten: boolean;
}

interface SessionSummary {
  session: string;
  /** Number of messages since the session began. */
  messages: number;
  /** ISO 8601; absent before the first message. */
  updatedAt?: string;
  /** `<provider>/<model id>` chosen for the conversation. */
  model?: string;
  /** True if a summary replaces older messages in requests to the model. */
  summarised: boolean;
}

/**
 * Stores one session per conversation, with its transcript. A retried delivery reuses its stored message and any
 * generated answer.
 *
 * Resetting a session hides its earlier messages from the model.
 */
export class Sessions {
  readonly steps: Steps;
  readonly #database: DatabaseSync;
  readonly #context: ContextNotes;
  readonly #sql: SessionStatements;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#context = new ContextNotes(database);
    this.#sql = sessionStatements(database);
    this.steps = new Steps(database);
  }

  /** Adds a message to the transcript. Has no effect if the delivery already has a message in this role. */
  append({ session, delivery, role, sender, text, at }: Entry): void {
    const unused = [null, null, null, null] as const;
    this.#sql.append.run(session, delivery, role, sender ?? null, ...unused, text, at, null, null);
  }

  /**
   * Stores a question's new messages, and updates edited messages that are still unanswered. Stores the session's
   * context notes with the first new message.
   *
   * The call may be repeated, for example after a power cut has undone the writes.
   */
  ask({ session, messages, group, at }: QuestionEntry): void {
    lightTransaction(this.#database, () => {
      for (const { delivery, sender, text, quoted = [], message = null, words = null } of messages) {
        const about = quoted.length === 0 ? null : JSON.stringify(quoted);
        const known = this.#sql.question.get(session, delivery);
        if (known !== undefined) {
          const isEdited = words !== null && text.slice(0, words) !== wordsOf(known);
          if (isEdited && this.answerTo(session, delivery) === undefined)
            this.#sql.revise.run(text, about, words, session, delivery);
          continue;
        }
        const { name, username } = group ? storedSenderNames(sender) : { name: null, username: null };
        const context = this.#context.take(session);
        const columns = [sender.id, name, username, context, about, text, at, message, words] as const;
        this.#sql.append.run(session, delivery, "user", ...columns);
      }
    });
  }

  /**
   * Returns the newest stored version of a message, ignoring the version that `delivery` brought; `undefined` if no
   * other is stored.
   */
  versionOf(session: string, message: string, delivery: string): Version | undefined {
    const row = this.#sql.version.get({ conversation: session, message, delivery });
    if (row === undefined) return undefined;
    return { words: wordsOf(row), latest: row["latest"] === 1, forgotten: row["forgotten"] === 1 };
  }

  /**
   * Removes an unanswered message and the steps of its answer. The next question gets the removed message's context
   * notes.
   */
  retract(session: string, delivery: string, at: number): void {
    transaction(this.#database, () => {
      const context = this.#sql.retract.get(session, delivery)?.["context"];
      if (typeof context === "string") this.#context.restore(session, delivery, context, at);
      this.steps.drop(session, [delivery], at);
    });
  }

  /**
   * Stores the answer under the last delivery and deletes the steps that led to it. Only the given deliveries count
   * as answered, even if an earlier attempt included more.
   *
   * If a power cut undoes these writes, the steps still exist, and a retry resumes from them.
   */
  keepAnswer(session: string, deliveries: readonly string[], text: string, at: number): void {
    const delivery = deliveries.at(-1);
    if (delivery === undefined) return;
    lightTransaction(this.#database, () => {
      this.append({ session, delivery, role: "assistant", text, at });
      for (const one of deliveries) this.#sql.join.run(delivery, session, one);
      this.steps.drop(session, deliveries, at);
    });
  }

  /** Returns the answer to a delivery, even if unsent, and the last delivery that shares this answer. */
  answerTo(session: string, delivery: string): { text: string; delivery: string } | undefined {
    const row = this.#sql.answer.get({ conversation: session, delivery });
    return row === undefined ? undefined : { text: String(row["text"]), delivery: String(row["delivery"]) };
  }

  /** Returns true if an earlier attempt has stored the delivery's message. */
  knows(session: string, delivery: string): boolean {
    return this.#sql.question.get(session, delivery) !== undefined;
  }

  /**
   * Returns all messages of `deliveries`, preceded by earlier messages of the conversation. Earlier messages are
   * included only up to a total of `limit` messages. The first of the earlier messages is always a user's message.
   */
  history(session: string, deliveries: readonly string[], limit: number): History {
    const question = deliveries.flatMap((delivery) => {
      const row = this.#sql.question.get(session, delivery);
      return row === undefined ? [] : [{ said: readUserMessage(row), seq: Number(row["seq"]), delivery }];
    });
    const before = Math.min(...question.map(({ seq }) => seq));
    const left = Math.max(0, limit - question.length);
    const rows = Number.isFinite(before)
      ? this.#sql.before.all({ conversation: session, before, limit: left })
      : [];
    const turns = rows.toReversed().map(readTurn);
    const first = turns.findIndex(({ role }) => role === "user");
    const kept = this.#sql.session.get(session);
    const summary = kept?.["summary"];
    const counts = before > Number(kept?.["begins_after"] ?? 0);
    return {
      ...(typeof summary === "string" && counts && { summary: modelText(summary) }),
      turns: first === -1 ? [] : turns.slice(first),
      question,
    };
  }

  summarise(session: string, summary: string, seq: number): void {
    this.#sql.summarise.run(summary, seq, session);
  }

  /** Starts a session over. The session's previous messages stay stored, but the model no longer sees them. */
  reset(session: string, at: number): void {
    transaction(this.#database, () => {
      this.#context.take(session);
      this.#sql.reset.run({ conversation: session, at });
    });
  }

  /** Returns the time of the last message or reset, in milliseconds since the epoch. */
  updatedAt(session: string): number | undefined {
    const at = this.#sql.session.get(session)?.["updated_at"];
    return typeof at === "number" ? at : undefined;
  }

  size(session: string): number {
    return Number(this.#sql.session.get(session)?.["messages"] ?? 0);
  }

  /** Returns the model chosen for the session, as `<provider>/<model id>`. */
  modelOf(session: string): string | undefined {
    const model = this.#sql.session.get(session)?.["model"];
    return typeof model === "string" ? model : undefined;
  }

  /** `undefined` selects the config's model. */
  setModel(session: string, model: string | undefined): void {
    this.#sql.setModel.run(session, model ?? null);
  }

  /** Returns the ratio of counted to estimated tokens; `undefined` before the first measurement. */
  tokenRatio(session: string): number | undefined {
    const ratio = this.#sql.session.get(session)?.["token_ratio"];
    return typeof ratio === "number" ? ratio : undefined;
  }

  setTokenRatio(session: string, ratio: number): void {
    lightTransaction(this.#database, () => this.#sql.setRatio.run(ratio, session));
  }

  /** See {@link ContextNotes.note}. */
  addContext(session: string, message: ContextMessage, keep: number): void {
    this.#context.note(session, message, keep);
  }

  /** See {@link ContextNotes.change}. */
  changeContext(session: string, message: string, text: string | undefined): boolean {
    return this.#context.change(session, message, text);
  }

  /** Returns all sessions, most recently used first. */
  list(): SessionSummary[] {
    return this.#sql.list.all().map(readSession);
  }

  /**
   * Returns totals since installation, including messages that retention removed. `webChat` counts only current
   * sessions of the web chat.
   */
  counts(): { conversations: number; messages: number; webChat: number; answered: number } {
    const row = this.#sql.totals.get();
    return {
      conversations: Number(row?.["conversations"]),
      messages: Number(row?.["messages"]),
      webChat: Number(this.#sql.webChat.get()?.["messages"]),
      answered: Number(this.#sql.answered.get()?.["answered"]),
    };
  }

  /** Returns message counts from `day` (YYYY-MM-DD) on, oldest first. */
  daysSince(day: string): DayMessages[] {
    return this.#sql.days.all(day).map((row) => ({
      day: String(row["day"]),
      received: Number(row["received"]),
      answered: Number(row["answered"]),
    }));
  }
}

function wordsOf({ text, words }: Record<string, SQLOutputValue>): string {
  return String(text).slice(0, typeof words === "number" ? words : undefined);
}

function readTurn(row: Record<string, SQLOutputValue>): PlacedTurn {
  const seq = Number(row["seq"]);
  return row["role"] === "user"
    ? { role: "user", said: readUserMessage(row), seq }
    : { role: "assistant", text: modelText(String(row["text"])), seq };
}

/** Reads a user's message from its row. Only group messages have a stored speaker name. */
function readUserMessage(row: Record<string, SQLOutputValue>): Said {
  const { name, context, quoted, text } = row;
  return {
    text: speakerText(String(text)),
    ...(typeof name === "string" && { speaker: readSpeaker(row) }),
    ...(typeof context === "string" && { asides: readAsides(context) }),
    ...(typeof quoted === "string" && { quoted: JSON.parse(quoted) as Quoted[] }),
  };
}

function readSession(row: Record<string, SQLOutputValue>): SessionSummary {
  const { updated_at: updatedAt, model } = row;
  return {
    session: String(row["conversation"]),
    messages: Number(row["messages"]),
    ...(updatedAt !== null && { updatedAt: new Date(Number(updatedAt)).toISOString() }),
    ...(model !== null && { model: String(model) }),
    summarised: row["summarised"] === 1,
  };
}
