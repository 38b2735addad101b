import * as pulumi from "@pulumi/pulumi";
import { baseMonth } from "../infra/bundle/base.ts";
import { buildBundle, COMPATIBILITY, type Bundle } from "../infra/bundle/bundle.ts";
import { operatorStack } from "../infra/dynamic/resource.ts";
import { commandsFor } from "../infra/shell/package.ts";
import { Registrations, type RegistrationsArgs } from "../infra/channels/registrations.ts";
import { Readiness } from "../infra/readiness/readiness.ts";
import { AttestationKey } from "../infra/secrets/attestation-key.ts";
import { ConfigCheck } from "../infra/secrets/config-check.ts";
import { SecretChecks } from "../infra/secrets/secret-checks.ts";
import { AccessGate } from "../infra/serverless/access-gate.ts";
import { ContainerApplication } from "../infra/serverless/container-application.ts";
import { CostEstimate } from "../infra/serverless/cost-estimate.ts";
import { type CostInputs, dollars, monthlyCost } from "../infra/serverless/cost.ts";
import { type DutyReading, readDuty } from "../infra/serverless/duty.ts";
import { MigrationPlan } from "../infra/serverless/migration-plan.ts";
import { readModules, Worker } from "../infra/serverless/worker.ts";
import { checkPermissions, permissionsOf } from "../infra/serverless/permissions.ts";
import { PushedImage } from "../infra/serverless/pushed-image.ts";
import { applicationName, defaultBucketName } from "../infra/serverless/names.ts";
import { StateBucket } from "../infra/serverless/state-bucket.ts";
import { ATTESTATION_KEY_VARIABLE } from "../runtime/contract/attestation.ts";
import { offeredChannels } from "../runtime/contract/config/credentials.ts";
import { AGENT, SANDBOX_CLASS } from "../runtime/contract/names.ts";
import { BUNDLE_VARIABLE } from "../runtime/contract/variables.ts";
import { askAboutRunningConfig } from "./running-config.ts";
import type { ServerlessConfig } from "./config.ts";
import { cloudflareAccess } from "./config/cloudflare.ts";
import { stackSource } from "./config/source.ts";
import { tellOfDiscordCommands, warnOfPublicDiscordApp } from "./discord-app.ts";
import type { StackOutputs } from "./outputs.ts";

/** https://developers.cloudflare.com/containers/platform-details/image-management/ */
const CLOUDFLARE_REGISTRY = "registry.cloudflare.com";

/** The stack on Cloudflare: identity gateway, bucket, Worker, container application, and the probe. */
export async function serverless(config: ServerlessConfig): Promise<StackOutputs> {
  const { accountId, workerName, runtime } = config;
  // Creates nothing in the account. Starts the dynamic resources' process while the bundle is built.
  const attestation = new AttestationKey("attestation-key");
  const [bundle] = await Promise.all([buildBundle(), checkToken(config)]);
  warnOfPublicDiscordApp(config);
  tellOfDiscordCommands(config);
  const url = config.origin ?? `https://${config.host}`;
  const secrets = new SecretChecks("secrets", { secrets: runtime.secrets });
  const pushed = pushImage(config, bundle, secrets);
  const image = pushed?.reference ?? config.image ?? `${AGENT}:${bundle.container.hash}`;
  const problem = askAboutRunningConfig(attestation.key, { url, runtime });
  const configCheck = new ConfigCheck("config-check", { problem });
  const gate = createGate(config);
  const bucket = createBucket(config);
  const estimate = estimateCost(config, bucket);
  const plan = new MigrationPlan("migrations", { accountId, workerName, migrations: config.migrations });
  const worker = new Worker(
    "worker",
    {
      accountId,
      workerName,
      hostname: config.hostname,
      mainModule: bundle.worker.mainModule,
      modules: await readModules(bundle.worker.files),
      compatibility: COMPATIBILITY,
      migrations: config.migrations,
      variables: {
        ...runtime.variables,
        [BUNDLE_VARIABLE]: bundle.worker.hash,
        PUBLIC_ORIGIN: config.endpoints.worker ?? url,
        ...(gate && { EDGE_ACCESS_AUD: gate.audience }),
      },
      secrets: {
        ...runtime.secrets,
        [ATTESTATION_KEY_VARIABLE]: attestation.key,
      },
      bucketName: bucket.name,
      email: config.alertEmail,
    },
    { dependsOn: [secrets, configCheck, plan, ...(pushed ? [pushed] : [])] },
  );
  const application = new ContainerApplication(
    "sandbox",
    {
      accountId,
      name: applicationName(workerName),
      scriptName: worker.scriptName,
      className: SANDBOX_CLASS,
      image,
      instanceType: config.instanceType,
      maxInstances: 1,
    },
    { dependsOn: worker.deployment },
  );
  const readiness = new Readiness(
    "readiness",
    {
      url,
      bundle: bundle.worker.hash,
      attestation: attestation.expected(runtime),
      channels: offeredChannels(runtime.secrets),
      alerts: runtime.secrets["ALERTS"] !== undefined,
      key: attestation.key,
      publicWebhooks: config.publicWebhooks,
      triggers: [worker.deployment.deploymentId, image],
    },
    { dependsOn: [worker.deployment, application] },
  );
  const registrations = register(config, url, readiness);

  return {
    target: "serverless",
    url,
    workerName: worker.scriptName,
    versionId: worker.versionId,
    bucketName: bucket.name,
    containerApplicationId: application.id,
    image,
    bundleHash: bundle.hash,
    ...(gate && { audience: gate.audience }),
    readiness: readiness.report,
    cost: estimate.line,
    ...(registrations && { registrations: registrations.report }),
    // Output the command: the manifest itself would add forty lines to every update.
    slackManifest: commandsFor(operatorStack()).script("slack-manifest"),
  };
}

/** Checks the API token before anything is created, also in a preview. */
function checkToken({ accountId, operators }: ServerlessConfig): Promise<void> {
  const permissions = permissionsOf({ gate: operators !== undefined });
  const warn = (line: string) => void pulumi.log.warn(line);
  return checkPermissions({ permissions, accountId, ...cloudflareAccess(stackSource()), warn });
}

/**
 * Pushes the image. By default, a rehearsal pushes none, since its containers run on the local engine. Neither does a
 * stack with a custom image, which is already in a registry.
 */
function pushImage(
  { accountId, instanceType, image, registry, origin, api }: ServerlessConfig,
  { container: { hash } }: Bundle,
  secrets: SecretChecks,
): PushedImage | undefined {
  if (image !== undefined || (registry === undefined && origin !== undefined)) return undefined;
  const args = {
    accountId,
    registry: registry ?? CLOUDFLARE_REGISTRY,
    instanceType,
    hash,
    baseMonth: baseMonth(),
    api,
  };
  return new PushedImage("image", args, { dependsOn: secrets });
}

/** Without a configured identity gateway, the admin pages stay closed and say what is missing. */
function createGate(config: ServerlessConfig): AccessGate | undefined {
  const { accountId, workerName: label, host, operators, publicWebhooks } = config;
  if (operators === undefined) return undefined;
  return new AccessGate("access", { accountId, label, host, operators, publicWebhooks });
}

/** Waits for the readiness check, since a platform sends as soon as it is registered. */
function register(config: ServerlessConfig, url: string, readiness: Readiness): Registrations | undefined {
  const telegram = telegramBot(config);
  const discord = discordApp(config);
  const slack = slackApp(config);
  if (slack === undefined && telegram === undefined && discord === undefined) return undefined;
  if (config.publicWebhooks) {
    return new Registrations("channels", { url, slack, telegram, discord }, { dependsOn: readiness });
  }
  void pulumi.log.warn("steward:publicWebhooks is false, so nothing is registered with the chat platforms.");
  return undefined;
}

function slackApp({ slackAppId: appId, slackConfigToken: configToken }: ServerlessConfig) {
  return appId === undefined || configToken === undefined ? undefined : { appId, configToken };
}

function telegramBot({ runtime }: ServerlessConfig): RegistrationsArgs["telegram"] {
  const { TELEGRAM_BOT_TOKEN: botToken, TELEGRAM_WEBHOOK_SECRET: secretToken } = runtime.secrets;
  if (botToken === undefined || secretToken === undefined) return undefined;
  return { botToken, secretToken };
}

function discordApp(config: ServerlessConfig): RegistrationsArgs["discord"] {
  const { discordApplicationId: applicationId, discordPublicKey: publicKey, runtime } = config;
  const { DISCORD_BOT_TOKEN: botToken } = runtime.secrets;
  if (botToken === undefined || applicationId === undefined || publicKey === undefined) return undefined;
  return { botToken, applicationId, publicKey };
}

/** Creates the bucket. An existing bucket with this name that belongs to another stack stops the preview. */
function createBucket(config: ServerlessConfig): StateBucket {
  const [project, stack] = [pulumi.getProject(), pulumi.getStack()];
  return new StateBucket("state", {
    accountId: config.accountId,
    name: config.bucketName,
    defaultName: defaultBucketName(project, stack),
    project,
    stack,
    onDestroy: config.bucketOnDestroy,
    adopt: config.adoptBucket,
    protect: config.protectState,
  });
}

/** Estimates the cost of a serverless stack, from its measured usage if it is deployed already. */
function estimateCost(config: ServerlessConfig, bucket: StateBucket): CostEstimate {
  const { accountId, instanceType, sleepAfter, expectedAwakeHours: awakeHours } = config;
  const access = { accountId, ...cloudflareAccess(stackSource()) };
  const duty = bucket.name.apply((bucketName) => readDuty({ ...access, bucketName, now: Date.now() }));
  const inputs = { instanceType, sleepAfter, ...(awakeHours !== undefined && { awakeHours }) };
  duty.apply((reading) => warnOverBudget(config, inputs, reading));
  return new CostEstimate("cost", { ...inputs, duty });
}

/** Only warns, unlike the check of the expected cost: a bot's use must not block its updates. */
function warnOverBudget(
  { monthlyBudget }: ServerlessConfig,
  inputs: CostInputs,
  { measured }: DutyReading,
): void {
  if (monthlyBudget === undefined || measured === undefined) return;
  const cost = monthlyCost({ ...inputs, measured });
  if (cost <= monthlyBudget) return;
  const amounts = `about ${dollars(cost)} a month, above steward:monthlyBudget (${dollars(monthlyBudget)})`;
  void pulumi.log.warn(`As it is used, the stack costs ${amounts}.`);
}
