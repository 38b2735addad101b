import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ModelUsage } from "../../contract/control.ts";

/** Tokens by day (UTC) and model. */
export class UsageStore {
  readonly #add: StatementSync;
  readonly #recent: StatementSync;

  constructor(database: DatabaseSync) {
    this.#add = database.prepare(
      `INSERT INTO usage (day, model, requests, input_tokens, output_tokens) VALUES (?, ?, 1, ?, ?)
       ON CONFLICT (day, model) DO UPDATE SET
         requests = requests + 1,
         input_tokens = input_tokens + excluded.input_tokens,
         output_tokens = output_tokens + excluded.output_tokens`,
    );
    this.#recent = database.prepare(
      `SELECT day, model, requests, input_tokens, output_tokens FROM usage
       WHERE day IN (SELECT DISTINCT day FROM usage ORDER BY day DESC LIMIT ?)
       ORDER BY day DESC, model`,
    );
  }

  /** Counts one answered request. `at` is in milliseconds since the epoch. */
  add(model: string, tokens: { input: number; output: number }, at: number): void {
    this.#add.run(new Date(at).toISOString().slice(0, 10), model, tokens.input, tokens.output);
  }

  /** The last `days` days on which a model was asked, newest first. */
  recent(days: number): ModelUsage[] {
    return this.#recent.all(days).map((row) => ({
      day: String(row["day"]),
      model: String(row["model"]),
      requests: Number(row["requests"]),
      inputTokens: Number(row["input_tokens"]),
      outputTokens: Number(row["output_tokens"]),
    }));
  }
}
