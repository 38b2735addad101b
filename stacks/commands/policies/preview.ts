import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { EngineEvent, Stack } from "@pulumi/pulumi/automation/index.js";
import { buildPolicyPack } from "../../../policies/build.ts";

/** Pulumi's policy configuration: a level, or values, by the rule's name. */
export type PolicyConfig = Readonly<Record<string, unknown>>;

/** What {@link previewWithPolicies} works with. */
export interface PolicyPreview {
  config: PolicyConfig;
  /** When the last backup was taken, as ISO 8601. */
  backup: string | undefined;
  onOutput: (text: string) => void;
  onEvent?: (event: EngineEvent) => void;
}

/** Outputs that name what holds the stack's state. */
const STATE_OUTPUTS = ["bucketName", "volumeName"];

/** Previews the stack under the policy pack. Throws where a mandatory rule is broken. */
export async function previewWithPolicies(stack: Stack, options: PolicyPreview): Promise<void> {
  const pack = await buildPolicyPack();
  const dir = await mkdtemp(path.join(tmpdir(), "steward-policy-config-"));
  try {
    const file = path.join(dir, "policies.json");
    await writeFile(file, JSON.stringify(await withDeployed(stack, options)));
    const { onOutput, onEvent } = options;
    const policies = { policyPacks: [pack], policyPackConfigs: [file] };
    await stack.preview({ ...policies, color: "never", onOutput, ...(onEvent && { onEvent }) });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** A rule sees what is to come: what the stack has now, and when it was backed up, is handed to it. */
async function withDeployed(stack: Stack, { config, backup }: PolicyPreview): Promise<PolicyConfig> {
  const outputs = await stack.outputs();
  const deployed = STATE_OUTPUTS.flatMap((name) => outputs[name]?.value ?? []);
  const given = config["fresh-backup"];
  const own = typeof given === "string" ? { enforcementLevel: given } : given;
  return { ...config, "fresh-backup": { deployed, ...(backup !== undefined && { backup }), ...Object(own) } };
}
