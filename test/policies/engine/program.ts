import * as cloudflare from "@pulumi/cloudflare";
import * as pulumi from "@pulumi/pulumi";
import { Container } from "../../../infra/host/container.ts";
import { Volume } from "../../../infra/host/data.ts";
import { Image } from "../../../infra/host/image.ts";
import { shapeOf } from "../../../infra/host/shape.ts";
import { AccessGate } from "../../../infra/serverless/access-gate.ts";
import { ContainerApplication } from "../../../infra/serverless/container-application.ts";
import type { Migration } from "../../../infra/serverless/migration-list.ts";
import { StateBucket } from "../../../infra/serverless/state-bucket.ts";
import { Worker } from "../../../infra/serverless/worker.ts";
import { ACCOUNT } from "../../rehearsal/support.ts";

/** What of the stack is not as it should be. */
export interface Breaks {
  /** Changes a resource's properties or options before it is registered, by its type. */
  props?: Record<string, (props: pulumi.Inputs) => pulumi.Inputs>;
  teamDomain?: string;
  migrations?: Migration[];
  protect?: boolean;
  image?: string;
  outputs?: Record<string, string>;
  /** Resources beside the stack's. */
  more?: () => unknown;
  /** Whether the container application is there; creating one takes more than this program has. */
  application?: boolean;
}

const DIGEST = `sha256:${"0".repeat(64)}`;

/** A stack of the project's own components, both targets in one, with what is broken about it. */
export function program(breaks: Breaks): Promise<Record<string, pulumi.Input<string>>> {
  const { protect = true } = breaks;
  pulumi.runtime.registerStackTransformation(({ type, props, opts }) => {
    const change = breaks.props?.[type];
    return change && { props: change(props), opts };
  });

  const bucket = new StateBucket("state", {
    accountId: ACCOUNT,
    // The provider that takes every resource chooses no name.
    name: "prod-steward",
    defaultName: "prod-steward",
    owner: "steward/prod",
    onDestroy: "keep",
    protect,
  });
  const gate = new AccessGate("access", {
    accountId: ACCOUNT,
    label: "steward",
    host: "steward.example.com",
    operators: ["op@example.com"],
    publicWebhooks: true,
  });
  const worker = new Worker("worker", {
    accountId: ACCOUNT,
    workerName: "steward",
    hostname: "steward.example.com",
    mainModule: "index.js",
    modules: [],
    compatibility: { date: "2026-11-01", flags: [] },
    migrations: breaks.migrations ?? [{ tag: "v1", newSqliteClasses: ["Sandbox"] }],
    variables: {
      EDGE_ACCESS_AUD: gate.audience,
      EDGE_ACCESS_TEAM_DOMAIN: breaks.teamDomain ?? "example.cloudflareaccess.com",
      SANDBOX_SLEEP_AFTER: "1h",
    },
    secrets: { SLACK_BOT_TOKEN: pulumi.secret("xoxb-the-bot-token") },
    bucketName: bucket.name,
  });
  if (breaks.application) createApplication(worker, breaks.image ?? `registry.example.com/steward@${DIGEST}`);
  createHost(protect);
  breaks.more?.();
  return Promise.resolve({ scriptName: worker.scriptName, ...breaks.outputs });
}

/** A type that no rule knows, and a bucket's public address. */
export function createSurplus(): pulumi.Resource[] {
  const domain = { accountId: ACCOUNT, bucketName: "prod-steward", enabled: true };
  return [
    new cloudflare.WorkersKvNamespace("kv", { accountId: ACCOUNT, title: "kv" }),
    new cloudflare.R2ManagedDomain("public", domain),
  ];
}

function createApplication(worker: Worker, image: string): ContainerApplication {
  return new ContainerApplication("sandbox", {
    accountId: ACCOUNT,
    name: "steward-sandbox",
    scriptName: worker.scriptName,
    className: "Sandbox",
    image,
    instanceType: "lite",
    maxInstances: 1,
  });
}

function createHost(protect: boolean): Container {
  const image = new Image("image", { source: { name: `registry.example.com/steward@${DIGEST}` } });
  const volume = new Volume("data", { volumeName: "steward-data", protect });
  return new Container("service", {
    shape: shapeOf({
      containerName: "steward",
      port: { external: 8080, address: "127.0.0.1" },
      memoryMiB: 512,
      cpus: 1,
      maxProcesses: 256,
      logs: { maxMiB: 10, files: 3 },
    }),
    imageId: image.imageId,
    data: { volumeName: volume.volumeName },
    variables: { LOG_LEVEL: "info" },
    secrets: { ADMIN_TOKEN: pulumi.secret("the-admin-token-of-the-host") },
  });
}
