import path from "node:path";
import { ConcurrentUpdateError } from "@pulumi/pulumi/automation/index.js";
import { withFileLock } from "../../../infra/shell/cache.ts";
import { explain, explanationText } from "../../../infra/shell/explain.ts";
import { BuildFailure, causeOf } from "../../../infra/shell/failure.ts";
import { commandsFor } from "../../../infra/shell/package.ts";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { requireUnlocked } from "../deployed/lock.ts";
import { type DeployedStack, openDeployed, type PlannedStep, type Sink, sinkOf } from "../deployed/stack.ts";
import {
  deployedBuild,
  type Promotion,
  promotionOf,
  requireReachable,
  rolloutsOf,
} from "../promotion/promotion.ts";
import type { PreviousDeployment } from "./baseline.ts";
import { readBaseline } from "./inspect.ts";
import { EXIT, type RolloutOptions } from "./options.ts";
import { backUpBeforeUpdate, planUpdate, type UpdatePlan } from "./plan.ts";
import { readInterruptedRollout, RolloutRecord } from "./record.ts";
import { replayGates, replayLines, replayPast } from "./replay.ts";
import { runUpdate, type UpdateFacts } from "./update.ts";

/**
 * Timeout of the probes in milliseconds. Shorter than the default, because users have no service until a failed version
 * is rolled back.
 */
const PROBE_MS = "40000";

/** Setting that allows a replay. */
const REPLAY_KEY = "steward:replayEvents";

export interface RolloutResult extends UpdateFacts {
  /** One of {@link EXIT}. */
  exit: RolloutExit;
  plan: UpdatePlan;
  /** Path, JSON lines. */
  record: string;
  /** Path, Markdown. */
  report: string;
}

export type RolloutExit = (typeof EXIT)[keyof typeof EXIT];

/**
 * Updates a stack: previews the update with the policy packs, asks for approval, backs up, updates, probes, and rolls
 * back if the new version does not answer. Once the rollout has begun, every outcome is in the result and in the
 * record below `.steward/rollouts/<stack>/`. Throws only before anything has changed.
 *
 * @throws StewardError `rollout_under_way`, `stack_config_invalid`, or a code with the prefix `promotion_`;
 * BuildFailure if the CLI, the backend or the stack is missing
 */
export async function rollout(stack: string, options: RolloutOptions = {}): Promise<RolloutResult> {
  const folder = rolloutsOf(stack, options);
  const busy = (): never => {
    throw new StewardError("rollout_under_way", `Another rollout of ${stack} is running on this machine.`, {
      fix: "Wait until it ends.",
    });
  };
  if (options.promoteFrom === stack) {
    throw new BuildFailure(
      "promotion_to_itself",
      `${stack} cannot be promoted to itself`,
      "Name another stack.",
    );
  }
  return withFileLock(path.join(folder, "lock"), () => opened(stack, options, folder), busy);
}

async function opened(name: string, options: RolloutOptions, folder: string): Promise<RolloutResult> {
  const promoted = await promotionOf(options.promoteFrom, options);
  const changes = promoted === undefined ? {} : { "steward:image": promoted.image };
  const timeout = process.env["PROBE_TIMEOUT_MS"] ?? PROBE_MS;
  const env = { PROBE_TIMEOUT_MS: timeout, ...options.env };
  const deployed = await openDeployed(name, { ...options, env, runsProgram: true, changes });
  try {
    const left = readInterruptedRollout(folder);
    // Release the lock of a killed rollout that this run continues. A run that only plans needs no lock.
    if (options.planOnly !== true)
      await requireUnlocked(deployed.stack, { releaseStale: left !== undefined });
    await requireReachable(deployed, promoted);
    return await rollOut(deployed, { ...options, stack: name, promoted }, folder);
  } catch (error) {
    throw error instanceof ConcurrentUpdateError ? new StewardError("rollout_under_way") : error;
  }
}

async function rollOut(
  deployed: DeployedStack,
  options: StackRollout & { promoted: Promotion | undefined },
  folder: string,
): Promise<RolloutResult> {
  const output = sinkOf(options);
  const { say } = output;
  const left = readInterruptedRollout(folder);
  const record = new RolloutRecord(folder, () => new Date());
  const { planOnly = false } = options;
  record.note("begun", { stack: options.stack, planOnly, promoted: options.promoted });
  if (left !== undefined) {
    say(`The previous rollout was interrupted at "${left.at(-1)?.step}". This one continues it.\n`);
  }

  const { before, plan } = await planned(deployed, options, output).catch((error: unknown) => {
    record.note("ended", { exit: EXIT.notBegun, cause: causeOf(error) });
    throw error;
  });
  const end = (exit: RolloutExit, facts: UpdateFacts = {}): RolloutResult => {
    record.note("ended", { exit, ...facts });
    say(`Recorded in ${record.report}\n`);
    return { exit, plan, record: record.file, report: record.report, ...facts };
  };
  const { strayed } = before;
  record.note("planned", { ...plan, strayed });
  if (output.status !== undefined) say(plan.steps.map(stepLine).join(""));
  say(
    `\n${strayed === undefined ? "" : `${strayed}\n`}${plan.summary}\n${plan.broken.map((text) => `${text}\n`).join("")}`,
  );
  if (plan.replay !== undefined) say(`${replayLines(plan.replay).join("\n")}\n`);
  if (plan.broken.length > 0) return end(EXIT.refused);
  if (plan.gates.length > 0) {
    say(`${plan.gates.join("\n")}\n`);
    return end(EXIT.waits);
  }
  if (plan.steps.length === 0) {
    const { output: deployedOutput } = await deployed.state();
    return end(EXIT.done, { deployed: await deployedBuild(deployedOutput) });
  }
  if (planOnly) return end(EXIT.done);
  const confirmed = options.yes === true || (await (options.confirm?.(plan) ?? "no confirmation was given"));
  if (confirmed !== true) {
    const explanation = explain(unconfirmedError(confirmed), commandsFor(options.stack));
    output.log(explanationText(explanation));
    return end(EXIT.waits, explanation);
  }

  const backup = await backUpBeforeUpdate(before, {
    without: options.withoutBackup ?? false,
    earlier: backupOf(left),
  });
  record.note("backup", { ...backup });
  if (backup.made !== undefined) say(`Made the backup ${backup.made}.\n`);
  if (backup.skipped !== undefined) say(`No backup: ${backup.skipped}.\n`);
  if (backup.refused !== undefined) {
    say(`${backup.refused}\nTo continue without a backup, add --without-backup\n`);
    return end(EXIT.waits, { cause: backup.refused });
  }
  const previous = previousIn(left) ?? before.previous;
  record.note("former", { former: previous });
  const outcome = await runUpdate(deployed.stack, { options, plan, before, previous, record, output });
  return end(outcome.exit, outcome.facts);
}

type StackRollout = RolloutOptions & { stack: string };

async function planned(stack: DeployedStack, options: StackRollout, output: Sink) {
  const before = await readBaseline(stack);
  const plan = await planUpdate(stack, before, options, output);
  const isAllowed = Number((await stack.config()).values[REPLAY_KEY] ?? 0) > 0;
  if (before.replay === undefined || !isAllowed || plan.steps.length === 0) return { before, plan };
  const replay = await replayPast(before.replay);
  const gates = [...plan.gates, ...replayGates(replay, options.acceptReplay ?? false)];
  return { before, plan: { ...plan, replay, gates } };
}

function stepLine({ op, name, type }: PlannedStep): string {
  return `${op} ${name} (${type})\n`;
}

function backupOf(left: ReturnType<typeof readInterruptedRollout>): string | undefined {
  const noted = left?.findLast(({ step }) => step === "backup");
  const id = noted?.["made"] ?? noted?.["earlier"];
  return typeof id === "string" ? id : undefined;
}

/**
 * Returns the version that ran before an interrupted rollout; `undefined` if no rollout was interrupted or no version
 * was recorded.
 */
function previousIn(left: ReturnType<typeof readInterruptedRollout>): PreviousDeployment | undefined {
  const noted = left?.findLast(({ step }) => step === "former");
  const previous = noted?.["former"] as PreviousDeployment | undefined;
  // Ignore a record that an older checkout wrote in another form.
  return previous?.version.versions.every(({ versionId }) => versionId) === true ? previous : undefined;
}

function unconfirmedError(cause: string): BuildFailure {
  return new BuildFailure(
    "rollout_unconfirmed",
    cause,
    ({ script }) =>
      `Run it again and answer yes, or skip the confirmation: \`${script("rollout", "--yes")}\`.`,
  );
}
