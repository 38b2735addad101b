import type { Delivery } from "../../contract/delivery.ts";
import type { Sql } from "./sql.ts";

const DAY_MS = 24 * 3_600_000;
const KEEP_MS = 90 * DAY_MS;

/** Kind of outage notice: the chat's messages are delayed or were dropped. */
export type OutageWord = "waits" | "given up";

/**
 * Chats that the gateway has answered. During an outage, the edge may send notices only to these, because it does not
 * evaluate access rules.
 */
export class Chats {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Records that the gateway answered a chat. This ends the current outage, if any, so that every chat can be
   * notified again in the next outage.
   */
  answered(chatKey: string, now: number): void {
    this.#sql.all(
      `INSERT INTO ledger_chats (chat, answered_at) VALUES (?1, ?2)
       ON CONFLICT (chat) DO UPDATE SET answered_at = ?2 WHERE answered_at < ?2 - ${DAY_MS}`,
      chatOf(chatKey),
      now,
    );
    this.#sql.all("UPDATE ledger_chats SET told = NULL WHERE told IS NOT NULL");
  }

  /**
   * Reserves an outage notice, which the caller must then send. Refuses if the chat is unknown or has already received
   * this notice.
   */
  claim(chat: string, word: OutageWord): "claimed" | "told before" | "not known" {
    const [known] = this.#sql.all("SELECT told FROM ledger_chats WHERE chat = ?", chat);
    if (known === undefined) return "not known";
    if (known["told"] === word) return "told before";
    this.#sql.all("UPDATE ledger_chats SET told = ?2 WHERE chat = ?1", chat, word);
    return "claimed";
  }

  release(chat: string): void {
    this.#sql.all("UPDATE ledger_chats SET told = NULL WHERE chat = ?", chat);
  }

  /** Deletes chats unanswered for 90 days. */
  prune(now: number): void {
    this.#sql.all("DELETE FROM ledger_chats WHERE answered_at < ?", now - KEEP_MS);
  }
}

export function chatOfDelivery(delivery: Delivery): string {
  return chatOf(chatKeyOf(delivery));
}

/** Strips the Slack thread or Telegram topic from a chat key. */
function chatOf(chatKey: string): string {
  return chatKey.replace(/^(slack:.*):\d+\.\d+$/, "$1").replace(/^(telegram:[^:]*):.*$/, "$1");
}

/** Returns the key under which a conversation's events are delivered in order. */
export function chatKeyOf({ platform, conversation }: Delivery): string {
  return `${platform}:${conversation}`;
}

/** Number of a chat's oldest open entries that may be delivered concurrently. */
export const WINDOW = 20;

export interface LedgerTurn {
  chatKey: string;
  seq: number;
}

/**
 * Table with each chat's next entry to deliver: the oldest that is not in progress. Only the {@link WINDOW} oldest
 * open entries are considered.
 */
export class Turns {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Recomputes every chat's next entry. Call it only while no entry is `delivering`. */
  rebuild(): void {
    this.#sql.all("DELETE FROM ledger_turns");
    // SQLite takes the other columns from the row with `min(seq)`: https://sqlite.org/lang_select.html#bareagg
    this.#sql.all(
      `INSERT INTO ledger_turns SELECT conversation, min(seq), next_at, 0 FROM ledger
       WHERE settled_at IS NULL GROUP BY conversation`,
    );
  }

  /** Recomputes one chat's next entry. Call it in the transaction that changes an entry. */
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

  isDue(now: number): boolean {
    const [row] = this.#sql.all(
      `SELECT EXISTS (SELECT 1 FROM ledger_turns WHERE follows = 0 AND next_at <= ?1)
         OR EXISTS (SELECT 1 FROM ledger_turns WHERE follows = 1 AND next_at <= ?1) AS due`,
      now,
    );
    return row?.["due"] === 1;
  }

  /**
   * Returns up to `limit` due entries, oldest first. If `follows` is true, takes them from chats with an entry in
   * progress, otherwise from idle chats.
   */
  due(now: number, follows: boolean, limit: number, except: ReadonlySet<string>): LedgerTurn[] {
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

  seqOf(chatKey: string): number | undefined {
    const [row] = this.#sql.all("SELECT seq FROM ledger_turns WHERE conversation = ?", chatKey);
    return row === undefined ? undefined : Number(row["seq"]);
  }

  next(after: number): number | undefined {
    // Query each value of `follows` separately, so that each query is a single index lookup.
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
