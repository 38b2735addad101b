import type { dynamic } from "@pulumi/pulumi";
import { discordCommandsProvider } from "../channels/discord-commands.ts";
import { discordEndpointProvider } from "../channels/discord-endpoint.ts";
import { slackAppProvider } from "../channels/slack-app.ts";
import { telegramWebhookProvider } from "../channels/telegram-webhook.ts";
import { attestationKeyProvider } from "../secrets/attestation-key.ts";
import { configCheckProvider } from "../secrets/config-check.ts";
import { secretCheckProvider } from "../secrets/secret-checks.ts";
import { containerApplicationProvider } from "../serverless/container-application.ts";
import { costEstimateProvider } from "../serverless/cost-estimate.ts";
import { migrationPlanProvider } from "../serverless/migration-plan.ts";
import type { DynamicType } from "./resource.ts";

/** Providers of the dynamic resources. States refer to this file and to these names. */
export const providers: Record<DynamicType, dynamic.ResourceProvider> = {
  "channels:DiscordCommands": discordCommandsProvider,
  "channels:DiscordEndpoint": discordEndpointProvider,
  "channels:SlackApp": slackAppProvider,
  "channels:TelegramWebhook": telegramWebhookProvider,
  "secrets:AttestationKey": attestationKeyProvider,
  "secrets:ConfigCheck": configCheckProvider,
  "secrets:SecretCheck": secretCheckProvider,
  "serverless:ContainerApplication": containerApplicationProvider,
  "serverless:CostEstimate": costEstimateProvider,
  "serverless:MigrationPlan": migrationPlanProvider,
};
