import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import type { CommandOutput } from "../../../infra/shell/command.ts";
import type { DeployedStack } from "../deployed/stack.ts";
import { type PlannedStep, stepsOf } from "../deployed/steps.ts";
import { previewWithPolicies } from "../policies/preview.ts";
import { newestBackup } from "./backup.ts";
import type { Before } from "./before.ts";
import type { RolloutOptions } from "./options.ts";
import { showProgress } from "./progress.ts";

const WORKER = "cloudflare:index/worker:Worker";
/** Types whose resources keep what people wrote: of a Worker its Durable Object's ledger. */
const STATE = [WORKER, "cloudflare:index/r2Bucket:R2Bucket", "docker:index/volume:Volume"];

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

/** What is going to happen, as far as somebody's word may be asked for it. */
interface Plan {
  steps: readonly PlannedStep[];
  /** Tags that the update applies to a Worker that is there. */
  migrations: readonly string[];
}

/** What somebody has said before. */
interface Word {
  /** The tag of the migration that may be applied. */
  accept: string | undefined;
  /** The shares that a new version of the Worker is to get. */
  canary: readonly number[];
}

/** What stops the update until somebody accepts it, a line each with the way on. */
export function openGates({ steps, migrations }: Plan, { accept, canary }: Word): string[] {
  const open = migrations
    .filter((tag) => tag !== accept)
    .map((tag) => `The migration ${tag} is going to be applied. To accept it: --accept-migration ${tag}`);
  const lost = steps.filter(({ op, type }) => STATE.includes(type) && (op === "replace" || op === "delete"));
  const unasked = lost.filter(({ type }) => type !== WORKER || migrations.length === 0);
  const atOnce = migrations.filter((tag) => canary.length > 0 && tag === accept);
  return [
    ...open,
    ...atOnce.map((tag) => `The migration ${tag} takes no shares. To apply it at once: without --canary`),
    ...unasked.map(
      ({ op, name, type }) =>
        `${name} (${type}) is going to be ${op === "delete" ? "deleted" : "replaced"}, with what it keeps. No rollout does that: take a backup, then pulumi up`,
    ),
  ];
}
