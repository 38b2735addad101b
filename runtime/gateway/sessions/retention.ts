import type { DatabaseSync } from "node:sqlite";
import { setImmediate as pause } from "node:timers/promises";
import type { Config } from "../../contract/config/index.ts";
import type { RetentionNotice } from "../../contract/control.ts";
import type { Log } from "../../shared/log.ts";
import { transaction } from "../../process/database.ts";

const DAY_MS = 24 * 3_600_000;
const LOOK_EVERY_MS = 3_600_000;
/** Milliseconds before the first check, so that the gateway can first answer waiting messages. */
const FIRST_LOOK_MS = 10_000;
/** Milliseconds before a new rule takes effect, so that a mistake can be corrected. */
const NOTICE_MS = DAY_MS;
/** Maximum number of messages removed per batch. A batch blocks all other work. */
const BATCH = 1_000;

type Rules = Config["sessions"]["retention"];

export interface RetentionOptions {
  database: DatabaseSync;
  rules(): Rules;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * Removes expired and excess messages and empty conversations, according to `sessions.retention`. For a new rule's
 * first day, the status only shows what it will remove. Removed messages are counted, so that the next backup does not
 * report them as lost.
 */
export class Retention {
  readonly #options: RetentionOptions;
  readonly #stop = new AbortController();
  #timers: NodeJS.Timeout[] = [];
  #notice: RetentionNotice | undefined;
  #working: Promise<void> | undefined;

  constructor(options: RetentionOptions) {
    this.#options = options;
    countRemovals(options.database);
  }

  /** Returns `undefined` without rules. */
  get notice(): RetentionNotice | undefined {
    return this.#notice;
  }

  start(): void {
    const look = (): void => void this.look();
    this.#timers = [setTimeout(look, FIRST_LOOK_MS).unref(), setInterval(look, LOOK_EVERY_MS).unref()];
  }

  /** Stops after the batch in progress. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#stop.abort();
    await this.#working;
  }

  /** Removes expired and excess messages, or only counts them for {@link notice} on new rules' first day. */
  async look(): Promise<void> {
    await this.#working;
    this.#working = this.#look().catch((error: unknown) =>
      this.#options.log.error("old messages could not be removed", { error: String(error) }),
    );
    await this.#working;
  }

  async #look(): Promise<void> {
    const { database, rules, clock, log } = this.#options;
    const current = rules();
    const text = JSON.stringify(current);
    const isUnset = current.days === undefined && current.messages === undefined;
    const known = database.prepare("SELECT rules, since FROM retention").get();
    // An unneeded write would cause a backup.
    const isNew = known?.["rules"] !== text && !(isUnset && known?.["rules"] === "");
    const since = isNew ? clock() : Number(known["since"]);
    if (isNew) database.prepare("UPDATE retention SET rules = ?, since = ?").run(text, since);
    if (isUnset) {
      this.#notice = undefined;
      return;
    }
    const beginsAt = new Date(since + NOTICE_MS).toISOString();
    if (clock() < since + NOTICE_MS) {
      this.#notice = { beginsAt, messages: this.#due(current) };
      if (isNew) log.warn("sessions.retention will remove messages", { ...this.#notice });
      return;
    }
    const removed = await this.#remove(current);
    this.#notice = { beginsAt, messages: 0 };
    if (removed.messages > 0) log.info("sessions.retention removed messages", removed);
  }

  #due(rules: Rules): number {
    const { database } = this.#options;
    const before = this.#firstToKeep(rules);
    const old = Number(
      database.prepare("SELECT count(*) AS count FROM messages WHERE seq < ?").get(before)?.["count"],
    );
    const many = this.#tooLong(rules, before).reduce((sum, { excess }) => sum + excess, 0);
    return old + many;
  }

  async #remove(rules: Rules): Promise<{ messages: number; sessions: number }> {
    const { database } = this.#options;
    const before = this.#firstToKeep(rules);
    const byAge = database.prepare(
      "DELETE FROM messages WHERE seq IN (SELECT seq FROM messages WHERE seq < ? ORDER BY seq LIMIT ?)",
    );
    const byCount = database.prepare(
      `DELETE FROM messages WHERE seq IN (
         SELECT seq FROM messages WHERE conversation = ? ORDER BY seq LIMIT ?)`,
    );
    let messages = await this.#inBatches(Number.POSITIVE_INFINITY, (most) => byAge.run(before, most).changes);
    for (const { session, excess } of this.#tooLong(rules, before)) {
      messages += await this.#inBatches(excess, (most) => byCount.run(session, most).changes);
    }
    return { messages, sessions: this.#removeEmpty(rules) };
  }

  async #inBatches(most: number, remove: (most: number) => number | bigint): Promise<number> {
    let removed = 0;
    while (removed < most && !this.#stop.signal.aborted) {
      const count = overwriting(this.#options.database, "messages", () =>
        Number(remove(Math.min(BATCH, most - removed))),
      );
      removed += count;
      if (count === 0) break;
      await pause();
    }
    return removed;
  }

  /**
   * Removes expired context messages, and expired conversations without messages. Returns the number of removed
   * conversations.
   */
  #removeEmpty({ days }: Rules): number {
    if (days === undefined || this.#stop.signal.aborted) return 0;
    const { database, clock } = this.#options;
    const before = clock() - days * DAY_MS;
    const removeAsides = database.prepare("DELETE FROM session_context WHERE at < ?");
    const remove = database.prepare(
      `DELETE FROM sessions WHERE updated_at < ?
       AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.conversation = sessions.conversation)`,
    );
    return overwriting(database, "sessions", () => {
      removeAsides.run(before);
      return Number(remove.run(before).changes);
    });
  }

  /** Returns the `seq` of the oldest message that has not expired. */
  #firstToKeep({ days }: Rules): number {
    if (days === undefined) return 0;
    const { database, clock } = this.#options;
    const young = database.prepare("SELECT seq FROM messages WHERE at >= ? ORDER BY seq LIMIT 1");
    const row = young.get(clock() - days * DAY_MS);
    return row === undefined ? Number.MAX_SAFE_INTEGER : Number(row["seq"]);
  }

  /** Returns the conversations with too many unexpired messages, and how many each must lose. */
  #tooLong({ messages }: Rules, before: number): { session: string; excess: number }[] {
    if (messages === undefined) return [];
    return this.#options.database
      .prepare(
        `SELECT conversation, count(*) - :most AS excess FROM messages WHERE seq >= :before
         GROUP BY conversation HAVING excess > 0`,
      )
      .all({ most: messages, before })
      .map(({ conversation: session, excess }) => ({ session: String(session), excess: Number(excess) }));
  }
}

/** Creates the table for the retention rules and the counts of removed messages and conversations. */
function countRemovals(database: DatabaseSync): void {
  database.exec(
    `CREATE TABLE IF NOT EXISTS retention (
       id INTEGER PRIMARY KEY CHECK (id = 1),
       rules TEXT NOT NULL,
       since INTEGER NOT NULL,
       messages INTEGER NOT NULL,
       sessions INTEGER NOT NULL
     ) STRICT;
     INSERT INTO retention VALUES (1, '', 0, 0, 0) ON CONFLICT DO NOTHING`,
  );
}

/**
 * Calls `remove`, and overwrites the removed rows in the database file. Returns the result of `remove`, and adds it
 * to the stored total of removed messages or conversations.
 */
function overwriting(database: DatabaseSync, counted: "messages" | "sessions", remove: () => number): number {
  // https://sqlite.org/pragma.html#pragma_secure_delete
  database.exec("PRAGMA secure_delete = ON");
  try {
    return transaction(database, () => {
      const count = remove();
      database.prepare(`UPDATE retention SET ${counted} = ${counted} + ?`).run(count);
      return count;
    });
  } finally {
    database.exec("PRAGMA secure_delete = OFF");
  }
}

/**
 * Removes a conversation and overwrites its messages in the file. Existing backups still contain it.
 *
 * @returns the number of removed messages; `undefined` if the conversation does not exist
 */
export function deleteConversation(database: DatabaseSync, session: string): number | undefined {
  countRemovals(database);
  let messages: number | undefined;
  overwriting(database, "sessions", () => {
    const known = database.prepare("DELETE FROM sessions WHERE conversation = ?").run(session).changes;
    if (known === 0) return 0;
    for (const table of ["session_context", "steps"])
      database.prepare(`DELETE FROM ${table} WHERE conversation = ?`).run(session);
    messages = Number(database.prepare("DELETE FROM messages WHERE conversation = ?").run(session).changes);
    database.prepare("UPDATE retention SET messages = messages + ?").run(messages);
    return 1;
  });
  return messages;
}

/**
 * Removes a conversation's last question and its answer, and overwrites both in the database file.
 *
 * @returns false if the delivery is not the conversation's last question, or has already been summarised
 */
export function deleteLastExchange(database: DatabaseSync, session: string, delivery: string): boolean {
  const row = database
    .prepare(
      `SELECT max(seq) AS seq FROM messages LEFT JOIN sessions USING (conversation)
       WHERE conversation = ?1 AND role = 'user' AND seq > max(begins_after, summary_to)
       HAVING max(seq) = (SELECT seq FROM messages
         WHERE conversation = ?1 AND delivery = ?2 AND role = 'user')`,
    )
    .get(session, delivery);
  if (row === undefined) return false;
  countRemovals(database);
  overwriting(database, "messages", () => {
    database.prepare("DELETE FROM steps WHERE conversation = ? AND delivery = ?").run(session, delivery);
    const removed = database
      .prepare("DELETE FROM messages WHERE conversation = ? AND seq >= ?")
      .run(session, Number(row["seq"])).changes;
    database
      .prepare("UPDATE sessions SET messages = max(0, messages - ?) WHERE conversation = ?")
      .run(removed, session);
    return Number(removed);
  });
  return true;
}
