/**
 * `npm run rollout`: an update that a pipeline may run. Makes a preview that applies the policies, stops if it shows
 * something that nobody has accepted, deploys, and goes back if the new version does not answer. For its options, see
 * `npm run rollout -- --help`.
 */
import "./late-modules.ts";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline/promises";
import { ConcurrentUpdateError } from "@pulumi/pulumi/automation/index.js";
import { exclusively } from "../../infra/shell/cache.ts";
import { StewardError } from "../../runtime/contract/errors.ts";
import { runCommand, type CommandOutput } from "../../infra/shell/command.ts";
import { type DeployedStack, openDeployed, type PlannedStep } from "./deployed/stack.ts";
import { requireUnlocked } from "./deployed/lock.ts";
import { deployedBuild, type Promotion, promotionOf, requireReachable } from "./promotion/promotion.ts";
import { explain, explanationText } from "../../infra/shell/explain.ts";
import { BuildFailure, causeOf } from "../../infra/shell/failure.ts";
import { commandsFor } from "../../infra/shell/package.ts";
import { backUp, planUpdate } from "./rollout/plan.ts";
import { EXIT, readOptions, SCRIPT, type RolloutOptions } from "./rollout/options.ts";
import { interrupted, RolloutRecord } from "./rollout/record.ts";
import type { Former } from "./rollout/baseline.ts";
import { lookBefore } from "./rollout/inspect.ts";
import { replayGates, replayLines, replayPast } from "./rollout/replay.ts";
import { update } from "./rollout/update.ts";
import { printError } from "../../runtime/shared/terminal.ts";

/**
 * Shorter than the probe's default: if the new version does not answer, users have no service until the previous
 * version is back.
 */
const PROBE_MS = "40000";

/** Setting by which the operator consents to a replay. */
const REPLAY_KEY = "steward:replayEvents";

async function main(argv: string[], output: CommandOutput): Promise<number> {
  const options = await readOptions(argv);
  process.env["PROBE_TIMEOUT_MS"] ??= PROBE_MS;
  const folder = path.join(".steward", "rollouts", options.stack);
  const busy = (): never => {
    throw new StewardError("rollout_under_way", `Another rollout of ${options.stack} runs on this machine.`, {
      fix: "Wait until it ends.",
    });
  };
  return exclusively(path.join(folder, "lock"), () => opened(options, folder, output), busy);
}

async function opened(options: RolloutOptions, folder: string, output: CommandOutput): Promise<number> {
  const { log } = output;
  const promoted = await promotionOf(options.promoteFrom, log);
  const changes = promoted === undefined ? {} : { "steward:image": promoted.image };
  const deployed = await openDeployed(options.stack, { runsProgram: true, log, changes });
  try {
    const left = interrupted(folder);
    // If a rollout was killed on this machine, this one continues it and may release its lock.
    if (!options.planOnly) await requireUnlocked(deployed.stack, { releaseStale: left !== undefined });
    await requireReachable(deployed, promoted);
    return await rollOut(deployed, { ...options, promoted }, folder, output);
  } catch (error) {
    throw error instanceof ConcurrentUpdateError ? new StewardError("rollout_under_way") : error;
  }
}

async function rollOut(
  deployed: DeployedStack,
  options: RolloutOptions & { promoted: Promotion | undefined },
  folder: string,
  output: CommandOutput,
): Promise<number> {
  const { say, report } = output;
  const left = interrupted(folder);
  const record = new RolloutRecord(folder, () => new Date());
  const end = (exit: number, facts: Record<string, unknown> = {}): number => {
    record.note("ended", { exit, ...facts });
    say(`Recorded in ${record.report}\n`);
    report({ ok: exit === EXIT.done, exit, record: record.file, report: record.report, ...facts });
    return exit;
  };
  record.note("begun", { stack: options.stack, planOnly: options.planOnly, promoted: options.promoted });
  if (left !== undefined) {
    say(`The rollout before this one was interrupted at "${left.at(-1)?.step}": this one takes it up.\n`);
  }

  const { before, plan } = await planned(deployed, options, output).catch((error: unknown) => {
    record.note("ended", { exit: EXIT.notBegun, cause: causeOf(error) });
    throw error;
  });
  const { strayed } = before;
  record.note("planned", { ...plan, strayed });
  if (output.status !== undefined) say(plan.steps.map(stepLine).join(""));
  say(
    `\n${strayed === undefined ? "" : `${strayed}\n`}${plan.summary}\n${plan.broken.map((text) => `${text}\n`).join("")}`,
  );
  if (plan.replay !== undefined) say(`${replayLines(plan.replay).join("\n")}\n`);
  if (plan.broken.length > 0) return end(EXIT.refused, { ...plan });
  if (plan.gates.length > 0) {
    say(`${plan.gates.join("\n")}\n`);
    return end(EXIT.waits, { ...plan });
  }
  if (plan.steps.length === 0) {
    const { output: deployedOutput } = await deployed.state();
    return end(EXIT.done, { ...plan, deployed: await deployedBuild(deployedOutput) });
  }
  if (options.planOnly) return end(EXIT.done, { ...plan });
  const unconfirmed = options.yes ? undefined : await askForYes();
  if (unconfirmed !== undefined) {
    const explanation = explain(unconfirmed, commandsFor(options.stack));
    output.log(explanationText(explanation));
    return end(EXIT.waits, { ...plan, ...explanation });
  }

  const backup = await backUp(before, { without: options.withoutBackup, earlier: backupOf(left) });
  record.note("backup", { ...backup });
  if (backup.made !== undefined) say(`Made the backup ${backup.made}.\n`);
  if (backup.skipped !== undefined) say(`No backup: ${backup.skipped}.\n`);
  if (backup.refused !== undefined) {
    say(`${backup.refused}\nTo go on without a backup: --without-backup\n`);
    return end(EXIT.waits, { ...plan, cause: backup.refused });
  }
  const former = formerOf(left) ?? before.former;
  record.note("former", { former });
  const outcome = await update(deployed.stack, { options, plan, before, former, record, output });
  return end(outcome.exit, outcome.facts);
}

async function planned(stack: DeployedStack, options: RolloutOptions, output: CommandOutput) {
  const before = await lookBefore(stack);
  const plan = await planUpdate(stack, before, options, output);
  const isAllowed = Number((await stack.config()).values[REPLAY_KEY] ?? 0) > 0;
  if (before.replay === undefined || !isAllowed || plan.steps.length === 0) return { before, plan };
  const replay = await replayPast(before.replay);
  const gates = [...plan.gates, ...replayGates(replay, options.acceptReplay)];
  return { before, plan: { ...plan, replay, gates } };
}

function stepLine({ op, name, type }: PlannedStep): string {
  return `${op} ${name} (${type})\n`;
}

/** Returns the id of the backup that an interrupted rollout made, or took over from an earlier one. */
function backupOf(left: ReturnType<typeof interrupted>): string | undefined {
  const noted = left?.findLast(({ step }) => step === "backup");
  const id = noted?.["made"] ?? noted?.["earlier"];
  return typeof id === "string" ? id : undefined;
}

/**
 * Returns the version that ran before an interrupted rollout. A rollback returns to it, not to what that rollout left
 * behind.
 */
function formerOf(left: ReturnType<typeof interrupted>): Former | undefined {
  const noted = left?.findLast(({ step }) => step === "former");
  const former = noted?.["former"] as Former | undefined;
  // The record of an older checkout has another form; the caller then uses the live version.
  return former?.version.versions.every(({ versionId }) => versionId) === true ? former : undefined;
}

/**
 * Asks whether to begin.
 *
 * @returns why not; `undefined` after a yes
 */
async function askForYes(): Promise<BuildFailure | undefined> {
  const refused = (cause: string): BuildFailure =>
    new BuildFailure(
      "rollout_unconfirmed",
      cause,
      ({ script }) => `Run it again and answer yes, or let it ask nobody: \`${script("rollout", "--yes")}\`.`,
    );
  if (!process.stdin.isTTY) return refused("there is no terminal to confirm at");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl-C rejects the question's promise. Ctrl-D leaves it pending and only closes the terminal.
    const left = once(terminal, "close").then(() => "\n");
    const asked = terminal.question("Roll out? Only yes begins: ").catch(() => "\n");
    const answer = await Promise.race([asked, left]);
    if (answer === "yes") return undefined;
    // The cursor is still on the question's line: end the line.
    if (answer === "\n") printError(answer);
    return refused("nobody has confirmed it, so nothing was changed");
  } finally {
    terminal.close();
  }
}

await runCommand(SCRIPT, main);
