import { table } from "../../contract/table.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Command } from "commander";
import { storeFailure } from "../../process/database.ts";
import type { CommandContext, JsonOption } from "./context.ts";

const MOST_ROWS = 1_000;
const SESSIONS = `SELECT conversation, count(*) AS messages, max(at) AS last_at FROM messages
  GROUP BY conversation ORDER BY last_at DESC LIMIT ${MOST_ROWS}`;
const USAGE = `SELECT day, model, requests, input_tokens, output_tokens FROM usage
  ORDER BY day DESC, model LIMIT ${MOST_ROWS}`;

type Row = Record<string, unknown>;

/** `steward sessions list`: the latest conversations. */
export function addSessionCommands(program: Command, context: CommandContext): void {
  const sessions = program.command("sessions").description("the conversations that are kept");
  sessions
    .command("list")
    .description(`the conversations that are kept, the latest ${MOST_ROWS}, newest first`)
    .option("--json", "as JSON")
    .action(({ json }: JsonOption) => {
      const rows = read(context, "messages", SESSIONS).map((row) => ({
        conversation: String(row["conversation"]),
        messages: Number(row["messages"]),
        lastAt: new Date(Number(row["last_at"])).toISOString(),
      }));
      const cells = rows.map(({ conversation, messages, lastAt }) => [
        conversation,
        String(messages),
        lastAt,
      ]);
      const text = table(["Conversation", "Messages", "Last"], cells);
      context.output.answer(json, { sessions: rows }, rows.length === 0 ? "No conversations." : text);
    });
}

/** `steward usage`: tokens by day (UTC) and model. */
export function addUsageCommand(program: Command, context: CommandContext): void {
  program
    .command("usage")
    .description("tokens by day (UTC) and model, newest first")
    .option("--json", "as JSON")
    .action(({ json }: JsonOption) => {
      const usage = read(context, "usage", USAGE).map((row) => ({
        day: String(row["day"]),
        model: String(row["model"]),
        requests: Number(row["requests"]),
        inputTokens: Number(row["input_tokens"]),
        outputTokens: Number(row["output_tokens"]),
      }));
      const cells = usage.map((row) => Object.values(row).map(String));
      const text = table(["Day", "Model", "Requests", "Tokens in", "Tokens out"], cells);
      context.output.answer(json, { usage }, usage.length === 0 ? "No model was asked yet." : text);
    });
}

/** Rows of state.db as it is: looking at it neither makes the file nor changes its form. */
function read({ settings }: CommandContext, tableName: string, query: string): Row[] {
  const file = join(settings.home, "state.db");
  if (!existsSync(file)) return [];
  try {
    using database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    const made = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(tableName);
    return made === undefined ? [] : database.prepare(query).all();
  } catch (error) {
    throw storeFailure(error, file) ?? error;
  }
}
