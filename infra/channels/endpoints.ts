import { connection } from "../shell/connection.ts";

/** Returns the address of Slack's Web API without a trailing slash. */
export function slackRoot(): string {
  return (connection().endpoints?.slack ?? "https://slack.com/api").replace(/\/+$/, "");
}

/** Returns the address of Telegram's Bot API without a trailing slash. */
export function telegramRoot(): string {
  return (connection().endpoints?.telegram ?? "https://api.telegram.org").replace(/\/+$/, "");
}

/** Returns the versioned address of Discord's HTTP API without a trailing slash. */
export function discordRoot(endpoint = connection().endpoints?.discord): string {
  return (endpoint ?? "https://discord.com/api/v10").replace(/\/+$/, "");
}

/** Returns the unversioned address of Anthropic's API without a trailing slash. */
export function anthropicRoot(): string {
  return (connection().endpoints?.anthropic ?? "https://api.anthropic.com").replace(/\/+$/, "");
}

/** Returns the versioned address of OpenAI's API, or of a compatible server, without a trailing slash. */
export function openaiRoot(): string {
  return (connection().endpoints?.openai ?? "https://api.openai.com/v1").replace(/\/+$/, "");
}
