import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Sender } from "../channels/channel.ts";
import { attributed, speakerName } from "./statements.ts";

/** Characters of one message that are kept: it is an aside, not a question. */
const LONGEST_TEXT = 2_000;
const HEAD = "(Said in this chat meanwhile, not to you:)";

/** A group's message that was not for the bot. */
export interface ContextMessage {
  /** The platform's event id. */
  delivery: string;
  sender: Sender;
  text: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** What was said in groups and not to the bot, until its next answer there. */
export class ContextNotes {
  readonly #insert: StatementSync;
  readonly #trim: StatementSync;
  readonly #take: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      `INSERT INTO session_context (conversation, delivery, name, text, at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (conversation, delivery) DO NOTHING`,
    );
    this.#trim = database.prepare(
      `DELETE FROM session_context WHERE conversation = :conversation AND seq <= (
         SELECT seq FROM session_context WHERE conversation = :conversation
         ORDER BY seq DESC LIMIT 1 OFFSET :keep)`,
    );
    this.#take = database.prepare(
      "DELETE FROM session_context WHERE conversation = ? RETURNING seq, name, text",
    );
  }

  /** Keeps a message, and the last `keep` of its conversation in all. */
  note(conversation: string, { delivery, sender, text, at }: ContextMessage, keep: number): void {
    if (keep <= 0) return;
    const short = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1).toWellFormed()}…` : text;
    this.#insert.run(conversation, delivery, speakerName(sender), short, at);
    this.#trim.run({ conversation, keep });
  }

  /** What is kept of a conversation, as lines for the model; `null` where nothing is. It is kept no longer. */
  take(conversation: string): string | null {
    const rows = this.#take.all(conversation).toSorted((a, b) => Number(a["seq"]) - Number(b["seq"]));
    if (rows.length === 0) return null;
    return [HEAD, ...rows.map(({ name, text }) => attributed(name, text))].join("\n");
  }
}
