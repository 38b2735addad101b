import { ConcurrentUpdateError, type Stack, type UpResult } from "@pulumi/pulumi/automation/index.js";
import { explain, explanationText } from "../../../infra/shell/explain.ts";
import { commandsFor } from "../../../infra/shell/package.ts";
import { readState, type Sink } from "../deployed/stack.ts";
import { type DeployedBuild, deployedBuild } from "../promotion/promotion.ts";
import type { Baseline, PreviousDeployment } from "./baseline.ts";
import { watchChats } from "./chats.ts";
import { EXIT } from "./options.ts";
import { showProgress, type UpdatePlan } from "./plan.ts";
import type { RolloutRecord } from "./record.ts";

export interface UpdateRun {
  options: { stack: string };
  plan: UpdatePlan;
  before: Baseline;
  previous: PreviousDeployment | undefined;
  record: RolloutRecord;
  output: Sink;
}

export interface UpdateFacts {
  /** By kind, such as `{create: 2}`. */
  changes?: Readonly<Record<string, number>>;
  /** Running build, if this stack deployed it. */
  deployed?: DeployedBuild;
  /** Steps of the rollback, one line each. */
  back?: string[];
  code?: string | undefined;
  /** Reason why the rollout failed or needs approval. */
  cause?: string;
  fix?: string | undefined;
}

interface Outcome {
  exit: (typeof EXIT)["done" | "wentBack" | "failed"];
  facts: UpdateFacts;
}

/**
 * Updates a stack and rolls back if the update fails.
 *
 * @throws ConcurrentUpdateError if another update is running. In this case, nothing was changed.
 */
export async function runUpdate(stack: Stack, run: UpdateRun): Promise<Outcome> {
  const { record } = run;
  record.note("updating");
  try {
    const { summary } = await takeOver(stack, run);
    const changes = summary.resourceChanges ?? {};
    const { renewal } = run.before;
    const chats = renewal && (await watchChats({ renewal }));
    if (chats !== undefined) run.output.say(`${chats}\n`);
    record.note("updated", { changes, chats });
    const { output } = await readState(stack);
    const deployed = await deployedBuild(output);
    return { exit: EXIT.done, facts: { changes, deployed } };
  } catch (error) {
    if (!(error instanceof ConcurrentUpdateError)) return restorePrevious(error, run);
    record.note("ended", { exit: EXIT.notBegun });
    throw error;
  }
}

async function takeOver(stack: Stack, { plan, output }: UpdateRun): Promise<UpResult> {
  const { onOutput, onEvent, end } = showProgress(output, "Updating", plan.steps.length);
  try {
    return await stack.up({ color: "never", onOutput, onEvent, showSecrets: false });
  } finally {
    end();
  }
}

async function restorePrevious(failure: unknown, run: UpdateRun): Promise<Outcome> {
  const { before, previous, record, options, output } = run;
  const { say, log } = output;
  const explanation = explain(failure, commandsFor(options.stack));
  record.note("failed", { ...explanation });
  log(`\nThe update failed: ${explanationText(explanation)}`);
  const back = await before.restorePrevious(previous).catch((problem: unknown) => {
    log(`The rollback failed: ${explanationText(explain(problem, commandsFor(options.stack)))}`);
    return undefined;
  });
  record.note("back", { back });
  if (back === undefined) return { exit: EXIT.failed, facts: { ...explanation } };
  say(`${back.join("\n")}\n`);
  return { exit: EXIT.wentBack, facts: { ...explanation, back } };
}
