import type { Sql } from "./sql.ts";

/** Entries of one chat that may be under way at the same time: its first open ones. */
export const WINDOW = 20;

/** Of a chat, the entry whose turn it is. */
export interface Turn {
  chatKey: string;
  seq: number;
}

/**
 * Whose turn it is, one row a chat (the column `conversation` holds the chat key): its first open entry
 * that is not being delivered, while that one is among the first {@link WINDOW} open ones. All before it
 * are under way, so a chat stays in order. Kept apart from the entries, so that what waits costs nothing
 * to pass over.
 */
export class Turns {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Recomputes every turn; no entry may be marked `delivering`. */
  rebuild(): void {
    this.#sql.all("DELETE FROM ledger_turns");
    // The other columns are those of the row with the smallest seq: https://sqlite.org/lang_select.html#bareagg
    this.#sql.all(
      `INSERT INTO ledger_turns SELECT conversation, min(seq), next_at, 0 FROM ledger
       WHERE settled_at IS NULL GROUP BY conversation`,
    );
  }

  /**
   * Recomputes one chat's turn, within the transaction that changed an entry of it. An
   * appended entry computes its own.
   */
  update(chatKey: string): void {
    this.#sql.all("DELETE FROM ledger_turns WHERE conversation = ?", chatKey);
    this.#sql.all(
      `INSERT INTO ledger_turns SELECT ?, seq, next_at, place > 1 FROM (
         SELECT seq, next_at, state, row_number() OVER (ORDER BY seq) AS place FROM (
           SELECT seq, next_at, state FROM ledger WHERE conversation = ? AND settled_at IS NULL
           ORDER BY seq LIMIT ${WINDOW}))
       WHERE state = 'waiting' ORDER BY seq LIMIT 1`,
      chatKey,
      chatKey,
    );
  }

  /** Tells if the turn of any chat is due. */
  isDue(now: number): boolean {
    const [row] = this.#sql.all(
      `SELECT EXISTS (SELECT 1 FROM ledger_turns WHERE follows = 0 AND next_at <= ?1)
         OR EXISTS (SELECT 1 FROM ledger_turns WHERE follows = 1 AND next_at <= ?1) AS due`,
      now,
    );
    return row?.["due"] === 1;
  }

  /**
   * Returns up to `limit` turns that are due, longest due first, without the chats in `except`. With `follows`: those
   * behind entries under way, otherwise those that lead their chat.
   */
  due(now: number, follows: boolean, limit: number, except: ReadonlySet<string>): Turn[] {
    const rows = this.#sql.all(
      `SELECT conversation, seq FROM ledger_turns WHERE next_at <= ? AND follows = ?
       ORDER BY next_at, seq LIMIT ?`,
      now,
      follows ? 1 : 0,
      limit + except.size,
    );
    return rows
      .map(({ conversation, seq }) => ({ chatKey: String(conversation), seq: Number(seq) }))
      .filter(({ chatKey }) => !except.has(chatKey))
      .slice(0, limit);
  }

  /** The entry whose turn it is in a chat: `undefined` where all that may be are under way. */
  of(chatKey: string): number | undefined {
    const [row] = this.#sql.all("SELECT seq FROM ledger_turns WHERE conversation = ?", chatKey);
    return row === undefined ? undefined : Number(row["seq"]);
  }

  /** Returns when the next turn behind `after` falls due, `undefined` where there is none. */
  next(after: number): number | undefined {
    // One look-up each: the index is ordered by it first.
    const [row] = this.#sql.all(
      `SELECT min(at) AS at FROM (
         SELECT min(next_at) AS at FROM ledger_turns WHERE follows = 0 AND next_at > ?
         UNION ALL SELECT min(next_at) FROM ledger_turns WHERE follows = 1 AND next_at > ?)`,
      after,
      after,
    );
    return typeof row?.["at"] === "number" ? row["at"] : undefined;
  }
}
