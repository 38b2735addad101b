import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { ModelUsage } from "../../contract/control.ts";
import { lightTransaction } from "../../process/database.ts";

/** Milliseconds of a day. */
export const DAY_MS = 24 * 3_600_000;

const WEEK_DAYS = 7;

/** The day (UTC, YYYY-MM-DD) of a time in milliseconds since the epoch. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Tokens by day (UTC) and model. */
export class UsageStore {
  readonly #database: DatabaseSync;
  readonly #add: StatementSync;
  readonly #recent: StatementSync;
  readonly #since: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
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
    this.#since = database.prepare(
      "SELECT day, model, requests, input_tokens, output_tokens FROM usage WHERE day >= ? ORDER BY day, model",
    );
  }

  /** Counts one answered request. `at` is in milliseconds since the epoch. */
  add(model: string, tokens: { input: number; output: number }, at: number): void {
    lightTransaction(this.#database, () => this.#add.run(dayOf(at), model, tokens.input, tokens.output));
  }

  /** The last `days` days on which a model was asked, newest first. */
  recent(days: number): ModelUsage[] {
    return this.#recent.all(days).map(readUsage);
  }

  /** From a day (YYYY-MM-DD) on, oldest first. */
  since(day: string): ModelUsage[] {
    return this.#since.all(day).map(readUsage);
  }
}

function readUsage(row: Record<string, SQLOutputValue>): ModelUsage {
  return {
    day: String(row["day"]),
    model: String(row["model"]),
    requests: Number(row["requests"]),
    inputTokens: Number(row["input_tokens"]),
    outputTokens: Number(row["output_tokens"]),
  };
}

/** Returns what /usage tells: tokens by model, of today and of seven days up to today (UTC). */
export function usageText(usage: readonly ModelUsage[], now: number): string {
  const today = dayOf(now);
  const first = dayOf(now - (WEEK_DAYS - 1) * DAY_MS);
  const week = usage.filter(({ day }) => day >= first && day <= today);
  return [
    ...section(
      "Today",
      week.filter(({ day }) => day === today),
    ),
    ...section("Seven days", week),
  ].join("\n");
}

function section(title: string, usage: readonly ModelUsage[]): string[] {
  if (usage.length === 0) return [`${title}: nothing`];
  const models = [...new Set(usage.map(({ model }) => model))];
  const lines = models.map((model) => {
    const own = usage.filter((one) => one.model === model);
    const sum = (read: (one: ModelUsage) => number): string =>
      own.reduce((total, one) => total + read(one), 0).toLocaleString("en-US");
    const requests = sum((one) => one.requests);
    return `- ${model}: ${sum((one) => one.inputTokens)} tokens in, ${sum((one) => one.outputTokens)} out, ${requests} ${requests === "1" ? "request" : "requests"}`;
  });
  return [`${title}:`, ...lines];
}
