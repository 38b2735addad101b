/**
 * `npm run migrate`: gives a stack's Worker another name, with the migration that this takes. Previews the
 * change, and writes it to the stack's settings once it is accepted. See `npm run migrate -- --help`.
 */
import { commandLine } from "../../infra/shell/package.ts";
import { chmod, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { EngineEvent, Stack } from "@pulumi/pulumi/automation/index.js";
import { Argument } from "commander";
import { isSeq, parseDocument } from "yaml";
import { type Migration, plannedChanges } from "../../infra/serverless/migration-list.ts";
import { type CommandOutput, commandParser, runCommand } from "../../infra/shell/command.ts";
import { StewardError } from "../../runtime/contract/errors.ts";
import { SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import type { ServerlessConfig } from "../config.ts";
import { serverlessSettings } from "./deployed/config.ts";
import { type DeployedStack, openDeployed, type PlannedStep, stepsOf } from "./deployed/stack.ts";
import { settingsFileOf } from "./settings.ts";

const SCRIPT = commandLine("migrate");
const NOT_ACCEPTED = 2;

/** Options of `npm run migrate`. */
interface MigrateOptions {
  stack: string;
  /** The Worker's new name. */
  workerName: string;
  /** The tag of the migration that is accepted; without it nothing is written. */
  accept: string | undefined;
}

async function main(argv: string[], output: CommandOutput): Promise<number> {
  const options = readOptions(argv);
  const log = (line: string): void => output.say(`${line}\n`);
  const stack = await openDeployed(options.stack, { runsProgram: true, log });
  return migrate(stack, options, output);
}

function readOptions(argv: readonly string[]): MigrateOptions {
  const command = commandParser(
    SCRIPT,
    "Gives a stack's Worker another name, with the migration that this takes.",
  )
    .addArgument(new Argument("<stack>", "a serverless stack, of the backend that pulumi is logged in to"))
    .requiredOption("--worker-name <name>", "the new name")
    .option("--accept-migration <tag>", "write the change to the stack's settings; the tag is the preview's")
    .option("--json", "print one JSON object", false)
    .addHelpText(
      "after",
      "\nExit codes: 0 the change was written, 2 it needs approval, or wrong words, 1 any other failure.",
    )
    .parse(argv, { from: "user" });
  const [stack] = command.processedArgs as [string];
  const { workerName, acceptMigration } = command.opts<{ workerName: string; acceptMigration?: string }>();
  return { stack, workerName, accept: acceptMigration };
}

async function migrate(
  { stack, config }: DeployedStack,
  options: MigrateOptions,
  { say, report }: CommandOutput,
): Promise<number> {
  const { workerName, accept } = options;
  const stored = await config();
  const { config: present } = serverlessSettings(stored);
  if (workerName === present.workerName) {
    throw new Error(`the Worker is named ${workerName}. Fix: give another --worker-name`);
  }
  const next = { tag: `v${present.migrations.length + 1}`, newSqliteClasses: [SANDBOX_CLASS] };
  if (accept !== undefined && accept !== next.tag) {
    throw new StewardError(
      "migration_not_accepted",
      `${accept} is accepted, and the change adds ${next.tag}.`,
    );
  }
  const { config: planned } = serverlessSettings(stored, {
    "steward:workerName": workerName,
    "steward:migrations": JSON.stringify([...present.migrations, next]),
  });

  const settings = await readSettingsFile(stack);
  const changed = withMigration(settings.text, workerName, present.migrations, next);
  const steps = await previewSettings(stack, changed, say);
  const plan = [...plannedChanges(present, planned), ...address(present, planned)];
  say(`\n${plan.join("\n")}\n\n`);
  const result = { ok: true, workerName, tag: next.tag, plan, steps };

  if (accept === undefined) {
    say(`Nothing was changed. To accept: ${SCRIPT} ${options.stack} --worker-name ${workerName}`);
    say(` --accept-migration ${next.tag}\n`);
    report({ ...result, accepted: false });
    return NOT_ACCEPTED;
  }
  await replaceSettings(settings, changed);
  say(`Written to ${settings.file}. To deploy: pulumi up -s ${options.stack}\n`);
  report({ ...result, accepted: true });
  return 0;
}

/** Returns the consequences for callers, a line each. */
function address(present: ServerlessConfig, planned: ServerlessConfig): string[] {
  if (present.host === planned.host) return [`The address stays https://${present.host}`];
  return [
    `The address becomes https://${planned.host}, no longer https://${present.host}`,
    `Told by the update: Telegram and Discord. To change by hand: Slack's Request URL (${commandLine("slack-manifest")} <stack>)`,
  ];
}

await runCommand(SCRIPT, main);

/** Previews the stack as if these were its settings, and lists what an update would do. The stack's own stay as they are. */
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

/** A stack's settings, `Pulumi.<stack>.yaml`. */
interface SettingsFile {
  file: string;
  text: string;
}

/** Reads the settings of a stack from where the project keeps them. */
async function readSettingsFile({ name, workspace }: Stack): Promise<SettingsFile> {
  const { stackConfigDir = "." } = (await workspace.projectSettings()) as { stackConfigDir?: string };
  const file = settingsFileOf(name, path.join(workspace.workDir, stackConfigDir));
  return { file, text: await readFile(file, "utf8") };
}

/** The settings with the Worker's new name and a further migration; comments and everything else stay. */
function withMigration(
  text: string,
  workerName: string,
  migrations: readonly Migration[],
  next: Migration,
): string {
  const settings = parseDocument(text);
  settings.setIn(["config", "steward:workerName"], workerName);
  const key = ["config", "steward:migrations"];
  // `pulumi config set` stores a list as a text, and a stack without the key has the default one.
  if (isSeq(settings.getIn(key))) settings.addIn(key, settings.createNode(next));
  else settings.setIn(key, settings.createNode([...migrations, next]));
  return settings.toString({ lineWidth: 0 });
}

/** Replaces the settings, unless somebody has edited them meanwhile. */
async function replaceSettings({ file, text: former }: SettingsFile, text: string): Promise<void> {
  if ((await readFile(file, "utf8")) !== former) {
    throw new Error(`${file} was edited meanwhile. Fix: look at the change, and run the command again`);
  }
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text, { flush: true });
  await chmod(temporary, (await stat(file)).mode);
  await rename(temporary, file);
}
