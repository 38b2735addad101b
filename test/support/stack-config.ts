import { commandsFor } from "../../infra/shell/package.ts";
import { loadConfig } from "../../stacks/config.ts";
import type { StackConfigSource } from "../../stacks/config/source.ts";

export const SERVERLESS = {
  "cloudflare:apiToken": "test-token_0123456789abcdefghijklmnopqrstuv",
  "steward:target": "serverless",
  "steward:accountId": "00112233445566778899aabbccddeeff",
  "steward:subdomain": "acme",
  "steward:anthropicApiKey": "sk-test",
};
export const HOST = { "steward:target": "host", "steward:anthropicApiKey": "sk-test" };
export const SECRETS = [
  "cloudflare:apiToken",
  "steward:anthropicApiKey",
  "steward:slackBotToken",
  "steward:slackSigningSecret",
  "steward:telegramBotToken",
  "steward:telegramWebhookSecret",
  "steward:discordBotToken",
  "steward:secrets",
  "steward:alerts",
];

export function source(values: Record<string, string | undefined>, secrets = SECRETS): StackConfigSource {
  const given = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return {
    values: Object.fromEntries(given),
    isSecret: (key) => secrets.includes(key),
    environment: {},
    commands: commandsFor("dev"),
  };
}

/** Returns the problems that `loadConfig` reports, without the suggested fixes. */
export function problems(values: Record<string, string | undefined>, secrets = SECRETS): string[] {
  const error = failure(() => loadConfig(source(values, secrets)));
  const lines = (error?.message ?? "").split("\n  ").slice(1);
  return lines.filter((line) => !line.startsWith("  fix: "));
}

export function failure(load: () => unknown): Error | undefined {
  try {
    load();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
