import type { ConfigMap } from "@pulumi/pulumi/automation/index.js";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { cloudflareConfig } from "./stack.ts";

const CHANNELS: ConfigMap = {
  "steward:anthropicApiKey": { value: "sk-test-0123456789", secret: true },
  "steward:openaiApiKey": { value: "sk-test-9876543210", secret: true },
  "steward:slackBotToken": { value: "xoxb-test-0123456789", secret: true },
  "steward:slackSigningSecret": { value: "the-signing-secret-0123", secret: true },
  "steward:telegramBotToken": { value: "1234567890:the-bots-token", secret: true },
  "steward:discordBotToken": { value: "the-bots-token", secret: true },
  "steward:discordApplicationId": { value: "1000000000000000001" },
  "steward:discordPublicKey": { value: "0".repeat(64) },
  // Nothing listens on this port, so no test contacts Discord.
  "steward:endpoints": { value: '{"discord":"http://127.0.0.1:9"}' },
};

/** Configurations that together create every resource type. */
export const everyResource = {
  serverless: (apiUrl: string): ConfigMap => ({
    ...cloudflareConfig(apiUrl, TOKEN),
    ...CHANNELS,
    "steward:target": { value: "serverless" },
    "steward:accountId": { value: ACCOUNT },
    "steward:hostname": { value: "bot.acme.invalid" },
    // The stand-in for the providers does not generate names.
    "steward:bucketName": { value: "test-steward" },
    "steward:teamDomain": { value: "acme.cloudflareaccess.com" },
    "steward:operators": { value: '["op@acme.dev"]' },
    "steward:slackAppId": { value: "A0123456789" },
    "steward:slackConfigToken": { value: "xoxe-test-0123456789", secret: true },
  }),
  host: (port: number): ConfigMap => ({
    ...CHANNELS,
    "steward:target": { value: "host" },
    "steward:hostPort": { value: String(port) },
    "steward:hostAddress": { value: "127.0.0.1" },
    "steward:adminToken": { value: "the-admin-token-that-nobody-may-read", secret: true },
  }),
};
