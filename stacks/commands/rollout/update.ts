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

/** Dependencies of an update. */
export interface UpdateRun {
  options: { stack: string };
  plan: UpdatePlan;
  before: Baseline;
  /** Version to go back to. */
  previous: PreviousDeployment | undefined;
  record: RolloutRecord;
  output: Sink;
}

/** Details of a rollout's end. */
export interface UpdateFacts {
  /** Changes that the engine made, by kind, as `{create: 2}`. */
  changes?: Readonly<Record<string, number>>;
  /** Build that runs now, if it is the stack's own. */
  deployed?: DeployedBuild;
  /** Lines about the return to the former version. */
  back?: string[];
  /** Stable code of the failure, if it has one. */
  code?: string | undefined;
  /** Reason why the rollout waits or has failed. */
  cause?: string;
  fix?: string | undefined;
}

/** Outcome of the update. */
interface Outcome {
  exit: (typeof EXIT)["done" | "wentBack" | "failed"];
  facts: UpdateFacts;
}

/**
 * Updates a stack, and goes back to what ran before where the update fails.
 *
 * @throws ConcurrentUpdateError where somebody else's update is under way: there is nothing to go back from.
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
    log(`Going back failed: ${explanationText(explain(problem, commandsFor(options.stack)))}`);
    return undefined;
  });
  record.note("back", { back });
  if (back === undefined) return { exit: EXIT.failed, facts: { ...explanation } };
  say(`${back.join("\n")}\n`);
  return { exit: EXIT.wentBack, facts: { ...explanation, back } };
}
