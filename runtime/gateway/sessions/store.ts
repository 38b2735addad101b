import type { DatabaseSync, StatementSync } from "node:sqlite";

/** One message of a transcript, as the model sees it. */
export interface Turn {
  role: "user" | "assistant";
  text: string;
}

/** What is put into a transcript. `delivery` is the platform's id of the event that it belongs to. */
export interface Entry extends Turn {
  conversation: string;
  delivery: string;
  sender?: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/**
 * The transcripts, one a conversation. They survive restarts. A delivery that is tried again finds
 * its own message, and its answer where one was made, instead of adding them twice.
 */
export class Sessions {
  readonly #append: StatementSync;
  readonly #answer: StatementSync;
  readonly #history: StatementSync;
  readonly #counts: StatementSync;

  constructor(database: DatabaseSync) {
    this.#append = database.prepare(
      `INSERT OR IGNORE INTO messages (conversation, delivery, role, sender, text, at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#answer = database.prepare(
      `SELECT text FROM messages WHERE conversation = ? AND delivery = ? AND role = 'assistant'`,
    );
    this.#history = database.prepare(
      `SELECT role, text FROM messages
       WHERE conversation = :conversation AND seq <= (
         SELECT seq FROM messages
         WHERE conversation = :conversation AND delivery = :delivery AND role = 'user')
       ORDER BY seq DESC LIMIT :limit`,
    );
    this.#counts = database.prepare(
      `SELECT count(*) AS messages, count(DISTINCT conversation) AS conversations FROM messages`,
    );
  }

  /** Adds a message, once: the same delivery and role again changes nothing. */
  append({ conversation, delivery, role, sender, text, at }: Entry): void {
    this.#append.run(conversation, delivery, role, sender ?? null, text, at);
  }

  /** The answer that was made for a delivery, perhaps before a send that failed. */
  answerTo(conversation: string, delivery: string): string | undefined {
    const text = this.#answer.get(conversation, delivery)?.["text"];
    return typeof text === "string" ? text : undefined;
  }

  /**
   * The last `limit` messages up to a delivery's own one, oldest first. Starts with a user's
   * message, as the model's interface demands.
   */
  history(conversation: string, delivery: string, limit: number): Turn[] {
    const turns = this.#history
      .all({ conversation, delivery, limit })
      .map(({ role, text }): Turn => ({ role: role === "user" ? "user" : "assistant", text: String(text) }))
      .toReversed();
    const first = turns.findIndex(({ role }) => role === "user");
    return first === -1 ? [] : turns.slice(first);
  }

  /** How much is kept. */
  counts(): { conversations: number; messages: number } {
    const row = this.#counts.get();
    return { conversations: Number(row?.["conversations"]), messages: Number(row?.["messages"]) };
  }
}
