import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import semver from "semver";
import { withFileLock } from "../../../infra/shell/cache.ts";
import type { ChangelogSection } from "../../../infra/shell/changelog.ts";
import { explain, explanationText } from "../../../infra/shell/explain.ts";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { commandsFor, PACKAGE } from "../../../infra/shell/package.ts";
import { type CommandOptions, type DeployedStack, openDeployed, sinkOf } from "../deployed/stack.ts";
import { previewText } from "../preview/preview.ts";
import { EXIT } from "../rollout/options.ts";
import {
  changesText,
  decideUnattended,
  readConsent,
  sectionsBetween,
  type UpgradeStep,
  upgradeStep,
  type PackageVersions,
} from "./decide.ts";
import { deployedVersion, tryVersion } from "./deployed.ts";
import {
  type AsideInstallation,
  changelogOf,
  copyVersions,
  installAside,
  type Project,
  type ProjectRun,
  readProject,
  rolloutOf,
  type RolloutReport,
  installVersions,
  versionAtRegistry,
} from "./project.ts";

const CONSENT = "npm pkg set steward.upgrade.unattended=patch steward.upgrade.window='Sun 02:00-05:00 UTC'";
export interface UpgradeOptions extends CommandOptions {
  /** Version to upgrade to. Default: the registry's newest. */
  to?: string | undefined;
  /** If true, only reports and changes nothing. */
  check?: boolean | undefined;
  /**
   * Folder for a proposal: the preview (`upgrade.md`), package.json and package-lock.json with the new version. If set,
   * nothing is deployed.
   */
  propose?: string | undefined;
  /** If true, deploys only a patch version, and only in the time window that the project's package.json sets. */
  unattended?: boolean | undefined;
  /** If true, starts without calling `confirm`. */
  yes?: boolean | undefined;
  /** Called before the first change, unless `yes` is set. Returns `true` to start, or the reason not to start. */
  confirm?: (() => Promise<true | string>) | undefined;
  /** Tag of the migration that may be applied, such as `v2`. */
  accept?: string | undefined;
  /** If true, accepts that the new version interprets past events differently. */
  acceptReplay?: boolean | undefined;
  /** File with the policies' settings, relative to `workDir`. Default: the policies' defaults. */
  config?: string | undefined;
  withoutBackup?: boolean | undefined;
  /** If true, skips starting the new version on a copy of a host's data. */
  withoutTrial?: boolean | undefined;
  now?: (() => Date) | undefined;
}

export interface UpgradeResult extends PackageVersions {
  /**
   * Exit code. 0: deployed, or nothing newer. 1: the preview or the rollout did not start. 2: approval is needed or,
   * with `check`, a newer version exists. 3: a policy is violated. 4: the update failed and was rolled back. 5: any
   * other failure.
   */
  exit: number;
  step: UpgradeStep;
  /** Changelog of the versions after the deployed one. */
  changes: ChangelogSection[];
  /** Report of the preview; absent if the upgrade ended earlier. */
  plan?: RolloutReport;
  /** Absent if the rollout did not start. */
  rollout?: RolloutReport;
  /** Reason why the stack was not upgraded, unless `step` or `plan` shows it. */
  cause?: string;
  code?: string | undefined;
  fix?: string | undefined;
}

/**
 * Upgrades a stack to another version of the package. Previews the stack in a copy of the project that has the new
 * version. For a host, starts the new version on a copy of the data. After consent, updates package.json and
 * package-lock.json and rolls out. Restores both files if the rollout is rolled back or does not start.
 *
 * @throws StewardError `stack_not_deployed`; BuildFailure `upgrade_no_package`, `upgrade_registry`,
 * `upgrade_install`, `upgrade_is_downgrade`, `upgrade_unattended_off`, `upgrade_under_way`, `upgrade_trial_failed`.
 * In these cases, nothing has changed.
 */
export async function upgrade(stack: string, options: UpgradeOptions = {}): Promise<UpgradeResult> {
  const project = await readProject(options.workDir ?? ".");
  if (options.unattended === true) requireConsent(project);
  const folder = path.join(project.folder, ".steward", "upgrades", stack.replaceAll("/", "."));
  const busy = (): never => {
    const cause = `another upgrade of ${stack} is running on this machine`;
    throw new BuildFailure("upgrade_under_way", cause, "Wait until it ends.");
  };
  return withFileLock(path.join(folder, "lock"), () => upgradeProject(stack, project, folder, options), busy);
}

async function upgradeProject(
  stack: string,
  project: Project,
  folder: string,
  options: UpgradeOptions,
): Promise<UpgradeResult> {
  const { say, log } = sinkOf(options);
  const given = { env: { ...process.env, ...options.env }, log };
  const opened = await openDeployed(stack, { ...options, runsProgram: false });
  const deployed = await deployedVersion(await opened.state(), project);
  const { installed } = project;
  const target = await versionAtRegistry(project.folder, options.to ?? "latest", given.env);
  const versions = { deployed, installed, target };
  const step = upgradeStep(versions);
  const which = options.to === undefined ? "Newest" : "Requested";
  say(`Deployed: ${deployed ?? "unknown (no answer)"}. Installed: ${installed}. ${which}: ${target}.\n`);
  if (step === "downgrade") throw downgrade(versions);
  // If the stack runs the installed version, files saved by an interrupted upgrade are obsolete.
  if (deployed === installed) await rm(path.join(folder, "former"), { recursive: true, force: true });
  const result = { ...versions, step, changes: [] };
  if (step === "none") {
    say("There is no newer version.\n");
    if (installed !== target) say(`Install it here too: npm install --save-exact ${PACKAGE}@${target}\n`);
    return { exit: EXIT.done, ...result };
  }
  const { unattended = false, now = () => new Date() } = options;
  const decision = unattended ? decideUnattended(step, requireConsent(project), now()) : "go";
  const end = (exit: number, cause: string, changes: ChangelogSection[] = []): UpgradeResult => {
    say(`${cause}\n`);
    return { exit, cause, ...result, changes };
  };
  if (decision !== "go" && "waitsUntil" in decision) {
    return end(
      EXIT.done,
      `Not deployed: this is outside the window, which opens at ${decision.waitsUntil.toISOString()}.`,
    );
  }
  const changes = sectionsBetween(
    await changelogOf(target, project.folder, given.env),
    deployed ?? installed,
    target,
  );
  say(changesText(changes));
  if (decision !== "go") {
    return end(EXIT.waits, `An unattended upgrade does not deploy a ${step} version.`, changes);
  }
  const reported = { ...result, changes };
  if (options.check === true) return { exit: EXIT.waits, ...reported };
  const aside = await installAside(project, target, given);
  try {
    return await decided({ stack, project, folder, options, given, aside, opened }, reported);
  } finally {
    await aside.remove();
  }
}

interface Prepared {
  stack: string;
  project: Project;
  /** Holds the upgrade's lock and saved files. */
  folder: string;
  options: UpgradeOptions;
  given: ProjectRun;
  aside: AsideInstallation;
  opened: DeployedStack;
}

async function decided(prepared: Prepared, result: Omit<UpgradeResult, "exit">): Promise<UpgradeResult> {
  const { stack, options, given, aside } = prepared;
  const { say } = sinkOf(options);
  // Do not log the report's path: the report is deleted with the temporary copy of the project.
  const log = (line: string): void => (line.startsWith("Recorded in ") ? undefined : given.log(line));
  const words = [stack, "--plan-only", ...approvals(options)];
  const plan = await rolloutOf(aside.folder, words, { ...given, log });
  const planned = { ...result, plan };
  if (options.propose !== undefined && plan.exit !== EXIT.notBegun) {
    await propose(options.propose, prepared, planned);
    say(`Written to ${options.propose}\n`);
    return { exit: EXIT.done, ...planned };
  }
  if (plan.exit !== EXIT.done) return { exit: plan.exit, ...planned };
  if (options.withoutTrial !== true)
    say(`${await tryVersion(prepared.opened, aside, given, wanted(options))}\n`);
  const isAgreed = options.yes === true || options.unattended === true;
  const confirmed = isAgreed || (await (options.confirm?.() ?? "no confirmation was given"));
  if (confirmed !== true) {
    const explanation = explain(unconfirmed(confirmed, options), commandsFor(stack));
    given.log(explanationText(explanation));
    return { exit: EXIT.waits, ...explanation, ...planned };
  }
  const rollout = await rollOut(prepared);
  return { exit: rollout.exit, ...planned, rollout };
}

/**
 * Installs the new version in the project and rolls it out. If the stack still runs the previous version afterwards,
 * reinstalls that version.
 */
async function rollOut({ stack, project, folder, options, given, aside }: Prepared): Promise<RolloutReport> {
  const former = path.join(folder, "former");
  // Keep existing files: an interrupted upgrade copied them from the last version known to work.
  if (!existsSync(former)) await copyVersions(project.folder, former);
  // A failed restore is only logged, so that it does not hide the rollout's result.
  const restorePrevious = async (): Promise<void> => {
    try {
      await installVersions(project.folder, former, given);
      await rm(former, { recursive: true });
    } catch (error) {
      given.log(explanationText(explain(error, commandsFor(stack))));
    }
  };
  let ended: RolloutReport;
  try {
    await installVersions(project.folder, aside.folder, given);
    ended = await rolloutOf(project.folder, [stack, "--yes", ...approvals(options)], given);
  } catch (error) {
    await restorePrevious();
    throw error;
  }
  // If the upgrade succeeded or the rollback failed, the project keeps the new version, so delete the saved files of
  // the previous version. In every other case, the stack still runs the previous version, so reinstall the previous
  // version.
  if (ended.exit === EXIT.done || ended.exit === EXIT.failed) await rm(former, { recursive: true });
  else await restorePrevious();
  return ended;
}

function approvals({ accept, acceptReplay, withoutBackup, config, workDir = "." }: UpgradeOptions): string[] {
  return [
    ...(config === undefined ? [] : ["--config", path.resolve(workDir, config)]),
    ...(accept === undefined ? [] : ["--accept-migration", accept]),
    ...(acceptReplay === true ? ["--accept-replay"] : []),
    ...(withoutBackup === true ? ["--without-backup"] : []),
  ];
}

/** Writes the files for a pull request: its description, package.json and package-lock.json. */
async function propose(
  folder: string,
  { stack, aside }: Prepared,
  { deployed, installed, target, changes, plan }: UpgradeResultWithPlan,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await copyVersions(aside.folder, folder);
  const head = `## ${PACKAGE} ${deployed ?? installed} → ${target}\n`;
  const text = [head, changesText(changes), previewText(stack, plan)].join("\n");
  await writeFile(path.join(folder, "upgrade.md"), text);
}

type UpgradeResultWithPlan = Omit<UpgradeResult, "exit"> & { plan: RolloutReport };

function requireConsent({ manifest, folder }: Project) {
  const consent = readConsent(manifest);
  if (!("refused" in consent)) return consent;
  const cause = `${path.join(folder, "package.json")} does not allow unattended upgrades: ${consent.refused}`;
  throw new BuildFailure("upgrade_unattended_off", cause, `Allow it there: \`${CONSENT}\``);
}

function downgrade({ deployed, installed, target }: PackageVersions): BuildFailure {
  const newest = deployed === undefined || semver.lt(deployed, installed) ? installed : deployed;
  const newer =
    deployed === undefined ? `${installed} is installed` : `${deployed} is deployed, ${installed} installed`;
  return new BuildFailure(
    "upgrade_is_downgrade",
    `${target} is older (${newer}) and cannot read newer data, so nothing was changed`,
    ({ script }) => `Use the deployed version or a later one: \`${script("upgrade", "--to", newest)}\``,
  );
}

function wanted({ to }: UpgradeOptions): string[] {
  return to === undefined ? [] : ["--to", to];
}

function unconfirmed(cause: string, options: UpgradeOptions): BuildFailure {
  const words = [...wanted(options), ...approvals(options), "--yes"];
  return new BuildFailure(
    "upgrade_unconfirmed",
    cause,
    ({ script }) =>
      `Run it again and answer yes, or skip the confirmation: \`${script("upgrade", ...words)}\``,
  );
}
