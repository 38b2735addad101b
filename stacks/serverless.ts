import * as pulumi from "@pulumi/pulumi";
import { buildBundle } from "../infra/build/bundle.ts";
import { COMPATIBILITY } from "../infra/build/compatibility.ts";
import { Readiness } from "../infra/readiness/readiness.ts";
import { AccessGate } from "../infra/serverless/access-gate.ts";
import { ContainerApplication } from "../infra/serverless/container-application.ts";
import { readModules } from "../infra/serverless/modules.ts";
import { StateBucket } from "../infra/serverless/state-bucket.ts";
import { Worker } from "../infra/serverless/worker.ts";
import { AGENT, SANDBOX_CLASS } from "../runtime/contract/names.ts";
import { BUNDLE_VARIABLE } from "../runtime/contract/variables.ts";
import type { ServerlessConfig } from "./config.ts";
import type { StackOutputs } from "./outputs.ts";

/** The stack on Cloudflare: identity gateway, bucket, Worker, container application, and the probe. */
export async function serverless(config: ServerlessConfig): Promise<StackOutputs> {
  const { accountId, workerName, runtime } = config;
  const bundle = await buildBundle();
  const image = config.image ?? `${AGENT}:${bundle.container.hash}`;
  const url = config.origin ?? `https://${config.host}`;

  const gate = createGate(config);
  const bucket = new StateBucket("state", {
    accountId,
    bucketName: `${pulumi.getStack()}-${AGENT}`,
    protect: config.protectState,
  });
  const worker = new Worker("worker", {
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
      ...(gate && { EDGE_ACCESS_AUD: gate.audience }),
    },
    secrets: runtime.secrets,
    bucketName: bucket.bucketName,
  });
  const application = new ContainerApplication(
    "sandbox",
    {
      accountId,
      name: `${workerName}-sandbox`,
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
      publicWebhooks: config.publicWebhooks,
      triggers: [worker.deployment.id, image],
    },
    { dependsOn: [worker.deployment, application] },
  );

  return {
    target: "serverless",
    url,
    workerName: worker.scriptName,
    versionId: worker.versionId,
    bucketName: bucket.bucketName,
    containerApplicationId: application.id,
    image,
    bundleHash: bundle.hash,
    ...(gate && { audience: gate.audience }),
    readiness: readiness.report,
  };
}

/** No identity gateway configured: the admin pages stay closed, and say what is missing. */
function createGate(config: ServerlessConfig): AccessGate | undefined {
  const { accountId, workerName: label, host, operators, publicWebhooks } = config;
  if (operators === undefined) return undefined;
  return new AccessGate("access", { accountId, label, host, operators, publicWebhooks });
}
