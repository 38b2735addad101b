import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { buildPolicyPack } from "../../../policies/build.ts";
import type { DeployedStack } from "../deployed/stack.ts";

/** Pulumi's policy configuration. Keys are rule names; values are enforcement levels or objects of settings. */
export type PolicyConfig = Readonly<Record<string, unknown>>;

export interface PolicyOptions {
  /** Enforcement levels and settings of the rules. Default: each rule's own. */
  config?: PolicyConfig | undefined;
  /** Time of the last backup, ISO 8601. By default, a rollout asks the service for it. */
  backup?: string | undefined;
}

export interface PolicyViolation {
  /** For example `bucket-private`. */
  policy: string;
  /** A mandatory rule blocks an update. */
  level: "mandatory" | "advisory";
  message: string;
}

interface PolicyPreview extends PolicyOptions {
  onOutput: (text: string) => void;
  onEvent?: (event: EngineEvent) => void;
}

const STATE_OUTPUTS = ["bucketName", "volumeName"];

/**
 * Previews the stack under the policy pack and returns the violations.
 *
 * @throws The preview's error if something other than a policy failed.
 */
export async function previewWithPolicies(
  deployed: DeployedStack,
  options: PolicyPreview,
): Promise<PolicyViolation[]> {
  const violations: PolicyViolation[] = [];
  const onEvent = (event: EngineEvent): void => {
    options.onEvent?.(event);
    const { policyEvent: broken } = event;
    if (broken === undefined) return;
    const level = broken.enforcementLevel === "mandatory" ? "mandatory" : "advisory";
    violations.push({ policy: broken.policyName, level, message: broken.message });
  };
  try {
    await runPreview(deployed, { ...options, onEvent });
  } catch (error) {
    if (mandatoryTexts(violations).length === 0) throw error;
  }
  return violations;
}

export function mandatoryTexts(violations: readonly PolicyViolation[]): string[] {
  return violations
    .filter(({ level }) => level === "mandatory")
    .map(({ policy, message }) => `${policy}: ${message}`);
}

async function runPreview(
  deployed: DeployedStack,
  options: PolicyPreview & { onEvent: (event: EngineEvent) => void },
): Promise<void> {
  const pack = await buildPolicyPack();
  const dir = await mkdtemp(path.join(tmpdir(), "steward-policy-config-"));
  try {
    const file = path.join(dir, "policies.json");
    await writeFile(file, JSON.stringify(await withDeployed(deployed, options)));
    const { onOutput, onEvent } = options;
    const policies = { policyPacks: [pack], policyPackConfigs: [file] };
    await deployed.stack.preview({ ...policies, color: "never", onOutput, onEvent });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * Adds two values to the config of the rule `fresh-backup`: the name of the deployed bucket or volume, and the time
 * of the last backup.
 */
async function withDeployed(
  { state }: DeployedStack,
  { config = {}, backup }: PolicyPreview,
): Promise<PolicyConfig> {
  const { output } = await state();
  const deployed = STATE_OUTPUTS.map(output).filter(Boolean);
  const given = config["fresh-backup"];
  const own = typeof given === "string" ? { enforcementLevel: given } : given;
  return { ...config, "fresh-backup": { deployed, ...(backup !== undefined && { backup }), ...Object(own) } };
}
