import type { Sender } from "../../contract/message.ts";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { DayMessages } from "../../contract/control.ts";
import { lightTransaction, transaction } from "../../process/database.ts";
import type { Turn } from "../prompt/conversation.ts";
import type { Quoted, Said } from "../prompt/speaker.ts";
import { type ModelText, modelText, speakerText } from "../prompt/text.ts";
import { type ContextMessage, ContextNotes, readAsides, readSpeaker, storedNames } from "./context.ts";
import { sessionStatements, type SessionStatements } from "./statements.ts";
import { Steps } from "./steps.ts";

/** Entry of a transcript. `delivery` is the platform's id of the event that it belongs to. */
interface Entry {
  role: "user" | "assistant";
  text: string;
  session: string;
  delivery: string;
  sender?: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** A question as it is put into a transcript: several messages where they came in a burst. */
interface QuestionEntry {
  session: string;
  messages: readonly {
    delivery: string;
    sender: Sender;
    text: string;
    quoted?: readonly Quoted[];
    /** The platform's id of the message. */
    message?: string;
    /** Characters at the beginning of `text` that the sender wrote; lines on files follow. */
    words?: number;
  }[];
  /** The model sees who speaks, and messages that were not for the bot. */
  group: boolean;
  /** Milliseconds since the epoch. */
  at: number;
}

/** A message of a transcript in its place: `seq` grows along the transcript. */
export type PlacedTurn = Turn & { seq: number };

/** History that is put before the model: what was said before, and the question. */
export interface History {
  /** Summary of the messages before `turns`. */
  summary?: ModelText;
  turns: PlacedTurn[];
  /** The question's messages, in its order. */
  question: { said: Said; seq: number; delivery: string }[];
}

/** A message as it was last put into a transcript. */
export interface Version {
  /** Text of its sender. */
  words: string;
  /** Its sender has asked nothing there since. */
  latest: boolean;
  /** The session has started over since. */
  forgotten: boolean;
}

/** One session, for a list. */
interface SessionSummary {
  session: string;
  /** Since it began. */
  messages: number;
  /** ISO 8601: when the last message came; not there before the first. */
  updatedAt?: string;
  /** `<provider>/<model id>` that the conversation chose. */
  model?: string;
  /** Older messages are put before the model as a summary. */
  summarised: boolean;
}

/**
 * The sessions, one a conversation, with their transcripts. They survive restarts. A delivery that is
 * tried again finds its own message, and its answer where one was made, instead of adding them twice.
 *
 * A session that starts over keeps its messages, but does not put them before the model. Counters
 * are kept by triggers, so that no count reads the messages.
 */
export class Sessions {
  /** Outcomes of tools while an answer is being made. */
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

  /** Adds a message, once: the same delivery and role again changes nothing. */
  append({ session, delivery, role, sender, text, at }: Entry): void {
    const unused = [null, null, null, null] as const;
    this.#sql.append.run(session, delivery, role, sender ?? null, ...unused, text, at, null, null);
  }

  /**
   * Adds a question's messages, each once; one that was edited before it had an answer gets its new text. The first new
   * one takes along what was said there meanwhile that was not for the bot. After a power cut the person asks again.
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
        const { name, username } = group ? storedNames(sender) : { name: null, username: null };
        const context = this.#context.take(session);
        const columns = [sender.id, name, username, context, about, text, at, message, words] as const;
        this.#sql.append.run(session, delivery, "user", ...columns);
      }
    });
  }

  /**
   * Returns the newest version of a platform's message in a transcript, but for the one that came with `delivery`;
   * `undefined` if the message was not put to the model.
   */
  versionOf(session: string, message: string, delivery: string): Version | undefined {
    const row = this.#sql.version.get({ conversation: session, message, delivery });
    if (row === undefined) return undefined;
    return { words: wordsOf(row), latest: row["latest"] === 1, forgotten: row["forgotten"] === 1 };
  }

  /**
   * Takes a question that will have no answer out of the transcript, and what was done for it. What was said before it
   * goes to the next question.
   */
  retract(session: string, delivery: string, at: number): void {
    transaction(this.#database, () => {
      const context = this.#sql.retract.get(session, delivery)?.["context"];
      if (typeof context === "string") this.#context.giveBack(session, delivery, context, at);
      this.steps.drop(session, [delivery], at);
    });
  }

  /**
   * Keeps the answer to a question under its last delivery, for those of its deliveries alone: one that an
   * attempt before asked along with them is still without an answer. The steps that led to it go.
   */
  keepAnswer(session: string, deliveries: readonly string[], text: string, at: number): void {
    const delivery = deliveries.at(-1);
    if (delivery === undefined) return;
    transaction(this.#database, () => {
      this.append({ session, delivery, role: "assistant", text, at });
      for (const one of deliveries) this.#sql.join.run(delivery, session, one);
      this.steps.drop(session, deliveries, at);
    });
  }

  /** The answer that was made for a delivery, perhaps before a send that failed, and where it is kept. */
  answerTo(session: string, delivery: string): { text: string; delivery: string } | undefined {
    const row = this.#sql.answer.get({ conversation: session, delivery });
    return row === undefined ? undefined : { text: String(row["text"]), delivery: String(row["delivery"]) };
  }

  /** Tells whether a delivery's message is in the transcript, from an attempt before this one. */
  knows(session: string, delivery: string): boolean {
    return this.#sql.question.get(session, delivery) !== undefined;
  }

  /**
   * Returns what is put before the model for a question that was added: its messages, and before them as many as
   * `limit` leaves. What stands before starts with a user's message, as the model's interface demands.
   */
  history(session: string, deliveries: readonly string[], limit: number): History {
    const question = deliveries.flatMap((delivery) => {
      const row = this.#sql.question.get(session, delivery);
      return row === undefined ? [] : [{ said: readSaid(row), seq: Number(row["seq"]), delivery }];
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

  /** Stores the summary of a session's messages up to `seq`. */
  summarise(session: string, summary: string, seq: number): void {
    this.#sql.summarise.run(summary, seq, session);
  }

  /** Starts a session over: its messages are kept, but not put before the model any more. */
  reset(session: string, at: number): void {
    transaction(this.#database, () => {
      this.#context.take(session);
      this.#sql.reset.run({ conversation: session, at });
    });
  }

  /** Returns when a session's last message came or it started over, in milliseconds since the epoch. */
  updatedAt(session: string): number | undefined {
    const at = this.#sql.session.get(session)?.["updated_at"];
    return typeof at === "number" ? at : undefined;
  }

  /** Messages of a session since it began. */
  size(session: string): number {
    return Number(this.#sql.session.get(session)?.["messages"] ?? 0);
  }

  /** The model that a conversation chose, `<provider>/<model id>`. It stays when the session starts over. */
  modelOf(session: string): string | undefined {
    const model = this.#sql.session.get(session)?.["model"];
    return typeof model === "string" ? model : undefined;
  }

  /** Chooses a conversation's model; `undefined` goes back to the config's. */
  setModel(session: string, model: string | undefined): void {
    this.#sql.setModel.run(session, model ?? null);
  }

  /** Returns how many tokens the provider counted for each that was estimated, where it was ever asked here. */
  tokenRatio(session: string): number | undefined {
    const ratio = this.#sql.session.get(session)?.["token_ratio"];
    return typeof ratio === "number" ? ratio : undefined;
  }

  /** See {@link tokenRatio}. */
  setTokenRatio(session: string, ratio: number): void {
    lightTransaction(this.#database, () => this.#sql.setRatio.run(ratio, session));
  }

  /** Keeps a message that is not answered, the last `keep` of them, for the next answer there. */
  noteContext(session: string, message: ContextMessage, keep: number): void {
    this.#context.note(session, message, keep);
  }

  /** Gives a message that is kept as context a new text; `undefined` removes it. False: there is none. */
  changeContext(session: string, message: string, text: string | undefined): boolean {
    return this.#context.change(session, message, text);
  }

  /** Every session, the last used first. */
  list(): SessionSummary[] {
    return this.#sql.list.all().map(readSession);
  }

  /** Returns how many there ever were, with those that retention has removed. Reads one row. */
  counts(): { conversations: number; messages: number; webChat: number; answered: number } {
    const row = this.#sql.totals.get();
    return {
      conversations: Number(row?.["conversations"]),
      messages: Number(row?.["messages"]),
      webChat: Number(this.#sql.webChat.get()?.["messages"]),
      answered: Number(this.#sql.answered.get()?.["answered"]),
    };
  }

  /** Messages by day from one (YYYY-MM-DD) on, oldest first. Reads a row a day. */
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
    ? { role: "user", said: readSaid(row), seq }
    : { role: "assistant", text: modelText(String(row["text"])), seq };
}

/** A group's message has a name, which a message of a direct chat has not. */
function readSaid(row: Record<string, SQLOutputValue>): Said {
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
