import { chmod, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { EngineEvent, Stack } from "@pulumi/pulumi/automation/index.js";
import { isSeq, parseDocument } from "yaml";
import { readLiveWorker } from "../../../infra/serverless/live-worker.ts";
import {
  applyingLine,
  entriesUpTo,
  type Migration,
  renamingLines,
} from "../../../infra/serverless/migration-list.ts";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { commandsFor } from "../../../infra/shell/package.ts";
import { StewardError } from "../../../runtime/contract/errors.ts";
import type { OperatorCommands } from "../../../runtime/contract/operator-commands.ts";
import { SANDBOX_CLASS } from "../../../runtime/contract/names.ts";
import { publicHost } from "../../../infra/gateway/rules.ts";
import type { ServerlessConfig } from "../../config.ts";
import { serverlessSettings } from "../deployed/config.ts";
import {
  type CommandOptions,
  openDeployed,
  type PlannedStep,
  sinkOf,
  stepsOf,
  deployedWorkerName,
} from "../deployed/stack.ts";
import { settingsFileOf } from "../settings.ts";

export interface MigrateOptions extends CommandOptions {
  workerName: string;
  /**
   * Tag of the migration that the operator accepts. If set, the command writes the Worker's new name and migrations
   * to the stack's settings; otherwise it leaves the settings unchanged.
   */
  accept?: string | undefined;
}

export interface MigrateResult {
  workerName: string;
  tag: string | undefined;
  /** Readable description, one line per entry. */
  plan: string[];
  /** Planned steps of an update that renames the Worker. */
  steps: PlannedStep[];
  accepted: boolean;
  file: string;
}

/**
 * Renames a serverless stack's Worker in the stack's settings and adds the required migration. Without the
 * migration's tag in `accept`, only previews the change. Deploys nothing.
 *
 * @throws StewardError `migration_not_accepted`, `stack_not_serverless`, `stack_config_invalid`; BuildFailure
 * `worker_name_same`, `settings_edited`, or another code if the stack cannot be read
 */
export async function migrate(stackName: string, options: MigrateOptions): Promise<MigrateResult> {
  const { workerName, accept } = options;
  const { stack, config, state } = await openDeployed(stackName, { ...options, runsProgram: true });
  const commands = commandsFor(stackName);
  const stored = await config();
  const { config: present, cloudflare } = serverlessSettings(stored);
  // The settings may already have the new name, so the deployed name decides.
  const previousName = deployedWorkerName(await state()) ?? present.workerName;
  if (workerName === previousName) throw sameNameError(workerName, present);
  const live = await readLiveWorker({ accountId: present.accountId, ...cloudflare }, previousName);
  const applied = (live && entriesUpTo(live.tag)) ?? present.migrations.length;
  const migrations = withNewTag(present.migrations, applied);
  const tag = migrations.at(-1)?.tag;
  if (accept !== undefined && accept !== tag) {
    throw new StewardError(
      "migration_not_accepted",
      `The accepted migration is ${accept}, but the change adds ${tag}.`,
    );
  }
  const { config: former } = serverlessSettings(stored, { "steward:workerName": previousName });
  const { config: planned } = serverlessSettings(stored, {
    "steward:workerName": workerName,
    "steward:migrations": JSON.stringify(migrations),
  });

  const settings = await readSettingsFile(stack);
  const changed = withMigrations(settings.text, workerName, present.migrations, migrations);
  const steps = await previewSettings(stack, changed, sinkOf(options).say);
  const added = migrations.slice(applied);
  const plan = [
    applyingLine(added),
    ...renamingLines(previousName, workerName, migrations),
    ...addressLines(commands, former, planned),
  ];
  const { file } = settings;
  if (accept !== undefined) await replaceSettings(settings, changed);
  return { workerName, tag, plan, steps, accepted: accept !== undefined, file };
}

/**
 * Appends migrations until the list is longer than `applied`. Of the appended migrations, only the last creates a
 * class.
 */
function withNewTag(migrations: readonly Migration[], applied: number): Migration[] {
  const missing = Math.max(applied + 1 - migrations.length, 0);
  const added = Array.from({ length: missing }, (_, index): Migration => {
    const isLast = index === missing - 1;
    return { tag: `v${migrations.length + index + 1}`, newSqliteClasses: isLast ? [SANDBOX_CLASS] : [] };
  });
  return [...migrations, ...added];
}

function sameNameError(workerName: string, present: ServerlessConfig): BuildFailure {
  if (present.workerName === workerName) {
    return new BuildFailure(
      "worker_name_same",
      `the Worker is already named ${workerName}`,
      "Give another --worker-name.",
    );
  }
  return new BuildFailure(
    "worker_name_same",
    `the Worker is already named ${workerName}, but the settings contain another name`,
    ({ configSet }) => configSet("steward:workerName", workerName),
  );
}

/** Explains how the new name changes the public address, and which callers need the new address. */
function addressLines(
  { script }: OperatorCommands,
  present: ServerlessConfig,
  planned: ServerlessConfig,
): string[] {
  const [before, after] = [publicHost({ ...present }), publicHost({ ...planned })];
  if (before === after) return [`The address stays https://${before}`];
  return [
    `The address changes from https://${before} to https://${after}`,
    `The update registers the new address with Telegram and Discord. Change Slack's Request URL yourself: ${script("slack-manifest")}`,
  ];
}

/** Previews an update with these settings, without storing them. */
async function previewSettings(
  stack: Stack,
  settings: string,
  onOutput: (text: string) => void,
): Promise<PlannedStep[]> {
  const steps: PlannedStep[] = [];
  const onEvent = (event: EngineEvent): void => void steps.push(...stepsOf(event));
  const dir = await mkdtemp(path.join(tmpdir(), "steward-migrate-"));
  try {
    const configFile = path.join(dir, "settings.yaml");
    await writeFile(configFile, settings, { mode: 0o600 });
    await stack.preview({ configFile, color: "never", onOutput, onEvent });
    return steps;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

interface SettingsFile {
  file: string;
  text: string;
}

async function readSettingsFile({ name, workspace }: Stack): Promise<SettingsFile> {
  const { stackConfigDir = "." } = (await workspace.projectSettings()) as { stackConfigDir?: string };
  const file = settingsFileOf(name, path.join(workspace.workDir, stackConfigDir));
  return { file, text: await readFile(file, "utf8") };
}

/** Adds the Worker's new name and migrations to the text of a settings file. Keeps its comments. */
function withMigrations(
  text: string,
  workerName: string,
  present: readonly Migration[],
  migrations: readonly Migration[],
): string {
  const settings = parseDocument(text);
  settings.setIn(["config", "steward:workerName"], workerName);
  const key = ["config", "steward:migrations"];
  const added = migrations.slice(present.length);
  // Append to an existing YAML list. If the key is missing, or `pulumi config set` stored a string, write the whole
  // list.
  if (isSeq(settings.getIn(key))) {
    for (const entry of added) settings.addIn(key, settings.createNode(entry));
  } else settings.setIn(key, settings.createNode(migrations));
  return settings.toString({ lineWidth: 0 });
}

/** Replaces the settings file, unless it was edited since it was read. */
async function replaceSettings({ file, text: former }: SettingsFile, text: string): Promise<void> {
  if ((await readFile(file, "utf8")) !== former) {
    const fix = "Review the change and run the command again.";
    throw new BuildFailure("settings_edited", `${file} was edited in the meantime`, fix);
  }
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text, { flush: true });
  await chmod(temporary, (await stat(file)).mode);
  await rename(temporary, file);
}
