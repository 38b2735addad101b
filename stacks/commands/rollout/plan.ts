import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import type { CommandOutput } from "../../../infra/shell/command.ts";
import type { DeployedStack } from "../deployed/stack.ts";
import { stepsOf, type PlannedStep } from "../deployed/steps.ts";
import { previewWithPolicies } from "../policies/preview.ts";
import { newestBackup } from "./backup.ts";
import type { Before } from "./before.ts";
import { openGates } from "./gates.ts";
import type { RolloutOptions } from "./options.ts";
import { showProgress } from "./progress.ts";

/** What an update would do, and what stops it. */
export interface UpdatePlan {
  steps: PlannedStep[];
  migrations: string[];
  /** Mandatory policies that are broken, with their texts. */
  broken: string[];
  /** What waits for somebody's word. */
  gates: string[];
  /** The steps in one line. */
  summary: string;
}

/**
 * Previews an update under the policies.
 *
 * @throws where the preview fails for another reason than a policy.
 */
export async function planUpdate(
  stack: DeployedStack,
  before: Before,
  options: Pick<RolloutOptions, "config" | "accept" | "backup" | "canary">,
  output: CommandOutput,
): Promise<UpdatePlan> {
  const { migrations } = before;
  const backup = options.backup ?? (await newestBackup(before));
  const steps: PlannedStep[] = [];
  const broken: string[] = [];
  const progress = showProgress(output, "Previewing");
  const onEvent = (event: EngineEvent): void => {
    progress.onEvent(event);
    steps.push(...stepsOf(event));
    const { policyEvent: policy } = event;
    if (policy?.enforcementLevel === "mandatory") broken.push(`${policy.policyName}: ${policy.message}`);
  };
  try {
    await previewWithPolicies(stack, {
      config: options.config,
      backup,
      onOutput: progress.onOutput,
      onEvent,
    });
  } catch (error) {
    if (broken.length === 0) throw error;
  } finally {
    progress.end();
  }
  const gates = openGates({ steps, migrations }, options);
  return { steps, migrations, broken, gates, summary: summaryOf(steps) };
}

function summaryOf(steps: readonly PlannedStep[]): string {
  const counts = new Map<string, number>();
  for (const { op } of steps) counts.set(op, (counts.get(op) ?? 0) + 1);
  if (counts.size === 0) return "Nothing is going to change.";
  return `Going to change: ${[...counts].map(([op, count]) => `${count} to ${op}`).join(", ")}.`;
}
