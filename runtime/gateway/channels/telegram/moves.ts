import type { DatabaseSync } from "node:sqlite";

/**
 * Groups that became supergroups, which gives them another id (https://core.telegram.org/bots/api#responseparameters).
 * Here a group keeps the id by which it was first known: lists, sessions, files and schedules stay as
 * they are. Only what goes out to Telegram takes the id of now.
 */
export class ChatMoves {
  readonly #database: DatabaseSync;
  /** Ids of now, by the former ones. */
  readonly #current: Map<string, string>;
  readonly #former: Map<string, string>;

  constructor(database: DatabaseSync) {
    const rows = database.prepare("SELECT former, chat FROM chat_moves WHERE platform = 'telegram'").all();
    this.#database = database;
    this.#current = new Map(rows.map((row) => [String(row["former"]), String(row["chat"])]));
    this.#former = new Map([...this.#current].map(([former, chat]) => [chat, former]));
  }

  /** Returns the id by which a group was first known. */
  knownAs(chat: string): string {
    return this.#former.get(chat) ?? chat;
  }

  /** Returns the former ids of all moved groups, by their current ids. */
  all(): Record<string, string> {
    return Object.fromEntries(this.#former);
  }

  /** Returns the id that Telegram takes for a group. */
  current(chat: string): string {
    return this.#current.get(chat) ?? chat;
  }

  /** Keeps that a group has another id. That happens once: no group takes the place of one that is known. */
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
