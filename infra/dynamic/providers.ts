import type { dynamic } from "@pulumi/pulumi";
import { bounded } from "./bounded.ts";
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
import { endWithParent } from "../shell/engine-connection.ts";
import type { DynamicType } from "./resource.ts";

// Only the process that runs dynamic providers is started by the engine itself.
if (process.argv[1]?.endsWith("dynamic-provider")) endWithParent();

/** Providers of the dynamic resources. States refer to this file and to these names. */
export const providers: Record<DynamicType, dynamic.ResourceProvider> = {
  "channels:DiscordCommands": bounded(discordCommandsProvider),
  "channels:DiscordEndpoint": bounded(discordEndpointProvider),
  "channels:SlackApp": bounded(slackAppProvider),
  "channels:TelegramWebhook": bounded(telegramWebhookProvider),
  "host:Placement": bounded(placementProvider),
  "host:Service": bounded(serviceProvider),
  "secrets:AttestationKey": bounded(attestationKeyProvider),
  "secrets:ConfigCheck": bounded(configCheckProvider),
  "secrets:SecretCheck": bounded(secretCheckProvider),
  "serverless:ContainerApplication": bounded(containerApplicationProvider),
  "serverless:CostEstimate": bounded(costEstimateProvider),
  "serverless:Deployment": bounded(deploymentProvider),
  "serverless:MigrationPlan": bounded(migrationPlanProvider),
  "serverless:Migrations": bounded(migrationsProvider),
  "serverless:StateBucket": bounded(stateBucketProvider),
};
