import { connection } from "../shell/connection.ts";

/** Returns the base URL, without a trailing slash. */
export function slackRoot(): string {
  return (connection().endpoints?.slack ?? "https://slack.com/api").replace(/\/+$/, "");
}

/** Returns the base URL, without a trailing slash. */
export function telegramRoot(): string {
  return (connection().endpoints?.telegram ?? "https://api.telegram.org").replace(/\/+$/, "");
}

/** Returns the base URL with the API's version, without a trailing slash. */
export function discordRoot(endpoint = connection().endpoints?.discord): string {
  return (endpoint ?? "https://discord.com/api/v10").replace(/\/+$/, "");
}

/** Returns the base URL, with neither the API's version nor a trailing slash. */
export function anthropicRoot(): string {
  return (connection().endpoints?.anthropic ?? "https://api.anthropic.com").replace(/\/+$/, "");
}

/**
 * Returns the base URL with the API's version, without a trailing slash. The URL may belong to another provider with
 * a compatible API.
 */
export function openaiRoot(): string {
  return (connection().endpoints?.openai ?? "https://api.openai.com/v1").replace(/\/+$/, "");
}
