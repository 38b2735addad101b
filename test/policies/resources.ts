import type { ResourceValidationArgs, ResourceValidationPolicy } from "@pulumi/policy";
import type { Resource } from "../../policies/rules/variables.ts";

/** A Worker's version that every rule passes. */
export function workerVersion(bindings: { name: string; type: string; text: string }[] = []): Resource {
  return {
    type: "cloudflare:index/workerVersion:WorkerVersion",
    props: {
      workerId: "a-worker",
      bindings: [
        { name: "SLACK_BOT_TOKEN", type: "secret_text", text: "xoxb-1" },
        { name: "LOG_LEVEL", type: "plain_text", text: "info" },
        { name: "SANDBOX", type: "durable_object_namespace", className: "Sandbox" },
        ...bindings,
      ],
    },
    opts: { additionalSecretOutputs: [] },
  };
}

/** A container that every rule passes. */
export function container(envs: string[] = []): Resource {
  return {
    type: "docker:index/container:Container",
    props: { name: "steward", envs: ["LOG_LEVEL=info", "SLACK_BOT_TOKEN=xoxb-1", ...envs] },
    opts: { additionalSecretOutputs: ["envs"] },
  };
}

/** What a rule says of a resource. */
export async function violations(policy: ResourceValidationPolicy, resource: Resource): Promise<string[]> {
  const messages: string[] = [];
  const rules = [policy.validateResource ?? []].flat();
  // The rules take no more of the arguments than a `Resource` has.
  const args = resource as ResourceValidationArgs;
  for (const rule of rules) await rule(args, (message) => messages.push(message));
  return messages;
}
