import type { DatabaseSync } from "node:sqlite";

/**
 * Maps between first and current ids of groups that became supergroups
 * (https://core.telegram.org/bots/api#responseparameters). The gateway identifies a group by its first id, so stored
 * data stays valid. Only requests to Telegram use the current id.
 */
export class ChatMoves {
  readonly #database: DatabaseSync;
  /** Current ids by first ids. */
  readonly #current: Map<string, string>;
  readonly #former: Map<string, string>;

  constructor(database: DatabaseSync) {
    const rows = database.prepare("SELECT former, chat FROM chat_moves WHERE platform = 'telegram'").all();
    this.#database = database;
    this.#current = new Map(rows.map((row) => [String(row["former"]), String(row["chat"])]));
    this.#former = new Map([...this.#current].map(([former, chat]) => [chat, former]));
  }

  /** Returns a group's first id, given its first or its current id. */
  knownAs(chat: string): string {
    return this.#former.get(chat) ?? chat;
  }

  /** Returns first ids by current ids. */
  all(): Record<string, string> {
    return Object.fromEntries(this.#former);
  }

  /** Returns the id for requests to Telegram. */
  current(chat: string): string {
    return this.#current.get(chat) ?? chat;
  }

  /**
   * Records a group's new id. Does nothing if `former` or `chat` is already known, so that no group can replace
   * another.
   */
  note(former: string, chat: string): void {
    const isKnown = (id: string): boolean => this.#current.has(id) || this.#former.has(id);
    if (former === chat || isKnown(former) || isKnown(chat)) return;
    this.#current.set(former, chat);
    this.#former.set(chat, former);
    this.#database
      .prepare(
        "INSERT INTO chat_moves (platform, former, chat) VALUES ('telegram', ?, ?) ON CONFLICT DO NOTHING",
      )
      .run(former, chat);
  }
}
