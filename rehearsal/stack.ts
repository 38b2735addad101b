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

/** Project settings that locate this package's provider. The SDK's type lacks `plugins`. */
export const OWN_PLUGIN = { plugins: { providers: [{ name: "steward", path: ROOT }] } };

export interface OpenStackOptions {
  engine: Engine;
  dir: string;
  passphrase: string;
  log: (line: string) => void;
}

export const STACK = "rehearsal";
const PROJECT = "steward";

/**
 * Opens or creates the stack, which runs this project's program under the real engine and stores its state in files.
 */
export async function openStack({ engine, dir, passphrase }: OpenStackOptions): Promise<Stack> {
  const { workDir, state } = placesOf(dir);
  await Promise.all([workDir, state].map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  await linkProject(workDir);
  // The caller has exclusive access, so any lock is from a killed run.
  await rm(path.join(state, ".pulumi", "locks"), { recursive: true, force: true });
  await waitForEngine();
  const stack = await LocalWorkspace.createOrSelectStack(
    { stackName: STACK, projectName: PROJECT, program },
    {
      workDir,
      pulumiCommand: await engineCommand(engine),
      // Override variables that the shell may have from another rehearsal's environment file.
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
 * Sets the stack's configuration.
 *
 * @param privateConfig the user's secrets, passed on standard input because other users can read a process's
 * arguments
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

/** Returns the environment variables for running `pulumi` by hand on the stack in `dir`. */
export function stackVariables({ dir, passphrase }: Pick<OpenStackOptions, "dir" | "passphrase">) {
  const { settings, state } = placesOf(dir);
  return {
    PULUMI_BACKEND_URL: fileBackend(state),
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    // Acts like --config-file in every command with that option.
    PULUMI_OPTION_CONFIG_FILE: settings,
  };
}

/** Returns the stand-ins' host name at the last update; `undefined` before the first update. */
export async function previousStandInHost(dir: string): Promise<string | undefined> {
  const text = await readFile(placesOf(dir).settings, "utf8").catch(() => "");
  const endpoints = /^ *steward:endpoints: *(.*)$/m.exec(text)?.[1] ?? "";
  return /"?slack"?: ?"?http:\/\/([\d.]+):/.exec(endpoints)?.[1];
}

/** Returns true if the stack has something to destroy: resources or interrupted operations. */
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

/** Part of a state file (pulumi sdk/go/common/apitype). */
interface Checkpoint {
  latest?: { resources?: object[]; pending_operations?: object[] };
}

function placesOf(dir: string) {
  const workDir = path.join(dir, "workspace");
  return { workDir, settings: path.join(workDir, `Pulumi.${STACK}.yaml`), state: path.join(dir, "state") };
}

/** Links this project's modules into the working folder, in which the engine starts dynamic providers. */
export async function linkProject(workDir: string): Promise<void> {
  for (const name of ["node_modules", "infra"]) await linkTo(path.join(workDir, name), path.join(ROOT, name));
}

function setSecret({ workspace }: Stack, { cli }: Engine, key: string, input: string): void {
  const args = ["config", "set", "--secret", "--stack", STACK, "--non-interactive", key];
  const env = { ...process.env, ...workspace.envVars };
  const { status, stderr } = spawnSync(cli, args, { cwd: workspace.workDir, env, input, encoding: "utf8" });
  if (status !== 0) throw new Error(`pulumi config set ${key} failed: ${stderr.trim()}`);
}
