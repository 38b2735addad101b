import { connection } from "../shell/connection.ts";

/** Slack's Web API, without a slash at the end. */
export function slackRoot(): string {
  return (connection().endpoints?.slack ?? "https://slack.com/api").replace(/\/+$/, "");
}

/** Telegram's Bot API, without a slash at the end. */
export function telegramRoot(): string {
  return (connection().endpoints?.telegram ?? "https://api.telegram.org").replace(/\/+$/, "");
}

/** Discord's HTTP API with its version, without a slash at the end. */
export function discordRoot(endpoint = connection().endpoints?.discord): string {
  return (endpoint ?? "https://discord.com/api/v10").replace(/\/+$/, "");
}

/** Anthropic's API without its version, without a slash at the end. */
export function anthropicRoot(): string {
  return (connection().endpoints?.anthropic ?? "https://api.anthropic.com").replace(/\/+$/, "");
}

/** OpenAI's API with its version, or another server's that speaks its protocol, without a slash at the end. */
export function openaiRoot(): string {
  return (connection().endpoints?.openai ?? "https://api.openai.com/v1").replace(/\/+$/, "");
}
