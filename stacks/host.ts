import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { DiscordCommands } from "../infra/channels/discord-commands.ts";
import { ensureBaseImage } from "../infra/build/base/index.ts";
import { buildBundle, type Bundle } from "../infra/build/bundle.ts";
import { APP_DOCKERFILE } from "../infra/build/image.ts";
import { Container } from "../infra/host/container.ts";
import { Image, type ImageBuild } from "../infra/host/image.ts";
import { Volume } from "../infra/host/volume.ts";
import { Readiness } from "../infra/readiness/readiness.ts";
import { HOST_NAMES } from "../runtime/contract/names.ts";
import type { HostConfig } from "./config.ts";
import type { StackOutputs } from "./outputs.ts";

/** The stack on one Docker host: image, volume, container with its port, and the probe. */
export async function host(config: HostConfig): Promise<StackOutputs> {
  const bundle = await buildBundle();
  const engine = new docker.Provider("docker", { ...(config.docker && { host: config.docker }) });
  const options = { providers: { docker: engine } };
  const url = `http://${engineHost(config)}:${config.hostPort}`;

  const image = new Image("image", { source: await imageSource(config, bundle) }, options);
  const volume = new Volume("data", { volumeName: HOST_NAMES.volume, protect: config.protectState }, options);
  const container = new Container(
    "service",
    {
      containerName: HOST_NAMES.container,
      imageId: image.imageId,
      volumeName: volume.volumeName,
      port: { external: config.hostPort, address: config.hostAddress },
      memoryMiB: config.memoryMiB,
      variables: config.runtime.variables,
      secrets: config.runtime.secrets,
    },
    options,
  );
  const readiness = new Readiness(
    "readiness",
    {
      url,
      // An image of one's own is its own affair.
      bundle: config.image === undefined ? bundle.container.hash : undefined,
      publicWebhooks: config.publicWebhooks,
      triggers: [container.containerId],
    },
    { dependsOn: container },
  );
  const commands = offerCommands(config, readiness);

  return {
    target: "host",
    url,
    image: image.imageId,
    bundleHash: bundle.hash,
    containerId: container.containerId,
    volumeName: volume.volumeName,
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

/** The image is built on the engine that runs it, which first needs the base image. */
async function imageSource(config: HostConfig, { container }: Bundle): Promise<string | ImageBuild> {
  if (config.image !== undefined) return config.image;
  const log = (line: string) => void pulumi.log.info(line, undefined, undefined, true);
  const { image: base } = await ensureBaseImage({ log, env: engineEnvironment(config) });
  return { context: container.dir, dockerfile: APP_DOCKERFILE, base, hash: container.hash };
}

/** The engine that runs the container is the one that has to have the base image. */
function engineEnvironment({ docker: address }: HostConfig): NodeJS.ProcessEnv {
  return { ...process.env, ...(address !== undefined && { DOCKER_HOST: address }) };
}

/** The name by which this machine reaches the port that the engine maps. */
function engineHost({ docker: address, hostAddress }: HostConfig): string {
  if (address?.startsWith("ssh://")) return new URL(address).hostname;
  const any = hostAddress === "0.0.0.0" || hostAddress === "::";
  if (any) return "127.0.0.1";
  return hostAddress.includes(":") ? `[${hostAddress}]` : hostAddress;
}
