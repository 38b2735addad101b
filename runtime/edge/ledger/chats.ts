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

  /** Claims a word to a chat for the caller, who then says it, or returns why there is nothing to say. */
  claim(chat: string, word: OutageWord): "claimed" | "told before" | "not known" {
    const [known] = this.#sql.all("SELECT told FROM ledger_chats WHERE chat = ?", chat);
    if (known === undefined) return "not known";
    if (known["told"] === word) return "told before";
    this.#sql.all("UPDATE ledger_chats SET told = ?2 WHERE chat = ?1", chat, word);
    return "claimed";
  }

  /** The chat was not told after all. */
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

/** Returns what an event stays in order by: all of one chat key do. */
export function chatKeyOf({ platform, conversation }: Delivery): string {
  return `${platform}:${conversation}`;
}
