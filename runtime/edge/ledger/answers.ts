import type { Clock, LastAnswer } from "../ports.ts";
import type { Sql } from "./sql.ts";

/** Maximum characters of a stored answer. */
const LONGEST = 256 * 1024;

/** The container's latest answer to each question, shown while the container sleeps. */
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

  /** Replaces the stored answer. If the new one exceeds the size limit, only deletes the old one. */
  keep(question: string, text: string): void {
    if (text.length > LONGEST) this.#sql.all("DELETE FROM ledger_answers WHERE question = ?", question);
    else
      this.#sql.all("INSERT OR REPLACE INTO ledger_answers VALUES (?, ?, ?)", question, this.#clock(), text);
  }

  last(question: string): LastAnswer | undefined {
    const [row] = this.#sql.all("SELECT at, text FROM ledger_answers WHERE question = ?", question);
    return row && { at: new Date(Number(row["at"])).toISOString(), text: String(row["text"]) };
  }
}
