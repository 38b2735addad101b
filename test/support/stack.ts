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

/** A stack under the real engine, with a separate backend and folder. */
export interface TestStack {
  stack: Stack;
  /** The stack's working folder, removed at the end. */
  folder: string;
  /** Variables for `pulumi` and the stack commands when a user runs them on this stack. */
  environment: Record<string, string>;
  /** Removes the folder. The test itself destroys the stack's resources. */
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

/** Time limit for building the engine with a cold cache. */
export const ENGINE_MS = 20 * 60_000;
/** Time limit for one update of a small stack on a busy machine. */
export const UPDATE_MS = 300_000;

/** A user's passphrase. */
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
 * Skips the SDK's stack traces for each promise of a program, which it takes for PULUMI_DEBUG_PROMISE_LEAKS. Vitest
 * maps every frame to its source, which costs a twelfth of such a worker's CPU time.
 */
function skipPromiseTraces(): void {
  const { prepareStackTrace: prepare } = Error;
  if (prepare === undefined || prepare.name === "withoutPromises") return;
  Error.prepareStackTrace = function withoutPromises(error: Error, frames: NodeJS.CallSite[]): unknown {
    return frames[0]?.getFunctionName() === "debuggablePromise" ? "" : prepare(error, frames);
  };
}

/** Returns the tests' engine. Building it logs its progress. */
export function testEngine(options: { docker?: boolean } = {}): Promise<Engine> {
  return ensureEngine({ ...options, log: (line) => void process.stderr.write(`${line}\n`) });
}

/** Creates another stack in the same backend and folder. */
export async function stackBeside({ stack }: TestStack, name: string, config: ConfigMap): Promise<Stack> {
  const beside = await Stack.create(name, stack.workspace);
  await beside.setAllConfig(config);
  return beside;
}

/** Returns the configuration that points the provider at a test's API. */
export function cloudflareConfig(baseUrl: string, token: string): Record<string, ConfigValue> {
  return {
    "cloudflare:apiToken": { value: token, secret: true },
    "cloudflare:baseUrl": { value: baseUrl },
  };
}

/** Returns the stored state of a stack named test, in which no secret may be readable. */
export function stateText({ folder }: TestStack): Promise<string> {
  return readFile(join(folder, "state/.pulumi/stacks/steward/test.json"), "utf8");
}
