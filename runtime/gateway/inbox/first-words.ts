import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { FirstWordReport } from "../../contract/control.ts";
import { lightTransaction } from "../../process/database.ts";

/** Upper bounds of the classes in seconds, as Prometheus has them; the last one is without a bound. */
const BOUNDS = [1, 2, 5, 10, 30, 60, 120, 300, Number.POSITIVE_INFINITY] as const;
/** The promise, with a few seconds for the platform. */
const LATE_SECONDS = 65;
/** Messages that wait at the same time and are remembered. */
const MOST_WAITING = 10_000;

/**
 * Measures how long messages wait until their chat reads a first word of the answer, or a notice in its place. What was
 * counted outlives the process; the table is no part of the schema's versions, so that an older version ignores it.
 */
export class FirstWords {
  readonly #database: DatabaseSync;
  readonly #add: StatementSync;
  readonly #all: StatementSync;
  /** Times at which the messages came that have read nothing yet, by `<platform> <id>`. */
  readonly #waiting = new Map<string, number>();
  #lateAt: number | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec(
      `CREATE TABLE IF NOT EXISTS first_words (bound TEXT PRIMARY KEY, count INTEGER NOT NULL, seconds REAL NOT NULL)
       STRICT, WITHOUT ROWID`,
    );
    this.#add = database.prepare(
      `INSERT INTO first_words VALUES (?, 1, ?)
       ON CONFLICT (bound) DO UPDATE SET count = count + 1, seconds = seconds + excluded.seconds`,
    );
    this.#all = database.prepare("SELECT bound, count, seconds FROM first_words");
  }

  /** A message has come, `at` milliseconds since the epoch, whose chat has read nothing of its answer. */
  wait(key: string, at: number): void {
    if (this.#waiting.size < MOST_WAITING) this.#waiting.set(key, at);
  }

  /** Its chat has read something now. Counts once a message. */
  heard(key: string, now: number): void {
    const at = this.#waiting.get(key);
    if (at === undefined) return;
    this.#waiting.delete(key);
    const seconds = Math.max(0, now - at) / 1_000;
    if (seconds > LATE_SECONDS) this.#lateAt = now;
    const bound = BOUNDS.find((one) => seconds <= one) ?? Number.POSITIVE_INFINITY;
    lightTransaction(this.#database, () => this.#add.run(String(bound), seconds));
  }

  /** It ended, or came back, without a word. */
  forget(key: string): void {
    this.#waiting.delete(key);
  }

  get report(): FirstWordReport {
    const rows = new Map(this.#all.all().map((row) => [Number(row["bound"]), row]));
    let count = 0;
    const buckets = BOUNDS.map((bound) => {
      count += Number(rows.get(bound)?.["count"] ?? 0);
      return { le: bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound), count };
    });
    const seconds = [...rows.values()].reduce((sum, row) => sum + Number(row["seconds"]), 0);
    const lateAt = this.#lateAt === undefined ? undefined : new Date(this.#lateAt).toISOString();
    return { buckets, count, seconds, ...(lateAt !== undefined && { lateAt }) };
  }
}
