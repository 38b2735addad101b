import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Delivery } from "../../contract/control.ts";

/** Longer than the edge keeps anything: a day of attempts, then a week until it is pruned. */
const KEEP_MS = 9 * 24 * 3_600_000;

type Key = Pick<Delivery, "platform" | "id">;

/**
 * What is known of deliveries: which are answered, and how many messages of a reply are out.
 *
 * Each entry is written right after the platform took the message. A crash between the two repeats
 * that one message when the edge tries again, and so does a platform that takes it after the time limit.
 */
export class DeliveryRecords {
  readonly #write: StatementSync;
  readonly #read: StatementSync;
  readonly #prune: StatementSync;
  readonly #count: StatementSync;

  constructor(database: DatabaseSync) {
    this.#write = database.prepare(
      `INSERT INTO deliveries (platform, id, sent, answered, at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (platform, id) DO UPDATE SET
         sent = excluded.sent, answered = excluded.answered, at = excluded.at`,
    );
    this.#read = database.prepare("SELECT sent, answered FROM deliveries WHERE platform = ? AND id = ?");
    this.#prune = database.prepare("DELETE FROM deliveries WHERE at < ?");
    this.#count = database.prepare("SELECT count(*) AS answered FROM deliveries WHERE answered = 1");
  }

  /** How far a delivery has come. */
  progress({ platform, id }: Key): { sent: number; answered: boolean } {
    const row = this.#read.get(platform, id);
    return { sent: Number(row?.["sent"] ?? 0), answered: row?.["answered"] === 1 };
  }

  /** Notes that `sent` messages of the reply are out; `answered` when those are all. */
  record({ platform, id }: Key, progress: { sent: number; answered: boolean }, at: number): void {
    this.#write.run(platform, id, progress.sent, progress.answered ? 1 : 0, at);
    if (progress.answered) this.#prune.run(at - KEEP_MS);
  }

  /** Answered deliveries that are still known. */
  get answered(): number {
    return Number(this.#count.get()?.["answered"]);
  }
}
