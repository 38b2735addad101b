import { commandsFor } from "../../infra/shell/package.ts";
import { loadConfig } from "../../stacks/config.ts";
import type { StackConfigSource } from "../../stacks/config/source.ts";

/** A complete serverless stack. */
export const SERVERLESS = {
  "cloudflare:apiToken": "test-token_0123456789abcdefghijklmnopqrstuv",
  "steward:target": "serverless",
  "steward:accountId": "00112233445566778899aabbccddeeff",
  "steward:subdomain": "acme",
  "steward:anthropicApiKey": "sk-test",
};
/** A complete host stack. */
export const HOST = { "steward:target": "host", "steward:anthropicApiKey": "sk-test" };
/** Keys stored as secrets. */
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

/** Returns values as a stack's configuration. */
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

/** Returns a configuration's problems as the user sees them, without fixes. */
export function problems(values: Record<string, string | undefined>, secrets = SECRETS): string[] {
  const error = failure(() => loadConfig(source(values, secrets)));
  const lines = (error?.message ?? "").split("\n  ").slice(1);
  return lines.filter((line) => !line.startsWith("  fix: "));
}

/** Returns the error that `load` throws, or `undefined`. */
export function failure(load: () => unknown): Error | undefined {
  try {
    load();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
