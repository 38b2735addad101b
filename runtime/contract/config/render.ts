import type { Environment } from "../environment.ts";

const OPENAI_BASE_URL = "https://api.openai.com/v1";
const SLACK = ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"] as const;

/**
 * The first config file of a data directory, from what the environment offers. Secrets are written
 * as references to their variables, so the file and every copy of it hold none.
 */
export function renderConfig(environment: Environment): string {
  const has = (name: string): boolean => Boolean(environment[name]);
  const channels = {
    ...(SLACK.every(has) && { slack: { botToken: { env: SLACK[0] }, signingSecret: { env: SLACK[1] } } }),
    ...(has("TELEGRAM_BOT_TOKEN") && { telegram: { botToken: { env: "TELEGRAM_BOT_TOKEN" } } }),
    ...(has("DISCORD_BOT_TOKEN") && { discord: { token: { env: "DISCORD_BOT_TOKEN" } } }),
  };
  const openai = {
    baseUrl: environment["OPENAI_BASE_URL"] || OPENAI_BASE_URL,
    ...(has("OPENAI_API_KEY") && { apiKey: { env: "OPENAI_API_KEY" } }),
  };
  const usesOpenai = has("OPENAI_API_KEY") || has("OPENAI_BASE_URL");
  const models = { ...(usesOpenai && { models: { providers: { openai } } }) };
  return `${JSON.stringify({ ...models, channels }, null, 2)}\n`;
}

/**
 * What the environment offers and the config does not use: a file that was written before a token
 * was set does not learn of it by itself, and the operator should not have to guess.
 */
export function unusedCredentials(environment: Environment, configured: readonly string[]): string[] {
  const offers: Record<string, readonly string[]> = {
    slack: SLACK,
    telegram: ["TELEGRAM_BOT_TOKEN"],
    discord: ["DISCORD_BOT_TOKEN"],
  };
  return Object.entries(offers)
    .filter(([channel]) => !configured.includes(channel))
    .flatMap(([, names]) => names.filter((name) => Boolean(environment[name])));
}
