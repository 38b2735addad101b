import type { PolicyResource, ResourceValidationArgs } from "@pulumi/policy";
import { ROUTES } from "../../runtime/contract/routes.ts";
import type { Rule } from "../../policies/rule.ts";
import { TYPES } from "../../policies/reading/resource.ts";

/** A resource of a stack that every rule passes. */
export interface Sample {
  type: string;
  name: string;
  props: Record<string, unknown>;
  opts: { protect: boolean; additionalSecretOutputs: string[] };
  /** The names of the resources that a property's value comes from. */
  sources: Record<string, string[]>;
}

/** A stack's resources by name. */
export type Samples = Record<string, Sample>;

/** Paths of the platforms' webhooks. */
export const WEBHOOKS = Object.values(ROUTES).flatMap(({ access, path }) =>
  access === "webhook" ? [path] : [],
);
const HOST = "steward.example.workers.dev";
const DIGEST = `sha256:${"0".repeat(64)}`;

/** What reading a value does that the preview does not know. */
export const unknown = (): never => {
  throw new Error("string value at .text can't be known during preview");
};

/** A production stack with both targets' resources, as a first preview shows it: every rule passes it. */
export function passing(): Samples {
  const destination = (path: string) => ({ type: "public", uri: `${HOST}${path}` });
  const samples = [
    sample(TYPES.stack, "stack", { url: `https://${HOST}` }),
    sample(TYPES.worker, "worker", { name: "steward" }),
    sample(TYPES.migrations, "migrations", migrations({ tag: "v1", newSqliteClasses: ["Sandbox"] })),
    sample(
      TYPES.workerVersion,
      "current",
      { bindings: bindings(), containers: [{ className: "Sandbox" }] },
      { sources: { bindings: ["gate"] } },
    ),
    sample(TYPES.accessPolicy, "operators", {
      name: "operators",
      decision: "allow",
      includes: [{ email: { email: "op@example.com" } }],
    }),
    sample(TYPES.accessPolicy, "everyone", {
      name: "public",
      decision: "bypass",
      includes: [{ everyone: {} }],
    }),
    sample(
      TYPES.accessApplication,
      "gate",
      { destinations: ["/_admin*", "/debug*", "/metrics"].map(destination), policies: [{ precedence: 1 }] },
      { sources: { policies: ["operators"] } },
    ),
    sample(
      TYPES.accessApplication,
      "public",
      {
        destinations: [...WEBHOOKS, "/healthz"].map(destination),
        policies: [{ precedence: 1 }],
      },
      { sources: { policies: ["everyone"] } },
    ),
    sample(TYPES.bucket, "bucket", { name: "prod-steward" }, { protect: true }),
    sample(TYPES.bucketLifecycle, "lifecycle", { bucketName: "prod-steward", rules: [{ enabled: true }] }),
    sample(TYPES.bucketManagedDomain, "domain", { bucketName: "prod-steward", enabled: false }),
    sample(TYPES.containerApplication, "application", { image: `registry.example.com/steward@${DIGEST}` }),
    sample(TYPES.image, "image", { name: "steward:0123456789abcdef" }),
    sample(TYPES.volume, "volume", { name: "steward-data" }, { protect: true }),
    sample(TYPES.container, "container", containerProps(), {
      secretOutputs: ["envs"],
      sources: { image: ["image"] },
    }),
  ];
  return Object.fromEntries(samples.map((one) => [one.name, one]));
}

/** Inputs of a Worker's migrations. */
export function migrations(
  ...entries: { tag: string; newSqliteClasses: string[] }[]
): Record<string, unknown> {
  return { migrations: entries, containerClass: "Sandbox" };
}

export function sample(
  type: string,
  name: string,
  props: Record<string, unknown>,
  rest: { protect?: boolean; secretOutputs?: string[]; sources?: Record<string, string[]> } = {},
): Sample {
  const { protect = false, secretOutputs = [], sources = {} } = rest;
  return { type, name, props, opts: { protect, additionalSecretOutputs: secretOutputs }, sources };
}

/** The Worker's bindings; the audience is one that the update will bring. */
function bindings(): Record<string, unknown>[] {
  return [
    {
      name: "EDGE_ACCESS_AUD",
      type: "plain_text",
      get text() {
        return unknown();
      },
    },
    { name: "EDGE_ACCESS_TEAM_DOMAIN", type: "plain_text", text: "example.cloudflareaccess.com" },
    { name: "PUBLIC_WEBHOOKS", type: "plain_text", text: "true" },
    { name: "SANDBOX", type: "durable_object_namespace", className: "Sandbox" },
    { name: "SANDBOX_SLEEP_AFTER", type: "plain_text", text: "1h" },
    { name: "SLACK_BOT_TOKEN", type: "secret_text", text: "xoxb-the-bot-token" },
  ];
}

function containerProps(): Record<string, unknown> {
  return {
    name: "steward",
    image: DIGEST,
    user: "steward",
    envs: ["LOG_LEVEL=info", "ADMIN_TOKEN=the-admin-token-of-the-host"],
    ports: [{ internal: 8080, external: 8080, ip: "127.0.0.1" }],
    volumes: [{ volumeName: "steward-data", containerPath: "/root/.steward" }],
    capabilities: { drops: ["ALL"] },
    memory: 512,
    cpus: "1",
    memorySwap: 512,
  };
}

/** What a rule says of these resources, in a stack of this name and with this configuration. */
export async function violations(
  rule: Rule,
  samples: Samples,
  { stack = "prod", config = {} }: { stack?: string | undefined; config?: object | undefined } = {},
): Promise<string[]> {
  const messages: string[] = [];
  const report = (message: string) => void messages.push(message);
  const resources = asSeen(samples, stack);
  const getConfig = () => config;
  // The rules take no more of the arguments than this.
  if ("validateStack" in rule) {
    await rule.validateStack({ resources, getConfig } as Parameters<typeof rule.validateStack>[0], report);
    return messages;
  }
  for (const resource of resources) {
    const args = { ...resource, getConfig } as unknown as ResourceValidationArgs;
    for (const validate of [rule.validateResource ?? []].flat()) await validate(args, report);
  }
  return messages;
}

function asSeen(samples: Samples, stack: string): PolicyResource[] {
  const seen = Object.values(samples).map(({ type, name, props, opts }) => ({
    type,
    name,
    props,
    opts,
    urn: `urn:pulumi:${stack}::steward::${type}::${name}`,
    propertyDependencies: {} as Record<string, unknown[]>,
  }));
  for (const resource of seen) {
    const { sources = {} } = samples[resource.name] ?? {};
    for (const [key, names] of Object.entries(sources)) {
      resource.propertyDependencies[key] = seen.filter(({ name }) => names.includes(name));
    }
  }
  return seen as unknown as PolicyResource[];
}
