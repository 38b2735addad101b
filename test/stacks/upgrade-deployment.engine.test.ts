import type { Deployment } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";

const NOW = "pulumi-nodejs:dynamic/serverless:Deployment";
const FORMER = "cloudflare:index/workersDeployment:WorkersDeployment";

const WORKER = "cloudflare:index/worker:Worker";

let world: ServerlessStage;
let subject: TestStack;

beforeAll(async () => {
  world = await startServerlessStage();
  subject = await world.stack({ config: { "steward:image": { value: "steward:one" } } });
}, ENGINE_MS);

afterAll(() => world?.close(), UPDATE_MS);

interface Resource {
  urn: string;
  type: string;
  id: string;
  provider: string;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown>;
}

/** Returns a state as a checkout left it that deployed by the official resource, and gave fewer settings. */
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

test(
  "a stack that was deployed by the official resource keeps what serves: one is taken over, nothing else changes",
  async () => {
    await subject.stack.up();
    const { deployments, versions, workers } = world.stage.cloudflare.account.state;
    const exported = await subject.stack.exportStack();
    await subject.stack.importStack({ ...exported, deployment: asFormer(exported.deployment) });

    const { summary } = await subject.stack.up();
    const { create, delete: deleted, same, ...changes } = summary.resourceChanges ?? {};
    expect({ create, deleted, changes }).toEqual({ create: 1, deleted: 1, changes: {} });
    expect(same).toBeGreaterThan(15);
    const after = world.stage.cloudflare.account.state;
    expect(after.deployments).toEqual(deployments);
    expect(after.versions).toEqual(versions);
    expect(after.workers).toEqual(workers);
    expect(Object.keys((await subject.stack.preview({ refresh: true })).changeSummary)).toEqual(["same"]);
  },
  UPDATE_MS * 2,
);
