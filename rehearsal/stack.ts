import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { LocalWorkspace, type ConfigMap, type Stack } from "@pulumi/pulumi/automation/index.js";
import { engineCommand, fileBackend, linkTo, type Engine } from "./engine/index.ts";
import { answerFromState } from "./engine/answers.ts";
import { processMark } from "./stray-processes.ts";
import { waitForEngine } from "../infra/shell/engine-connection.ts";
import { program } from "../stacks/program.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Says in a project's settings where the engine finds this package's provider. The SDK's type leaves plugins out. */
export const OWN_PLUGIN = { plugins: { providers: [{ name: "steward", path: ROOT }] } };

/** Options of {@link openStack}. */
export interface OpenStackOptions {
  engine: Engine;
  /** Folder of the state and the settings. */
  dir: string;
  passphrase: string;
  log: (line: string) => void;
}

/** The name of every rehearsed stack. */
export const STACK = "rehearsal";
const PROJECT = "steward";

/** Opens or creates the rehearsed stack: this project's program under the real engine, with its state in files. */
export async function openStack({ engine, dir, passphrase }: OpenStackOptions): Promise<Stack> {
  const { workDir, state } = placesOf(dir);
  await Promise.all([workDir, state].map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  await linkProject(workDir);
  // Whoever opens the stack has the rehearsal to itself: a lock in its state is that of a killed run.
  await rm(path.join(state, ".pulumi", "locks"), { recursive: true, force: true });
  await waitForEngine();
  const stack = await LocalWorkspace.createOrSelectStack(
    { stackName: STACK, projectName: PROJECT, program },
    {
      workDir,
      pulumiCommand: await engineCommand(engine),
      // They take the place of those of another rehearsal, whose environment file a shell may have read.
      envVars: { ...engine.env, ...processMark(dir), ...stackVariables({ dir, passphrase }) },
      projectSettings: {
        name: PROJECT,
        runtime: "nodejs",
        backend: { url: fileBackend(state) },
        ...OWN_PLUGIN,
      },
    },
  );
  answerFromState(stack, state);
  return stack;
}

/**
 * Gives the stack this configuration.
 *
 * @param privateConfig secrets that are somebody's own: handed over on standard input, since arguments are open to
 * every user
 */
export async function configure(
  stack: Stack,
  engine: Engine,
  config: ConfigMap,
  privateConfig: Readonly<Record<string, string>>,
): Promise<void> {
  await stack.setAllConfig(config);
  for (const [key, value] of Object.entries(privateConfig)) setSecret(stack, engine, key, value);
}

/** Returns the variables for typing `pulumi` by hand on the stack rehearsed in this directory. */
export function stackVariables({ dir, passphrase }: Pick<OpenStackOptions, "dir" | "passphrase">) {
  const { settings, state } = placesOf(dir);
  return {
    PULUMI_BACKEND_URL: fileBackend(state),
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    // Stands for --config-file in every command that knows it.
    PULUMI_OPTION_CONFIG_FILE: settings,
  };
}

/** Where the stand-ins listened at the last update, as its settings tell; `undefined` before the first one. */
export async function previousStandInHost(dir: string): Promise<string | undefined> {
  const text = await readFile(placesOf(dir).settings, "utf8").catch(() => "");
  const endpoints = /^ *steward:endpoints: *(.*)$/m.exec(text)?.[1] ?? "";
  return /"?slack"?: ?"?http:\/\/([\d.]+):/.exec(endpoints)?.[1];
}

/** Returns false if the state has no resource and no operation that was interrupted: there is nothing to destroy. */
export async function hasResources(dir: string): Promise<boolean> {
  const file = path.join(placesOf(dir).state, ".pulumi", "stacks", PROJECT, `${STACK}.json`);
  if (!existsSync(file)) return false;
  try {
    const { checkpoint } = JSON.parse(await readFile(file, "utf8")) as { checkpoint: Checkpoint };
    const { resources = [], pending_operations: pending = [] } = checkpoint.latest ?? {};
    return resources.length + pending.length > 0;
  } catch {
    return true;
  }
}

/** The part of a state's file that is read here (pulumi sdk/go/common/apitype). */
interface Checkpoint {
  latest?: { resources?: object[]; pending_operations?: object[] };
}

function placesOf(dir: string) {
  const workDir = path.join(dir, "workspace");
  return { workDir, settings: path.join(workDir, `Pulumi.${STACK}.yaml`), state: path.join(dir, "state") };
}

/**
 * Makes a stack's working folder like this project's: the engine runs the dynamic providers there. Another checkout may
 * have made the folder.
 */
export async function linkProject(workDir: string): Promise<void> {
  for (const name of ["node_modules", "infra"]) await linkTo(path.join(workDir, name), path.join(ROOT, name));
}

function setSecret({ workspace }: Stack, { cli }: Engine, key: string, input: string): void {
  const args = ["config", "set", "--secret", "--stack", STACK, "--non-interactive", key];
  const env = { ...process.env, ...workspace.envVars };
  const { status, stderr } = spawnSync(cli, args, { cwd: workspace.workDir, env, input, encoding: "utf8" });
  if (status !== 0) throw new Error(`pulumi config set ${key} failed: ${stderr.trim()}`);
}
