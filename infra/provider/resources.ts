import { discordCommandsProvider } from "../channels/discord-commands.ts";
import { discordEndpointProvider } from "../channels/discord-endpoint.ts";
import { slackAppProvider } from "../channels/slack-app.ts";
import { telegramWebhookProvider } from "../channels/telegram-webhook.ts";
import { placementProvider } from "../host/placement.ts";
import { serviceProvider } from "../host/service.ts";
import { attestationKeyProvider } from "../secrets/attestation-key.ts";
import { configCheckProvider } from "../secrets/config-check.ts";
import { secretCheckProvider } from "../secrets/secret-checks.ts";
import { containerApplicationProvider } from "../serverless/container-application.ts";
import { costEstimateProvider } from "../serverless/cost-estimate.ts";
import { deploymentProvider } from "../serverless/deployment.ts";
import { migrationPlanProvider } from "../serverless/migration-plan.ts";
import { migrationsProvider } from "../serverless/migrations.ts";
import { stateBucketProvider } from "../serverless/state-bucket.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import type { OwnType } from "../shell/resource.ts";

export const RESOURCES: Readonly<Record<OwnType, ResourceProvider<object>>> = {
  "channels:DiscordCommands": discordCommandsProvider,
  "channels:DiscordEndpoint": discordEndpointProvider,
  "channels:SlackApp": slackAppProvider,
  "channels:TelegramWebhook": telegramWebhookProvider,
  "host:Placement": placementProvider,
  "host:Service": serviceProvider,
  "secrets:AttestationKey": attestationKeyProvider,
  "secrets:ConfigCheck": configCheckProvider,
  "secrets:SecretCheck": secretCheckProvider,
  "serverless:ContainerApplication": containerApplicationProvider,
  "serverless:CostEstimate": costEstimateProvider,
  "serverless:Deployment": deploymentProvider,
  "serverless:MigrationPlan": migrationPlanProvider,
  "serverless:Migrations": migrationsProvider,
  "serverless:StateBucket": stateBucketProvider,
};
