import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  LocalWorkspace,
  Stack,
  type ConfigMap,
  type ConfigValue,
  type PulumiFn,
} from "@pulumi/pulumi/automation/index.js";
import { waitForEngine } from "../../infra/shell/engine-connection.ts";
import { engineCommand, ensureEngine, fileBackend, type Engine } from "../../rehearsal/engine/index.ts";
import { answerFromState } from "../../rehearsal/engine/answers.ts";
import { linkProject, OWN_PLUGIN } from "../../rehearsal/stack.ts";
import { vaultSecrets } from "./vault.ts";

/** A stack under the real engine, with a backend and a folder of its own. */
export interface TestStack {
  stack: Stack;
  /** The stack's working folder, removed at the end. */
  folder: string;
  /** With what a person types `pulumi`, and the commands that call it, on this stack. */
  environment: Record<string, string>;
  /** Removes the folder. The stack's resources are the test's to destroy. */
  close(): Promise<void>;
}

export interface TestStackOptions {
  program: PulumiFn;
  config: Record<string, ConfigValue>;
  docker?: boolean;
  /** The stack's name. Default: test. */
  name?: string;
  /** The project's name. Default: steward. */
  project?: string;
  environment?: Record<string, string>;
}

/** A cold cache builds the engine, which takes minutes. */
export const ENGINE_MS = 20 * 60_000;
/** One update of a small stack, with room for a busy machine. */
export const UPDATE_MS = 300_000;

/** The passphrase of a person in a test. */
export const PASSPHRASE = "a test's passphrase";

export async function createTestStack(options: TestStackOptions): Promise<TestStack> {
  skipPromiseTraces();
  const { program, config, docker = false, name = "test", project = "steward" } = options;
  const engine = await testEngine({ docker });
  const folder = await mkdtemp(join(tmpdir(), "steward-stack-"));
  await mkdir(join(folder, "state"));
  await linkProject(folder);
  const backend = fileBackend(join(folder, "state"));
  const secrets = await vaultSecrets();
  const own = { ...options.environment, ...secrets.variables };
  await waitForEngine();
  const stack = await LocalWorkspace.createStack(
    { stackName: name, projectName: project, program },
    {
      workDir: folder,
      pulumiCommand: await engineCommand(engine),
      envVars: { ...engine.env, ...own },
      secretsProvider: secrets.url,
      projectSettings: {
        name: project,
        runtime: "nodejs",
        backend: { url: backend },
        ...OWN_PLUGIN,
      },
    },
  );
  await stack.setAllConfig(config);
  answerFromState(stack, join(folder, "state"));
  return {
    stack,
    folder,
    environment: { ...engine.env, ...own, PULUMI_BACKEND_URL: backend },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * Leaves the stack trace empty that the SDK takes for each promise of a program, to print it with
 * PULUMI_DEBUG_PROMISE_LEAKS: Vitest maps every frame to its source, a twelfth of such a worker's processor time.
 */
function skipPromiseTraces(): void {
  const { prepareStackTrace: prepare } = Error;
  if (prepare === undefined || prepare.name === "withoutPromises") return;
  Error.prepareStackTrace = function withoutPromises(error: Error, frames: NodeJS.CallSite[]): unknown {
    return frames[0]?.getFunctionName() === "debuggablePromise" ? "" : prepare(error, frames);
  };
}

/** The engine that the tests run; a build of it tells how far it is. */
export function testEngine(options: { docker?: boolean } = {}): Promise<Engine> {
  return ensureEngine({ ...options, log: (line) => void process.stderr.write(`${line}\n`) });
}

/** Another stack of the same backend and folder. */
export async function stackBeside({ stack }: TestStack, name: string, config: ConfigMap): Promise<Stack> {
  const beside = await Stack.create(name, stack.workspace);
  await beside.setAllConfig(config);
  return beside;
}

/** The configuration of a provider for the test's API. */
export function cloudflareConfig(baseUrl: string, token: string): Record<string, ConfigValue> {
  return {
    "cloudflare:apiToken": { value: token, secret: true },
    "cloudflare:baseUrl": { value: baseUrl },
  };
}

/** The state of a stack named test as it is stored: what a secret must not be found in. */
export function stateText({ folder }: TestStack): Promise<string> {
  return readFile(join(folder, "state/.pulumi/stacks/steward/test.json"), "utf8");
}
