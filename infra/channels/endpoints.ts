import { connection } from "../shell/connection.ts";

/** Without a trailing slash. */
export function slackRoot(): string {
  return (connection().endpoints?.slack ?? "https://slack.com/api").replace(/\/+$/, "");
}

/** Without a trailing slash. */
export function telegramRoot(): string {
  return (connection().endpoints?.telegram ?? "https://api.telegram.org").replace(/\/+$/, "");
}

/** With the API's version, without a trailing slash. */
export function discordRoot(endpoint = connection().endpoints?.discord): string {
  return (endpoint ?? "https://discord.com/api/v10").replace(/\/+$/, "");
}

/** Without the API's version and a trailing slash. */
export function anthropicRoot(): string {
  return (connection().endpoints?.anthropic ?? "https://api.anthropic.com").replace(/\/+$/, "");
}

/** With the API's version, without a trailing slash. May be a server compatible with OpenAI. */
export function openaiRoot(): string {
  return (connection().endpoints?.openai ?? "https://api.openai.com/v1").replace(/\/+$/, "");
}
