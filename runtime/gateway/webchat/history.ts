import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ChatTurn } from "../../contract/chat.ts";

/** What a page shows of the conversation before; the transcript keeps all. */
const SHOWN = 200;

/** What was said in the web chat, as its pages show it. Also what /new made the model forget. */
export class ChatHistory {
  readonly #recent: StatementSync;

  constructor(database: DatabaseSync) {
    this.#recent = database.prepare(
      `SELECT delivery, role, text, at FROM messages
       WHERE conversation = ? AND role IN ('user', 'assistant') AND text <> ''
       ORDER BY seq DESC LIMIT ${SHOWN}`,
    );
  }

  /** The last messages, oldest first. */
  recent(conversation: string): ChatTurn[] {
    return this.#recent
      .all(conversation)
      .map(({ delivery, role, text, at }): ChatTurn => ({
        id: String(delivery),
        role: role === "user" ? "user" : "assistant",
        text: String(text),
        at: Number(at),
      }))
      .toReversed();
  }
}
