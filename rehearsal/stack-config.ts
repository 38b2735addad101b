import type { ConfigMap } from "@pulumi/pulumi/automation/index.js";
import { SUBDOMAIN } from "./cloud.ts";
import type { RehearsalSettings } from "./settings.ts";

export const OPERATOR = "operator@example.com";

interface CommonConfig {
  settings: RehearsalSettings;
  endpoints: Record<string, string>;
}

export function serverlessConfig(
  options: CommonConfig & { apiUrl: string; origin: string; teamOrigin: string },
): ConfigMap {
  const { settings, apiUrl, origin, teamOrigin } = options;
  return {
    ...commonConfig(options),
    "cloudflare:apiToken": secret(settings.apiToken),
    "cloudflare:baseUrl": plain(apiUrl),
    "steward:target": plain("serverless"),
    "steward:accountId": plain(settings.accountId),
    "steward:subdomain": plain(SUBDOMAIN),
    "steward:bucketOnDestroy": plain("empty"),
    "steward:origin": plain(origin),
    "steward:teamDomain": plain(teamOrigin),
    "steward:operators": plain(JSON.stringify([OPERATOR])),
    "steward:telegramWebhookSecret": secret(settings.secrets.telegramWebhookSecret),
  };
}

export function hostConfig(options: CommonConfig): ConfigMap {
  const { settings } = options;
  return {
    ...commonConfig(options),
    "steward:target": plain("host"),
    "steward:hostPort": plain(String(settings.ports.front)),
    "steward:hostAddress": plain("127.0.0.1"),
    "steward:adminToken": secret(settings.secrets.adminToken),
  };
}

function commonConfig({ settings, endpoints }: CommonConfig): ConfigMap {
  const { secrets } = settings;
  return {
    "steward:endpoints": plain(JSON.stringify(endpoints)),
    "steward:anthropicApiKey": secret(secrets.anthropicApiKey),
    "steward:slackBotToken": secret(secrets.slackBotToken),
    "steward:slackSigningSecret": secret(secrets.slackSigningSecret),
    "steward:telegramBotToken": secret(secrets.telegramBotToken),
    "steward:discordApplicationId": plain(secrets.discordApplicationId),
    "steward:discordPublicKey": plain(secrets.discordPublicKey),
    "steward:discordBotToken": secret(secrets.discordBotToken),
  };
}

function plain(value: string): { value: string } {
  return { value };
}

function secret(value: string): { value: string; secret: true } {
  return { value, secret: true };
}
