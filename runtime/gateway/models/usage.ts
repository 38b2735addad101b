import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { ModelUsage, SourceUsage } from "../../contract/control.ts";
import { lightTransaction } from "../../process/database.ts";

export const DAY_MS = 24 * 3_600_000;

const WEEK_DAYS = 7;

/** Returns the UTC day (YYYY-MM-DD) of a time in milliseconds since the epoch. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Counts tokens by day (UTC) and model. */
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

  /** Counts one request. `at` is in milliseconds since the epoch. */
  add(model: string, tokens: { input: number; output: number }, at: number): void {
    lightTransaction(this.#database, () => this.#add.run(dayOf(at), model, tokens.input, tokens.output));
  }

  /** Returns the last `days` days with requests, newest first. */
  recent(days: number): ModelUsage[] {
    return this.#recent.all(days).map(readUsage);
  }

  /** Returns all days from `day` (YYYY-MM-DD) on, oldest first. */
  since(day: string): ModelUsage[] {
    return this.#since.all(day).map(readUsage);
  }
}

function readUsage(row: Record<string, SQLOutputValue>): ModelUsage {
  return { day: String(row["day"]), ...countsOf(row) };
}

function countsOf(row: Record<string, SQLOutputValue>): Omit<ModelUsage, "day"> {
  return {
    model: String(row["model"]),
    requests: Number(row["requests"]),
    inputTokens: Number(row["input_tokens"]),
    outputTokens: Number(row["output_tokens"]),
  };
}

const KEPT_DAYS = 30;
/** Maximum number of rows per day and kind (people or chats). Without a limit, strangers could fill the disk. */
const MAX_ROWS = 1_000;
const KINDS = ["person", "place"] as const;

/** Counts tokens by day (UTC) and model, for each person and each chat (`place`). Drops counts after 30 days. */
export class SourceUsageStore {
  readonly #database: DatabaseSync;
  readonly #add: StatementSync;
  readonly #forget: StatementSync;
  readonly #known: StatementSync;
  readonly #count: StatementSync;
  readonly #since: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec(
      `CREATE TABLE IF NOT EXISTS usage_sources (
         day TEXT NOT NULL,
         kind TEXT NOT NULL CHECK (kind IN ('person', 'place')),
         platform TEXT NOT NULL,
         id TEXT NOT NULL,
         model TEXT NOT NULL,
         requests INTEGER NOT NULL,
         input_tokens INTEGER NOT NULL,
         output_tokens INTEGER NOT NULL,
         PRIMARY KEY (day, kind, platform, id, model)
       ) STRICT, WITHOUT ROWID`,
    );
    this.#add = database.prepare(
      `INSERT INTO usage_sources VALUES (?, ?, ?, ?, ?, 1, ?, ?)
       ON CONFLICT (day, kind, platform, id, model) DO UPDATE SET
         requests = requests + 1,
         input_tokens = input_tokens + excluded.input_tokens,
         output_tokens = output_tokens + excluded.output_tokens`,
    );
    this.#forget = database.prepare("DELETE FROM usage_sources WHERE day <= ?");
    const row = "day = ? AND kind = ? AND platform = ? AND id = ? AND model = ?";
    this.#known = database.prepare(`SELECT 1 FROM usage_sources WHERE ${row}`);
    this.#count = database.prepare("SELECT count(*) AS count FROM usage_sources WHERE day = ? AND kind = ?");
    this.#since = database.prepare(
      `SELECT platform, id, model, sum(requests) AS requests, sum(input_tokens) AS input_tokens,
         sum(output_tokens) AS output_tokens
       FROM usage_sources WHERE day >= ? AND kind = ? GROUP BY platform, id, model
       ORDER BY sum(input_tokens + output_tokens) DESC, platform, id`,
    );
  }

  /** Counts one request. `at` is in milliseconds since the epoch. */
  add(
    { platform, person, place }: { platform: string; person: string; place: string },
    { model, tokens }: { model: string; tokens: { input: number; output: number } },
    at: number,
  ): void {
    const day = dayOf(at);
    lightTransaction(this.#database, () => {
      this.#forget.run(dayOf(at - KEPT_DAYS * DAY_MS));
      for (const [kind, id] of [
        ["person", person],
        ["place", place],
      ] as const) {
        const isKnown = this.#known.get(day, kind, platform, id, model) !== undefined;
        const isFull = !isKnown && Number(this.#count.get(day, kind)?.["count"]) >= MAX_ROWS;
        const source = isFull ? ["", ""] : [platform, id];
        this.#add.run(day, kind, ...source, model, tokens.input, tokens.output);
      }
    });
  }

  /**
   * Returns the usage since `day` (YYYY-MM-DD), first for people, then for chats. For each of the two, lists the rows
   * with the most tokens, up to `most` rows, and then, for each model, the sum of the remaining rows. A row is the
   * use of one model by one person or in one chat.
   */
  top(day: string, most: number): SourceUsage[] {
    const found: SourceUsage[] = [];
    for (const kind of KINDS) {
      const others = new Map<string, SourceUsage>();
      let named = 0;
      for (const row of this.#since.all(day, kind)) {
        const [platform, id] = [String(row["platform"]), String(row["id"])];
        const { model, requests, inputTokens, outputTokens } = countsOf(row);
        if (id !== "" && named < most) {
          named += 1;
          found.push({ kind, platform, id, model, requests, inputTokens, outputTokens });
          continue;
        }
        const sum = others.get(model);
        others.set(model, {
          kind,
          platform: "",
          id: "",
          model,
          requests: requests + (sum?.requests ?? 0),
          inputTokens: inputTokens + (sum?.inputTokens ?? 0),
          outputTokens: outputTokens + (sum?.outputTokens ?? 0),
        });
      }
      found.push(...others.values());
    }
    return found;
  }
}

/** Formats each model's token and request counts for today and the last seven days (UTC). */
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
