import type { Provider } from "@pulumi/cloudflare/provider.js";
import * as pulumi from "@pulumi/pulumi";
import { ATTESTATION_KEY_VARIABLE } from "../../runtime/contract/attestation.ts";
import { channelsWithCredentials } from "../../runtime/contract/config/credentials.ts";
import { AGENT, SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import { BUNDLE_VARIABLE } from "../../runtime/contract/variables.ts";
import { baseMonth } from "../bundle/base.ts";
import { buildBundle, COMPATIBILITY } from "../bundle/bundle.ts";
import { tellOfDiscordCommands, warnOfPublicDiscordApp } from "../channels/discord-app.ts";
import { Registrations, type RegistrationsArgs } from "../channels/registrations.ts";
import { operatorStack, warnOfUnlistedPlugin } from "../shell/resource.ts";
import { Readiness } from "../readiness/readiness.ts";
import { AttestationKey } from "../secrets/attestation-key.ts";
import { ConfigCheck } from "../secrets/config-check.ts";
import { SecretChecks } from "../secrets/secret-checks.ts";
import type { ApiCredentials } from "../serverless/account-api.ts";
import { AccessGate } from "../serverless/access-gate.ts";
import { ContainerApplication } from "../serverless/container-application.ts";
import { CostEstimate } from "../serverless/cost-estimate.ts";
import { MigrationPlan } from "../serverless/migration-plan.ts";
import { applicationName, defaultName, LONGEST } from "../serverless/names.ts";
import { checkPermissions, permissionsOf } from "../serverless/permissions.ts";
import { PushedImage, type PushedImageArgs } from "../serverless/pushed-image.ts";
import { StateBucket } from "../serverless/state-bucket.ts";
import { readModules, Worker } from "../serverless/worker.ts";
import { commandsFor } from "../shell/package.ts";
import { BUILD, type WithDefaults, withDefaults, type ServerlessGatewayArgs } from "./args.ts";
import { checkArgs, UNKNOWN_IN_PREVIEW, whenKnown } from "./check.ts";
import { environmentOf, type RuntimeEnvironment } from "./environment.ts";
import { throwExplained, type CheckGate, gateOf } from "./gate.ts";
import { gatewayImage } from "./image.ts";
import { workersHost } from "./rules.ts";
import { askAboutRunningConfig } from "./running-config.ts";

/** https://developers.cloudflare.com/containers/platform-details/image-management/ */
const CLOUDFLARE_REGISTRY = "registry.cloudflare.com";

type Settings = WithDefaults<"serverless"> & { workerName: string };

/**
 * An assistant gateway on Cloudflare: a Worker with a container, a state bucket, an identity gateway for the admin
 * pages, and registrations with the chat platforms. The deployment fails if a check of the service fails.
 */
export class ServerlessGateway extends pulumi.ComponentResource {
  /** The service's address, without a trailing slash. */
  readonly url: pulumi.Output<string>;
  readonly workerName: pulumi.Output<string>;
  /** Id of the Worker's deployed version. */
  readonly versionId: pulumi.Output<string>;
  /** Name of the bucket with the config file and the backups. */
  readonly bucketName: pulumi.Output<string>;
  readonly containerApplicationId: pulumi.Output<string>;
  /** Reference to the container's image; contains the digest if the image was pushed. */
  readonly image: pulumi.Output<string>;
  /** Hash of the Worker's and the container's code. */
  readonly bundleHash: pulumi.Output<string>;
  /** Audience of the identity gateway's tokens; `undefined` without an identity gateway. */
  readonly audience: pulumi.Output<string> | undefined;
  /** Results of the service's checks, one line per check. */
  readonly readiness: pulumi.Output<string>;
  readonly cost: pulumi.Output<string>;
  /** Registrations with the chat platforms, one line each; `undefined` if there are none. */
  readonly registrations: pulumi.Output<string> | undefined;

  /** @throws RunError that lists all problems with the arguments; no resource is registered */
  constructor(name: string, args: ServerlessGatewayArgs, opts?: pulumi.ComponentResourceOptions) {
    const names = { project: pulumi.getProject(), stack: pulumi.getStack(), name };
    const { workerName = defaultName(names, LONGEST.worker) } = args;
    const settings = { ...withDefaults("serverless", args), workerName };
    const checked = checkArgs("serverless", name, settings);
    warnOfUnlistedPlugin();
    super("steward:index:ServerlessGateway", name, {}, opts);

    const credentials = credentialsOf(settings, this.getProvider("cloudflare:index/worker:Worker"));
    const wanted = gatewayImage(hasRegistry(settings) ? settings : localImage(settings), checked);
    const gate = gateOf(Promise.all([checked.then(() => checkToken(settings, credentials)), wanted.checked]));
    const { runtime, url, accountId } = gated(settings, gate);
    const parent = { parent: this };
    const stored = storedCredentials(settings, credentials);
    const connection = { cloudflare: stored, endpoints: settings.endpoints };
    // Create this resource first, so that its provider process starts while the bundle is built.
    const attestation = new AttestationKey(`${name}-attestation-key`, parent);
    const bundle = gate(buildBundle().catch(throwExplained));
    const { worker: code, container } = bundle;
    warnOfPublicDiscordApp(runtime.secrets.DISCORD_BOT_TOKEN, settings.endpoints?.discord);
    if (settings.discord?.botToken !== undefined) tellOfDiscordCommands();
    const secrets = new SecretChecks(`${name}-secrets`, { secrets: runtime.secrets, connection }, parent);
    const pushed =
      wanted.isOwn && hasRegistry(settings)
        ? new PushedImage(
            `${name}-image`,
            {
              accountId,
              registry: settings.registry ?? CLOUDFLARE_REGISTRY,
              instanceType: settings.instanceType,
              ...(wanted.name && { source: gate(wanted.name) }),
              hash: container.hash,
              baseMonth: baseMonth(),
              api: stored,
            },
            { ...parent, dependsOn: secrets },
          )
        : undefined;
    const image = pushed?.reference ?? gate(wanted.name ?? pulumi.interpolate`${AGENT}:${container.hash}`);
    const commands = commandsFor(operatorStack());
    const problem = askAboutRunningConfig(attestation.key, { url, environment: runtime, commands });
    const configCheck = new ConfigCheck(`${name}-config-check`, { problem }, parent);
    const access = createAccess(`${name}-access`, settings, { accountId, parent: this });
    const bucket = new StateBucket(
      `${name}-state`,
      {
        accountId,
        name: settings.bucketName,
        defaultName: defaultName(names, LONGEST.bucket),
        owner: `${names.project}/${names.stack}`,
        onDestroy: settings.bucketOnDestroy,
        adopt: settings.adoptBucket,
        protect: settings.protectState,
        connection,
      },
      parent,
    );
    const estimate = new CostEstimate(
      `${name}-cost`,
      {
        instanceType: settings.instanceType,
        sleepAfter: settings.sleepAfter,
        awakeHours: settings.expectedAwakeHours,
        maxSandboxes: settings.maxSandboxes,
        monthlyBudget: settings.monthlyBudget,
        monthlyChatBudget: settings.monthlyChatBudget,
        accountId,
        bucketName: bucket.name,
        api: credentials,
      },
      parent,
    );
    const { migrations } = settings;
    const planned = { accountId, workerName, migrations, connection };
    const plan = new MigrationPlan(`${name}-migrations`, planned, parent);
    const worker = new Worker(
      `${name}-worker`,
      {
        accountId,
        workerName,
        hostname: settings.hostname,
        mainModule: code.mainModule,
        modules: code.files.apply(readModules),
        compatibility: COMPATIBILITY,
        migrations,
        variables: {
          ...runtime.variables,
          [BUNDLE_VARIABLE]: code.hash,
          PUBLIC_ORIGIN: settings.endpoints?.worker ?? url,
          ...(access && { EDGE_ACCESS_AUD: access.audience }),
        },
        secrets: { ...runtime.secrets, [ATTESTATION_KEY_VARIABLE]: attestation.key },
        bucketName: bucket.name,
        hasDirectory: settings.tenancy === "chat",
        alerts: settings.alerts,
        connection,
      },
      { ...parent, dependsOn: [secrets, configCheck, plan, ...(pushed ? [pushed] : [])] },
    );
    const application = new ContainerApplication(
      `${name}-sandbox`,
      {
        accountId,
        name: applicationName(workerName),
        scriptName: worker.scriptName,
        className: SANDBOX_CLASS,
        image,
        instanceType: settings.instanceType,
        maxInstances: settings.maxSandboxes ?? 1,
        connection,
      },
      { ...parent, dependsOn: worker.deployment },
    );
    const readiness = new Readiness(
      `${name}-readiness`,
      {
        url,
        bundle: code.hash,
        attestation: attestation.expected(runtime),
        channels: channelsWithCredentials(runtime.secrets),
        alerts: runtime.secrets["ALERTS"] !== undefined,
        key: attestation.key,
        publicWebhooks: settings.publicWebhooks,
        triggers: [worker.deployment.deploymentId, image],
      },
      { ...parent, dependsOn: [worker.deployment, application] },
    );
    // Register the channels after the readiness check, because a registered channel receives events immediately.
    const channels = channelsOf(settings, runtime);
    const registrations =
      channels === undefined
        ? undefined
        : new Registrations(
            `${name}-channels`,
            { url, ...channels, connection },
            { ...parent, dependsOn: readiness },
          );

    this.url = url;
    this.workerName = worker.scriptName;
    this.versionId = worker.versionId;
    this.bucketName = bucket.name;
    this.containerApplicationId = application.id;
    this.image = image;
    this.bundleHash = bundle.hash;
    this.audience = access?.audience;
    this.readiness = readiness.report;
    this.cost = estimate.line;
    this.registrations = registrations?.report;
    this.registerOutputs({ url, workerName: this.workerName, readiness: this.readiness });
  }
}

/** Returns the children's inputs, which resolve only after the checks have passed. */
function gated(settings: Settings, gate: CheckGate) {
  const { secrets, variables } = environmentOf("serverless", settings);
  const entries = Object.entries(secrets).map(([name, value]) => [name, gate(value)]);
  const runtime: RuntimeEnvironment = { variables, secrets: Object.fromEntries(entries) };
  return { runtime, url: gate(urlOf(settings)), accountId: gate(settings.accountId) };
}

/** Returns true if images are pushed to a registry. By default, a rehearsal uses only the local engine. */
function hasRegistry({ registry, origin }: Settings): boolean {
  return registry !== undefined || origin === undefined;
}

/** Returns the settings for a deployment without a registry. The default image is built on the local engine. */
function localImage({ image = BUILD, ...settings }: Settings): Settings {
  return { ...settings, image };
}

function hostOf({ hostname, subdomain = "", workerName }: Settings): pulumi.Input<string> {
  return hostname ?? pulumi.output(subdomain).apply((name) => workersHost(workerName, name));
}

function urlOf(settings: Settings): pulumi.Output<string> {
  return pulumi.output(settings.origin ?? pulumi.interpolate`https://${hostOf(settings)}`);
}

function credentialsOf(
  { cloudflare = {} }: Settings,
  own: pulumi.ProviderResource | undefined,
): ApiCredentials {
  const provider = own as Provider | undefined;
  return {
    apiToken: cloudflare.apiToken ?? provider?.apiToken,
    baseUrl: cloudflare.baseUrl ?? provider?.baseUrl,
  };
}

/** Returns the credentials that the state keeps for commands that do not run the Pulumi program. */
function storedCredentials(
  { cloudflare }: Settings,
  { apiToken, baseUrl }: ApiCredentials,
): PushedImageArgs["api"] {
  const isStored = apiToken !== undefined && cloudflare?.tokenInEnvironment !== true;
  return { baseUrl, ...(isStored && { apiToken: pulumi.secret(apiToken) }) };
}

/**
 * Checks the API token before anything is created, also in previews. Skips the check if the token is absent or not
 * yet known.
 */
async function checkToken(settings: Settings, { apiToken, baseUrl }: ApiCredentials): Promise<void> {
  const [accountId, token, baseURL] = await Promise.all([
    whenKnown(settings.accountId),
    whenKnown(apiToken),
    whenKnown(baseUrl),
  ]);
  if (
    accountId === UNKNOWN_IN_PREVIEW ||
    token === UNKNOWN_IN_PREVIEW ||
    baseURL === UNKNOWN_IN_PREVIEW ||
    token === undefined
  )
    return;
  const permissions = permissionsOf({ gate: settings.access?.operators !== undefined });
  const warn = (line: string) => void pulumi.log.warn(line);
  await checkPermissions({ permissions, accountId, apiToken: token, baseURL, warn });
}

function createAccess(
  name: string,
  settings: Settings,
  { accountId, parent }: { accountId: pulumi.Output<string>; parent: pulumi.Resource },
): AccessGate | undefined {
  const { workerName: label, publicWebhooks } = settings;
  const operators = settings.access?.operators;
  if (operators === undefined) return undefined;
  const args = { accountId, label, host: hostOf(settings), operators, publicWebhooks };
  return new AccessGate(name, args, { parent });
}

function channelsOf(
  settings: Settings,
  runtime: RuntimeEnvironment,
): Omit<RegistrationsArgs, "url"> | undefined {
  const { TELEGRAM_BOT_TOKEN, TELEGRAM_WEBHOOK_SECRET, DISCORD_BOT_TOKEN } = runtime.secrets;
  const { appId, configToken } = settings.slack ?? {};
  const { applicationId, publicKey } = settings.discord ?? {};
  const channels = {
    ...(appId !== undefined &&
      configToken !== undefined && { slack: { appId, configToken: pulumi.secret(configToken) } }),
    ...(TELEGRAM_BOT_TOKEN &&
      TELEGRAM_WEBHOOK_SECRET && {
        telegram: { botToken: TELEGRAM_BOT_TOKEN, secretToken: TELEGRAM_WEBHOOK_SECRET },
      }),
    ...(DISCORD_BOT_TOKEN &&
      applicationId !== undefined &&
      publicKey !== undefined && { discord: { botToken: DISCORD_BOT_TOKEN, applicationId, publicKey } }),
  };
  if (Object.keys(channels).length === 0) return undefined;
  if (settings.publicWebhooks) return channels;
  void pulumi.log.warn("steward:publicWebhooks is false, so nothing is registered with the chat platforms.");
  return undefined;
}
