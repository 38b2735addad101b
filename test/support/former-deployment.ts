import type { Deployment } from "@pulumi/pulumi/automation/index.js";
import { withoutGateway } from "./former-gateway.ts";
import type { TestStack } from "./stack.ts";

const NOW = "pulumi-nodejs:dynamic/serverless:Deployment";
const FORMER = "cloudflare:index/workersDeployment:WorkersDeployment";

const WORKER = "cloudflare:index/worker:Worker";

interface Resource {
  urn: string;
  type: string;
  id: string;
  provider: string;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown>;
}

/**
 * Converts a state to that of older versions, which deployed the Worker with Cloudflare's official resource and set
 * fewer properties.
 */
function asFormer(deployment: Deployment): Deployment {
  const list = (deployment as unknown as { resources: Resource[] }).resources;
  const own = list.find(({ type }) => type === NOW);
  const provider = list.find(({ type }) => type === WORKER)?.provider ?? "";
  if (own === undefined) throw new Error("there is no deployment");
  const { deploymentId, accountId, scriptName, versions, lastTag } = own.outputs;
  const inputs = {
    accountId,
    scriptName,
    strategy: "percentage",
    versions,
    annotations: { workersMessage: `after migration ${String(lastTag)}` },
  };
  const urn = own.urn.replace(NOW, FORMER);
  const text = JSON.stringify(deployment).replaceAll(own.urn, urn);
  const former = JSON.parse(text) as { resources: Resource[] };
  for (const resource of former.resources) {
    const { type } = resource;
    if (resource.urn === urn) {
      Object.assign(resource, { type: FORMER, id: deploymentId, provider, inputs, outputs: inputs });
    }
    if (type === WORKER) {
      for (const key of ["logpush", "tags", "tailConsumers"]) Reflect.deleteProperty(resource.inputs, key);
      Object.assign(resource.inputs, { observability: { enabled: true }, subdomain: { enabled: true } });
    }
    if (type.includes("zeroTrustAccess")) {
      for (const key of ["excludes", "requires", "sessionDuration", "appLauncherVisible"]) {
        Reflect.deleteProperty(resource.inputs, key);
      }
    }
  }
  return former as unknown as Deployment;
}

/** Replaces a stack's state with that of older versions. */
export async function intoFormerShape({ stack }: TestStack): Promise<void> {
  const exported = await stack.exportStack();
  await stack.importStack({ ...exported, deployment: asFormer(withoutGateway(exported.deployment)) });
}
