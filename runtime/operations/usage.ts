import { table } from "../shared/table.ts";
import { operation, TERMINAL } from "./operation.ts";

const MAX_ROWS = 1_000;
const USAGE = `SELECT day, model, requests, input_tokens, output_tokens FROM usage
  ORDER BY day DESC, model LIMIT ${MAX_ROWS}`;

export const usage = operation({
  name: "usage",
  summary: "tokens by day (UTC) and model, newest first",
  rights: TERMINAL,
  async run(tools) {
    const rows = await tools.rows("usage", USAGE);
    const usage = rows.map((row) => ({
      day: String(row["day"]),
      model: String(row["model"]),
      requests: Number(row["requests"]),
      inputTokens: Number(row["input_tokens"]),
      outputTokens: Number(row["output_tokens"]),
    }));
    return { usage };
  },
  text({ usage }) {
    const cells = usage.map((row) => Object.values(row).map(String));
    if (cells.length === 0) return "No model requests yet.";
    return table(["Day", "Model", "Requests", "Tokens in", "Tokens out"], cells);
  },
});
