import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { buildArguments } from "../infra/bundle/arguments.ts";
import { DiscordCommands } from "../infra/channels/discord-commands.ts";
import { ensureBaseImage } from "../infra/bundle/base.ts";
import { buildBundle, type Bundle } from "../infra/bundle/bundle.ts";
import { APP_DOCKERFILE } from "../infra/bundle/image.ts";
import { Container, type ContainerArgs, Image, type ImageBuild, Volume } from "../infra/host/container.ts";
import { operatorStack } from "../infra/dynamic/resource.ts";
import { preflight } from "../infra/host/preflight.ts";
import { AttestationKey } from "../infra/secrets/attestation-key.ts";
import { SecretChecks } from "../infra/secrets/secret-checks.ts";
import { commandsFor } from "../infra/shell/package.ts";
import { Readiness } from "../infra/readiness/readiness.ts";
import { ATTESTATION_KEY_VARIABLE } from "../runtime/contract/attestation.ts";
import { offeredChannels } from "../runtime/contract/config/credentials.ts";
import { referencesInText } from "../runtime/contract/config/references.ts";
import { HOST_NAMES, type HostNames } from "../runtime/contract/names.ts";
import type { HostConfig } from "./config.ts";
import { hostShape } from "./host-shape.ts";
import { variablesProblem } from "./config-variables.ts";
import { warnOfPublicDiscordApp } from "./discord-app.ts";
import type { StackOutputs } from "./outputs.ts";

const ANY = new Set(["0.0.0.0", "::"]);

/** The stack on one Docker host: image, volume, container with its port, and the probe. */
export async function host(config: HostConfig, names: HostNames = HOST_NAMES): Promise<StackOutputs> {
  const bundle = await buildBundle();
  const engine = new docker.Provider("docker", { ...(config.docker && { host: config.docker }) });
  const options = { providers: { docker: engine } };

  await look(config, names);
  warnOfPublicDiscordApp(config);
  const secrets = new SecretChecks("secrets", { secrets: config.runtime.secrets });
  const attestation = new AttestationKey("attestation-key");
  const image = new Image("image", { source: await imageSource(config, bundle) }, options);
  const data = createData(config, names, options);
  const container = new Container(
    "service",
    {
      shape: hostShape(config, names),
      imageId: image.imageId,
      data,
      variables: config.runtime.variables,
      secrets: { ...config.runtime.secrets, [ATTESTATION_KEY_VARIABLE]: attestation.key },
      dockerHost: config.docker,
    },
    { ...options, dependsOn: secrets },
  );
  const readiness = new Readiness(
    "readiness",
    {
      url: `http://${addressOnHost(config)}:${config.hostPort}`,
      // A custom image is not checked.
      bundle: config.image === undefined ? bundle.container.hash : undefined,
      attestation: attestation.expected(config.runtime),
      channels: offeredChannels(config.runtime.secrets),
      alerts: config.runtime.secrets["ALERTS"] !== undefined,
      key: attestation.key,
      publicWebhooks: config.publicWebhooks,
      container: { name: names.container, dockerHost: config.docker },
      triggers: [container.containerId],
    },
    { dependsOn: container },
  );
  const commands = offerCommands(config, readiness);

  return {
    target: "host",
    url: `http://${publicAddress(config)}:${config.hostPort}`,
    image: image.imageId,
    bundleHash: bundle.hash,
    containerId: container.containerId,
    ...("directory" in data ? { dataDirectory: data.directory } : data),
    readiness: readiness.report,
    ...(commands && { discordCommands: commands.id }),
  };
}

/** Discord's commands alone: Telegram is polled, and the host's public address is not the stack's to know. */
function offerCommands(config: HostConfig, readiness: Readiness): DiscordCommands | undefined {
  const { discordApplicationId: applicationId, runtime } = config;
  const { DISCORD_BOT_TOKEN: botToken } = runtime.secrets;
  if (applicationId === undefined || botToken === undefined) return undefined;
  return new DiscordCommands("discord-commands", { botToken, applicationId }, { dependsOn: readiness });
}

/** A directory of the host is its owner's: only a volume is the stack's to make and to remove. */
function createData(
  { hostDataDirectory: directory, protectState: protect }: HostConfig,
  { volume: volumeName }: HostNames,
  options: pulumi.ComponentResourceOptions,
): ContainerArgs["data"] {
  if (directory !== undefined) return { directory };
  return { volumeName: new Volume("data", { volumeName, protect }, options).volumeName };
}

/** Before anything is made, and in a preview too. */
function look(config: HostConfig, names: HostNames): Promise<void> {
  const { image, memoryMiB, cpus, diskMiB, hostDataDirectory: directory } = config;
  const port = { external: config.hostPort, address: config.hostAddress };
  const environment = engineEnvironment(config);
  const commands = commandsFor(operatorStack());
  const judgeConfig = (text: string) => variablesProblem(referencesInText(text), config.runtime, commands);
  const plan = { names, environment, port, directory, memoryMiB, cpus, diskMiB, image, judgeConfig };
  return preflight({ ...plan, commands });
}

/** The image is built on the engine that runs it, which first needs the base image. */
async function imageSource(config: HostConfig, { container }: Bundle): Promise<string | ImageBuild> {
  if (config.image !== undefined) return config.image;
  const log = (line: string) => void pulumi.log.info(line, undefined, undefined, true);
  const { image: base } = await ensureBaseImage({ log, env: engineEnvironment(config) });
  const { context, hash } = container;
  return { context, dockerfile: APP_DOCKERFILE, hash, buildArgs: buildArguments({ hash, base }) };
}

/** The engine that runs the container is the one that has to have the base image. */
function engineEnvironment({ docker: address }: HostConfig): NodeJS.ProcessEnv {
  return { ...process.env, ...(address !== undefined && { DOCKER_HOST: address }) };
}

/** By which address the port is reached from here: by the engine's name, unless it is open to its host alone. */
function publicAddress(config: HostConfig): string {
  const { docker: address, hostAddress } = config;
  if (address?.startsWith("ssh://") && ANY.has(hostAddress)) return new URL(address).hostname;
  return addressOnHost(config);
}

/** By which address the engine's own machine reaches the port. */
function addressOnHost({ hostAddress }: HostConfig): string {
  if (ANY.has(hostAddress)) return "127.0.0.1";
  return hostAddress.includes(":") ? `[${hostAddress}]` : hostAddress;
}
