import { commandsFor } from "../../infra/shell/package.ts";
import { loadConfig } from "../../stacks/config.ts";
import type { StackConfigSource } from "../../stacks/config/source.ts";

/** A serverless stack that is complete. */
export const SERVERLESS = {
  "cloudflare:apiToken": "test-token_0123456789abcdefghijklmnopqrstuv",
  "steward:target": "serverless",
  "steward:accountId": "00112233445566778899aabbccddeeff",
  "steward:subdomain": "acme",
  "steward:anthropicApiKey": "sk-test",
};
/** A host stack that is complete. */
export const HOST = { "steward:target": "host", "steward:anthropicApiKey": "sk-test" };
/** The keys that are stored as secrets. */
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

/** Values as a stack has them. */
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

/** The problems that a configuration has, as they are shown. */
export function problems(values: Record<string, string | undefined>, secrets = SECRETS): string[] {
  const error = failure(() => loadConfig(source(values, secrets)));
  const lines = (error?.message ?? "").split("\n  ").slice(1);
  return lines.filter((line) => !line.startsWith("  fix: "));
}

/** What loading throws; `undefined` where it does not. */
export function failure(load: () => unknown): Error | undefined {
  try {
    load();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
