import * as docker from "@pulumi/docker";
import * as pulumi from "@pulumi/pulumi";
import { HostGateway } from "../infra/gateway/host-gateway.ts";
import { resolveEngine } from "../infra/shell/docker.ts";
import { HOST_NAMES, type HostNames } from "../runtime/contract/names.ts";
import { withAdoption, GATEWAY } from "./adopt.ts";
import type { HostConfig } from "./config.ts";
import type { StackOutputs } from "./outputs.ts";

export async function host(config: HostConfig, names: HostNames = HOST_NAMES): Promise<StackOutputs> {
  const { target, dockerHost: configured, ...args } = config;
  const engine = await resolveEngine(configured);
  void pulumi.log.info(`Docker engine: ${engine.address} (${engine.source})`);
  const provider = new docker.Provider("docker", engine.provider);
  // Give the gateway the Docker provider's address, so that a later refresh uses the same engine for all resources.
  const dockerHost = engine.provider.certPath === undefined ? engine.provider.host : undefined;
  const gateway = new HostGateway(
    GATEWAY,
    {
      ...args,
      dockerHost,
      containerName: names.container,
      ...(args.dataDirectory === undefined && { volumeName: names.volume }),
    },
    withAdoption({ providers: { docker: provider } }),
  );
  const { volumeName, dataDirectory, discordCommands } = gateway;
  return {
    target,
    url: gateway.url,
    image: gateway.image,
    bundleHash: gateway.bundleHash,
    containerId: gateway.containerId,
    ...(dataDirectory === undefined ? { volumeName } : { dataDirectory }),
    readiness: gateway.readiness,
    ...(discordCommands && { discordCommands }),
  };
}
