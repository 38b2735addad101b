import { table } from "../../shared/table.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLOutputValue, type SQLInputValue } from "node:sqlite";
import type { Command } from "commander";
import { storeFailure } from "../../process/database.ts";
import type { CommandContext, JsonOption } from "./context.ts";

const MOST_ROWS = 1_000;
const USAGE = `SELECT day, model, requests, input_tokens, output_tokens FROM usage
  ORDER BY day DESC, model LIMIT ${MOST_ROWS}`;

/** A row of a query. */
type Row = Record<string, SQLOutputValue>;

/** `steward usage`: tokens by day (UTC) and model. */
export function addUsageCommand(program: Command, context: CommandContext): void {
  program
    .command("usage")
    .description("tokens by day (UTC) and model, newest first")
    .option("--json", "as JSON")
    .action(({ json }: JsonOption) => {
      const usage = readRows(context, "usage", USAGE).map((row) => ({
        day: String(row["day"]),
        model: String(row["model"]),
        requests: Number(row["requests"]),
        inputTokens: Number(row["input_tokens"]),
        outputTokens: Number(row["output_tokens"]),
      }));
      const cells = usage.map((row) => Object.values(row).map(String));
      const text = table(["Day", "Model", "Requests", "Tokens in", "Tokens out"], cells);
      context.output.answer(json, { usage }, usage.length === 0 ? "No model requests yet." : text);
    });
}

/** Returns rows of state.db as it is: looking at it neither makes the file nor changes its form. */
export function readRows(
  { settings }: CommandContext,
  tableName: string,
  query: string,
  ...values: SQLInputValue[]
): Row[] {
  const file = join(settings.home, "state.db");
  if (!existsSync(file)) return [];
  try {
    using database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    const made = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(tableName);
    return made === undefined ? [] : database.prepare(query).all(...values);
  } catch (error) {
    throw storeFailure(error, file) ?? error;
  }
}
