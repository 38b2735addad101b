import type { Delivery } from "../../contract/delivery.ts";
import type { Sql } from "./sql.ts";

const DAY_MS = 24 * 3_600_000;
const KEEP_MS = 90 * DAY_MS;

/** A word of the edge to a chat during an outage: that messages wait, or that they are given up. */
export type OutageWord = "waits" | "given up";

/**
 * The chats that the gateway has answered. While it is down, the edge may speak to these and to nobody else: it does not
 * know whom the config lets in.
 */
export class Chats {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The gateway has answered in a chat, so an outage is over. */
  answered(chatKey: string, now: number): void {
    this.#sql.all(
      `INSERT INTO ledger_chats (chat, answered_at) VALUES (?1, ?2)
       ON CONFLICT (chat) DO UPDATE SET answered_at = ?2 WHERE answered_at < ?2 - ${DAY_MS}`,
      chatOf(chatKey),
      now,
    );
    this.#sql.all("UPDATE ledger_chats SET told = NULL WHERE told IS NOT NULL");
  }

  /** Reserves a notice for the caller to send, or returns why there is none to send. */
  claim(chat: string, word: OutageWord): "claimed" | "told before" | "not known" {
    const [known] = this.#sql.all("SELECT told FROM ledger_chats WHERE chat = ?", chat);
    if (known === undefined) return "not known";
    if (known["told"] === word) return "told before";
    this.#sql.all("UPDATE ledger_chats SET told = ?2 WHERE chat = ?1", chat, word);
    return "claimed";
  }

  /** Releases a claim whose notice could not be sent. */
  release(chat: string): void {
    this.#sql.all("UPDATE ledger_chats SET told = NULL WHERE chat = ?", chat);
  }

  /** Forgets chats that were not answered for long. */
  prune(now: number): void {
    this.#sql.all("DELETE FROM ledger_chats WHERE answered_at < ?", now - KEEP_MS);
  }
}

/** Returns the chat that a message is from. */
export function chatOfDelivery(delivery: Delivery): string {
  return chatOf(chatKeyOf(delivery));
}

/** Returns the chat of a chat key: without the thread of a Slack channel, or the topic of a Telegram group. */
function chatOf(chatKey: string): string {
  return chatKey.replace(/^(slack:.*):\d+\.\d+$/, "$1").replace(/^(telegram:[^:]*):.*$/, "$1");
}

/** Returns the key whose events are delivered in order. */
export function chatKeyOf({ platform, conversation }: Delivery): string {
  return `${platform}:${conversation}`;
}

/** Entries of one chat that may be delivered at the same time: its first open ones. */
export const WINDOW = 20;

/** The next entry of a chat to deliver. */
export interface Turn {
  chatKey: string;
  seq: number;
}

/**
 * The chats' turns, one row per chat (the column `conversation` holds the chat key): the first open entry that is not
 * being delivered, if it is among the first {@link WINDOW} open ones. All entries before it are being delivered, so a chat
 * stays in order. A separate table: a look-up costs the same however many entries wait.
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
   * Recomputes one chat's turn, within the transaction that changed an entry of it. A trigger does this for an appended
   * entry.
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

  /** Returns true if the turn of any chat is due. */
  isDue(now: number): boolean {
    const [row] = this.#sql.all(
      `SELECT EXISTS (SELECT 1 FROM ledger_turns WHERE follows = 0 AND next_at <= ?1)
         OR EXISTS (SELECT 1 FROM ledger_turns WHERE follows = 1 AND next_at <= ?1) AS due`,
      now,
    );
    return row?.["due"] === 1;
  }

  /**
   * Returns up to `limit` due turns, the oldest first, except for chats in `except`. `follows` selects the turns behind
   * entries that are being delivered; otherwise those at the head of their chat.
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

  /** Returns the entry of a chat that is next; `undefined` if none of its first open ones waits. */
  of(chatKey: string): number | undefined {
    const [row] = this.#sql.all("SELECT seq FROM ledger_turns WHERE conversation = ?", chatKey);
    return row === undefined ? undefined : Number(row["seq"]);
  }

  /** Returns the time of the next turn that is due after `after`; `undefined` if there is none. */
  next(after: number): number | undefined {
    // One look-up for each value of `follows`, the first column of the index.
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
