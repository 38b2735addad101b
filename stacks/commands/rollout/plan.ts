import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { causeOf } from "../../../infra/shell/failure.ts";
import { commandsFor } from "../../../infra/shell/package.ts";
import { StewardError } from "../../../runtime/contract/errors.ts";
import {
  type DeployedStack,
  diagnosticText,
  resourceName,
  type PlannedStep,
  type Sink,
  stepsOf,
} from "../deployed/stack.ts";
import { engineOutput } from "../deployed/engine-output.ts";
import type { Baseline } from "./baseline.ts";
import { mandatoryTexts, type PolicyOptions, previewWithPolicies } from "../policies/preview.ts";
import type { ReplayResult } from "./replay.ts";

const WIDTH = 24;

export interface UpdatePlan {
  steps: PlannedStep[];
  migrations: string[];
  broken: string[];
  /** Changes that need approval. */
  gates: string[];
  replay?: ReplayResult;
  summary: string;
}

/**
 * Previews an update and checks it against the policies.
 *
 * @throws The preview's error if something other than a policy failed.
 */
export async function planUpdate(
  stack: DeployedStack,
  before: Baseline,
  options: PolicyOptions & { stack: string; accept?: string | undefined },
  output: Sink,
): Promise<UpdatePlan> {
  const { migrations } = before;
  const backup = options.backup ?? (await newestBackup(before));
  const steps: PlannedStep[] = [];
  const progress = showProgress(output, "Previewing");
  const onEvent = (event: EngineEvent): void => {
    progress.onEvent(event);
    steps.push(...stepsOf(event));
  };
  const { config } = options;
  try {
    const violations = await previewWithPolicies(stack, {
      config,
      backup,
      onOutput: progress.onOutput,
      onEvent,
    });
    const gates = openGates({ steps, migrations }, options);
    return { steps, migrations, broken: mandatoryTexts(violations), gates, summary: summaryOf(steps) };
  } finally {
    progress.end();
  }
}

const WORKER = "cloudflare:index/worker:Worker";
/** Resources with user data. A Worker's data is the ledger in its Durable Object. */
const STATE = [WORKER, "steward:serverless:StateBucket", "docker:index/volume:Volume"];

interface Changes {
  steps: readonly PlannedStep[];
  migrations: readonly string[];
}

interface Approvals {
  stack: string;
  accept?: string | undefined;
}

/** Returns one instruction for each change that needs approval or cannot be part of a rollout. */
export function openGates({ steps, migrations }: Changes, { stack, accept }: Approvals): string[] {
  const open = migrations
    .filter((tag) => tag !== accept)
    .map((tag) => `The migration ${tag} will be applied. To accept it, add --accept-migration ${tag}`);
  const lost = steps.filter(({ op, type }) => STATE.includes(type) && (op === "replace" || op === "delete"));
  const unasked = lost.filter(({ type }) => type !== WORKER || migrations.length === 0);
  return [
    ...open,
    ...unasked.map(
      ({ op, name, type }) =>
        `${name} (${type}) would be ${op === "delete" ? "deleted" : "replaced"}, along with its data. A rollout refuses to do this. To go ahead, make a backup, then run ${commandsFor(stack).pulumi("up")}`,
    ),
  ];
}

function summaryOf(steps: readonly PlannedStep[]): string {
  const counts = new Map<string, number>();
  for (const { op } of steps) counts.set(op, (counts.get(op) ?? 0) + 1);
  if (counts.size === 0) return "No changes.";
  return `Changes: ${[...counts].map(([op, count]) => `${count} to ${op}`).join(", ")}.`;
}

/** Outcome of the backup before an update. Must be plain data, because a rollout's record stores it. */
interface BackupOutcome {
  made?: string;
  skipped?: string;
  /** Id of the backup that this rollout reuses from an interrupted rollout. */
  earlier?: string;
  refused?: string;
}

/**
 * Asks the running service for a backup, starting its container if necessary. Never rejects.
 *
 * @param earlier Id of an interrupted rollout's backup, reused if the running version does not answer.
 */
export async function backUpBeforeUpdate(
  { backups, previous, strayed }: Baseline,
  { without, earlier }: { without: boolean; earlier: string | undefined },
): Promise<BackupOutcome> {
  if (without) return { skipped: "not requested" };
  if (backups === undefined)
    return { skipped: "nothing is running yet, or the update makes a backup itself" };
  if (previous?.answered === undefined) {
    if (earlier !== undefined) return { skipped: `the interrupted rollout made ${earlier}`, earlier };
    if (strayed === undefined) return { skipped: "the running version does not answer" };
    return { refused: "The service at the live address is not steward, so its data cannot be backed up." };
  }
  try {
    const { id } = await backups.create();
    return { made: id };
  } catch (error) {
    const code = error instanceof StewardError ? ` (${error.code})` : "";
    return { refused: `The backup before the update failed${code}: ${causeOf(error)}` };
  }
}

/** Returns the newest backup's time as ISO 8601, or `undefined` if the service reports none. */
async function newestBackup({ backups, previous }: Baseline): Promise<string | undefined> {
  if (previous?.answered === undefined) return undefined;
  const list = await backups?.list().catch(() => undefined);
  return list?.backups[0]?.createdAt;
}

/** Progress display of a preview or update: a status line on a terminal, otherwise the engine's own output. */
interface Progress {
  onOutput: (text: string) => void;
  onEvent: (event: EngineEvent) => void;
  end(): void;
}

/**
 * Shows the progress of a preview or an update.
 *
 * @param total Number of resources to change. Default: counted as they appear.
 */
export function showProgress({ say, log, status }: Sink, what: string, total?: number): Progress {
  if (status === undefined) return { ...engineOutput(log), onEvent: () => undefined };
  const begun = new Set<string>();
  const done = new Set<string>();
  let last = "";
  const draw = (): void => {
    const bar = total === undefined ? `${begun.size} resources` : `${barOf(done.size, total)} of ${total}`;
    status(`${what}  ${bar}  ${last}`);
  };
  return {
    onOutput: () => undefined,
    onEvent(event) {
      const message = diagnosticText(event);
      // Omit errors: the command prints their cause and fix when it ends.
      if (message !== undefined && event.diagnosticEvent?.severity !== "error") {
        status("");
        say(message);
      }
      for (const { op, name } of stepsOf(event)) {
        begun.add(name);
        last = `${op} ${name}`;
      }
      const urn = event.resOutputsEvent?.metadata.urn;
      if (urn !== undefined && begun.has(resourceName(urn))) done.add(resourceName(urn));
      draw();
    },
    end: () => status(""),
  };
}

function barOf(done: number, total: number): string {
  const full = Math.round((Math.min(done, total) / Math.max(total, 1)) * WIDTH);
  return `${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${done}`;
}
