import type { Environment } from "../../contract/environment.ts";

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
  return `${JSON.stringify({ channels }, null, 2)}\n`;
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
