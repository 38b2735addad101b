import type { Deployment } from "@pulumi/pulumi/automation/index.js";
import { RESOURCES } from "../../infra/provider/resources.ts";
import { GATEWAY } from "../../stacks/adopt.ts";

const OWN = new RegExp(`\\bsteward:(${Object.keys(RESOURCES).join("|")})(?=$|::)`);

function formerType(text: string): string {
  return text
    .replace(OWN, "pulumi-nodejs:dynamic/$1")
    .replace("pulumi:providers:steward::default", "pulumi:providers:pulumi-nodejs::default");
}

function formerUrn(urn: string): string {
  const [stack, project, type = "", ...name] = formerType(urn).split("::");
  const [head, ...below] = type.split("$");
  if (!head?.startsWith("steward:index:")) return formerType(urn);
  const former = name.join("::").replace(new RegExp(`^${GATEWAY}-`), "");
  return [stack, project, below.join("$"), former].join("::");
}

export function urnsOf(deployment: Deployment): string[] {
  const { resources } = deployment as unknown as { resources: { urn: string }[] };
  return resources.map(({ urn }) => urn);
}

interface Resource {
  urn: string;
  type: string;
  provider?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
}

/** Converts a state to that of versions without a Pulumi provider, whose resources were dynamic. */
export function withoutProvider(deployment: Deployment): Deployment {
  const { resources, ...rest } = rewritten(deployment, formerType) as unknown as { resources: Resource[] };
  const { resources: own } = deployment as unknown as { resources: Resource[] };
  const bucket = own.find(({ type }) => type.endsWith(":StateBucket"));
  if (bucket?.inputs === undefined) throw new Error("this state has no bucket");
  const { cloudflare, endpoints } = bucket.inputs["connection"] as {
    cloudflare: Record<string, unknown>;
    endpoints: object;
  };
  const config = {
    "cloudflare:apiToken": cloudflare["apiToken"],
    "cloudflare:baseUrl": cloudflare["baseUrl"],
    "steward:endpoints": JSON.stringify(endpoints),
  };
  for (const resource of resources) {
    const { type, inputs = {}, outputs = {} } = resource;
    // Pulumi's engine passed the stack's whole configuration to the provider of dynamic resources.
    if (type === "pulumi:providers:pulumi-nodejs")
      Object.assign(resource, { inputs: config, outputs: config });
    const [, name] = /^pulumi-nodejs:dynamic\/(.*)$/.exec(type) ?? [];
    const code = `exports.handler = () => require("./infra/dynamic/providers.ts").providers["${name}"];`;
    if (name === undefined) continue;
    for (const properties of [inputs, outputs]) Object.assign(properties, { __provider: code });
  }
  return { ...rest, resources } as unknown as Deployment;
}

/** Converts a state to that of versions without a gateway component. */
export function withoutGateway(deployment: Deployment): Deployment {
  const urns = urnsOf(deployment);
  const gateway = urns.find((urn) => /::steward:index:\w+::/.test(urn)) ?? "";
  const stack = urns.find((urn) => urn.includes("::pulumi:pulumi:Stack::")) ?? "";
  const { resources, ...rest } = deployment as unknown as { resources: Resource[] };
  const children = { ...rest, resources: resources.filter(({ urn }) => urn !== gateway) };
  return rewritten(
    children as unknown as Deployment,
    (urn) => (urn === gateway ? stack : formerUrn(urn)),
    urns,
  );
}

function rewritten(
  deployment: Deployment,
  former: (urn: string) => string,
  urns = urnsOf(deployment),
): Deployment {
  const { resources, ...rest } = structuredClone(deployment) as unknown as { resources: Resource[] };
  for (const resource of resources) {
    resource.type =
      resource.type === "pulumi:providers:steward"
        ? "pulumi:providers:pulumi-nodejs"
        : formerType(resource.type);
    Reflect.deleteProperty(resource.inputs ?? {}, "connection");
  }
  let text = JSON.stringify(resources);
  for (const urn of urns) {
    text = text.replaceAll(`"${urn}"`, `"${former(urn)}"`).replaceAll(`"${urn}::`, `"${former(urn)}::`);
  }
  return { ...rest, resources: JSON.parse(text) as object[] } as unknown as Deployment;
}
