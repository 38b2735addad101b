import { ServerlessGateway } from "../infra/gateway/serverless-gateway.ts";
import { operatorStack } from "../infra/shell/resource.ts";
import { commandsFor } from "../infra/shell/package.ts";
import { withAdoption, GATEWAY } from "./adopt.ts";
import type { ServerlessConfig } from "./config.ts";
import type { StackOutputs } from "./outputs.ts";

export function serverless({ target, ...args }: ServerlessConfig): StackOutputs {
  const gateway = new ServerlessGateway(GATEWAY, args, withAdoption());
  const { audience, registrations } = gateway;
  return {
    target,
    url: gateway.url,
    workerName: gateway.workerName,
    versionId: gateway.versionId,
    bucketName: gateway.bucketName,
    containerApplicationId: gateway.containerApplicationId,
    image: gateway.image,
    bundleHash: gateway.bundleHash,
    ...(audience && { audience }),
    readiness: gateway.readiness,
    cost: gateway.cost,
    ...(registrations && { registrations }),
    // Output the command instead of the manifest, which would add forty lines to every update.
    slackManifest: commandsFor(operatorStack()).script("slack-manifest"),
  };
}
