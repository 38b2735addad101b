import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { buildArguments } from "../infra/bundle/arguments.ts";
import { DiscordCommands } from "../infra/channels/discord-commands.ts";
import { ensureBaseImage } from "../infra/bundle/base.ts";
import { buildBundle, type Bundle } from "../infra/bundle/bundle.ts";
import { APP_DOCKERFILE } from "../infra/bundle/image.ts";
import { operatorStack } from "../infra/dynamic/resource.ts";
import {
  Container,
  type ContainerArgs,
  Image,
  type ImageBuild,
  imageName,
  Volume,
} from "../infra/host/container.ts";
import { nameHooks } from "../infra/host/names.ts";
import { Placement } from "../infra/host/placement.ts";
import { preflight } from "../infra/host/preflight.ts";
import { Service } from "../infra/host/service.ts";
import { probeEnvironment } from "../infra/readiness/readiness.ts";
import { AttestationKey } from "../infra/secrets/attestation-key.ts";
import { SecretChecks } from "../infra/secrets/secret-checks.ts";
import { type Engine, resolveEngine } from "../infra/shell/docker.ts";
import { commandsFor } from "../infra/shell/package.ts";
import { ATTESTATION_KEY_VARIABLE } from "../runtime/contract/attestation.ts";
import { offeredChannels } from "../runtime/contract/config/credentials.ts";
import { HOST_NAMES, type HostNames } from "../runtime/contract/names.ts";
import type { HostConfig } from "./config.ts";
import { hostShape } from "./host-shape.ts";
import { judgeConfigText } from "./running-config.ts";
import { warnOfPublicDiscordApp } from "./discord-app.ts";
import type { StackOutputs } from "./outputs.ts";

const ANY = new Set(["0.0.0.0", "::"]);

/** The stack on one Docker host: image, volume, container with its port, and the probe. */
export async function host(config: HostConfig, names: HostNames = HOST_NAMES): Promise<StackOutputs> {
  const bundle = await buildBundle();
  const engine = await resolveEngine(config.docker);
  void pulumi.log.info(`Docker engine: ${engine.address} (${engine.source})`);
  const options = { providers: { docker: new docker.Provider("docker", engine.provider) } };
  // No more of the address than the provider is given, so that all resources find the same engine in a later refresh.
  const dockerHost = engine.provider.certPath === undefined ? engine.provider.host : undefined;

  await look(config, names, engine);
  const hooks = await nameHooks(names, dockerHost);
  warnOfPublicDiscordApp(config);
  const secrets = new SecretChecks("secrets", { secrets: config.runtime.secrets });
  const attestation = new AttestationKey("attestation-key");
  const source = await imageSource(config, bundle, engine);
  const placement = new Placement("placement", {
    container: names.container,
    image: typeof source === "string" ? source : imageName(source),
    volume: config.hostDataDirectory === undefined ? names.volume : "",
    dockerHost,
  });
  const image = new Image("image", { source, round: placement.imageRound }, options);
  const data = createData(config, names, { hooks: hooks.volume, options });
  const container = new Container(
    "service",
    {
      shape: hostShape(config, names),
      imageId: image.imageId,
      data,
      variables: config.runtime.variables,
      secrets: { ...config.runtime.secrets, [ATTESTATION_KEY_VARIABLE]: attestation.key },
      dockerHost,
      hooks: hooks.container,
      round: placement.containerRound,
    },
    { ...options, dependsOn: secrets },
  );
  const service = new Service(
    "service",
    {
      container: names.container,
      containerId: container.containerId,
      imageId: image.imageId,
      dockerHost,
      key: attestation.key,
      probe: probeEnvironment({
        url: `http://${addressOnHost(config)}:${config.hostPort}`,
        // A custom image is not checked.
        bundle: config.image === undefined ? bundle.container.hash : undefined,
        attestation: attestation.expected(config.runtime),
        channels: offeredChannels(config.runtime.secrets),
        alerts: config.runtime.secrets["ALERTS"] !== undefined,
        publicWebhooks: config.publicWebhooks,
      }),
    },
    { dependsOn: container },
  );
  const commands = offerCommands(config, service);

  return {
    target: "host",
    url: `http://${publicAddress(config, engine)}:${config.hostPort}`,
    image: image.imageId,
    bundleHash: bundle.hash,
    containerId: container.containerId,
    ...("directory" in data ? { dataDirectory: data.directory } : data),
    readiness: service.report,
    ...(commands && { discordCommands: commands.id }),
  };
}

/** Registers Discord's commands only: Telegram is polled, and the stack does not know the host's public address. */
function offerCommands(config: HostConfig, service: Service): DiscordCommands | undefined {
  const { discordApplicationId: applicationId, runtime } = config;
  const { DISCORD_BOT_TOKEN: botToken } = runtime.secrets;
  if (applicationId === undefined || botToken === undefined) return undefined;
  return new DiscordCommands("discord-commands", { botToken, applicationId }, { dependsOn: service });
}

/**
 * Returns where the data is: a directory of the host belongs to its owner; the stack makes and removes only a volume.
 */
function createData(
  { hostDataDirectory: directory, protectState: protect }: HostConfig,
  { volume: volumeName }: HostNames,
  { hooks, options }: { hooks: pulumi.ResourceHook[]; options: pulumi.ComponentResourceOptions },
): ContainerArgs["data"] {
  if (directory !== undefined) return { directory };
  return { volumeName: new Volume("data", { volumeName, protect, hooks }, options).volumeName };
}

/** Runs the preflight before anything is made, also in a preview. */
function look(config: HostConfig, names: HostNames, { env: environment }: Engine): Promise<void> {
  const { image, memoryMiB, cpus, diskMiB, hostDataDirectory: directory } = config;
  const port = { external: config.hostPort, address: config.hostAddress };
  const commands = commandsFor(operatorStack());
  const judgeConfig = (text: string) => judgeConfigText(text, config.runtime, commands);
  const plan = { names, environment, port, directory, memoryMiB, cpus, diskMiB, image, judgeConfig };
  return preflight({ ...plan, commands });
}

/** The image is built on the engine that runs it, which first needs the base image. */
async function imageSource(
  config: HostConfig,
  { container }: Bundle,
  { env }: Engine,
): Promise<string | ImageBuild> {
  if (config.image !== undefined) return config.image;
  const log = (line: string) => void pulumi.log.info(line, undefined, undefined, true);
  const { image: base } = await ensureBaseImage({ log, env });
  const { context, hash } = container;
  return { context, dockerfile: APP_DOCKERFILE, hash, buildArgs: buildArguments({ hash, base }) };
}

/** Returns the address at which this machine reaches the port: the engine's host, unless the port is open to that host alone. */
function publicAddress(config: HostConfig, { address }: Engine): string {
  const { hostAddress } = config;
  if (address.startsWith("ssh://") && ANY.has(hostAddress)) return new URL(address).hostname;
  return addressOnHost(config);
}

/** Returns the address at which the engine's own machine reaches the port. */
function addressOnHost({ hostAddress }: HostConfig): string {
  if (ANY.has(hostAddress)) return "127.0.0.1";
  return hostAddress.includes(":") ? `[${hostAddress}]` : hostAddress;
}
