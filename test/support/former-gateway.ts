import type { Deployment } from "@pulumi/pulumi/automation/index.js";
import { GATEWAY } from "../../stacks/adopt.ts";

/** Returns the URN that a resource had before there was a gateway. */
function formerUrn(urn: string): string {
  const [stack, project, type = "", ...name] = urn.split("::");
  const [head, ...below] = type.split("$");
  if (!head?.startsWith("steward:index:")) return urn;
  const former = name.join("::").replace(new RegExp(`^${GATEWAY}-`), "");
  return [stack, project, below.join("$"), former].join("::");
}

/** Returns the URNs of a state. */
export function urnsOf(deployment: Deployment): string[] {
  const { resources } = deployment as unknown as { resources: { urn: string }[] };
  return resources.map(({ urn }) => urn);
}

/** Returns a state as it was before there was a gateway: its children were the stack's. */
export function withoutGateway(deployment: Deployment): Deployment {
  const urns = urnsOf(deployment);
  const gateway = urns.find((urn) => /::steward:index:\w+::/.test(urn)) ?? "";
  const stack = urns.find((urn) => urn.includes("::pulumi:pulumi:Stack::")) ?? "";
  const { resources, ...rest } = deployment as unknown as { resources: { urn: string }[] };
  let text = JSON.stringify(resources.filter(({ urn }) => urn !== gateway));
  for (const urn of urns) {
    text = text.replaceAll(`"${urn}"`, `"${urn === gateway ? stack : formerUrn(urn)}"`);
  }
  return { ...rest, resources: JSON.parse(text) as object[] } as unknown as Deployment;
}
