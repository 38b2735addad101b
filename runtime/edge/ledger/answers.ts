import type { Clock, LastAnswer } from "../ports.ts";
import type { Sql } from "./sql.ts";

/** Characters of the longest answer that is kept. */
const LONGEST = 256 * 1024;

/** The table of what the container last told the pages: one row a question. */
export class AnswerStore {
  readonly #sql: Sql;
  readonly #clock: Clock;

  constructor(sql: Sql, clock: Clock) {
    this.#sql = sql;
    this.#clock = clock;
    sql.all(
      "CREATE TABLE IF NOT EXISTS ledger_answers (question TEXT PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL) WITHOUT ROWID",
    );
  }

  /** Keeps an answer in place of the one before. One that is too long is not kept, and neither is the one before. */
  keep(question: string, text: string): void {
    if (text.length > LONGEST) this.#sql.all("DELETE FROM ledger_answers WHERE question = ?", question);
    else
      this.#sql.all("INSERT OR REPLACE INTO ledger_answers VALUES (?, ?, ?)", question, this.#clock(), text);
  }

  /** Returns the last answer to a question. */
  last(question: string): LastAnswer | undefined {
    const [row] = this.#sql.all("SELECT at, text FROM ledger_answers WHERE question = ?", question);
    return row && { at: new Date(Number(row["at"])).toISOString(), text: String(row["text"]) };
  }
}
