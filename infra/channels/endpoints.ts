import type { dynamic } from "@pulumi/pulumi";

/**
 * Addresses of the platforms. Not an argument of a resource: what was registered stays registered
 * wherever the platform is, and a rehearsal's stand-ins move. The providers read it in `configure`.
 */
const endpoints: {
  slack?: string;
  telegram?: string;
  discord?: string;
  anthropic?: string;
  openai?: string;
} = {};

/** Reads `steward:endpoints`, which the stack's configuration has checked. */
export async function configureEndpoints({ config }: dynamic.ConfigureRequest): Promise<void> {
  Object.assign(endpoints, JSON.parse(config.get("steward:endpoints") ?? "{}"));
}

/** Slack's Web API, without a slash at the end. */
export function slackRoot(): string {
  return (endpoints.slack ?? "https://slack.com/api").replace(/\/+$/, "");
}

/** Telegram's Bot API, without a slash at the end. */
export function telegramRoot(): string {
  return (endpoints.telegram ?? "https://api.telegram.org").replace(/\/+$/, "");
}

/** Discord's HTTP API with its version, without a slash at the end. */
export function discordRoot(endpoint = endpoints.discord): string {
  return (endpoint ?? "https://discord.com/api/v10").replace(/\/+$/, "");
}

/** Anthropic's API without its version, without a slash at the end. */
export function anthropicRoot(): string {
  return (endpoints.anthropic ?? "https://api.anthropic.com").replace(/\/+$/, "");
}

/** OpenAI's API with its version, or another server's that speaks its protocol, without a slash at the end. */
export function openaiRoot(): string {
  return (endpoints.openai ?? "https://api.openai.com/v1").replace(/\/+$/, "");
}
