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

export interface TestStack {
  stack: Stack;
  folder: string;
  /** Environment of a user's commands on this stack. */
  environment: Record<string, string>;
  /** The test must destroy the stack's resources first. */
  close(): Promise<void>;
}

export interface TestStackOptions {
  program: PulumiFn;
  config: Record<string, ConfigValue>;
  docker?: boolean;
  /** Default: test. */
  name?: string;
  /** Default: steward. */
  project?: string;
  environment?: Record<string, string>;
}

/** Timeout of tests that may build the Pulumi engine. */
export const ENGINE_MS = 20 * 60_000;
export const UPDATE_MS = 600_000;

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

/** Vitest maps every frame of these traces to its source, which would cost a twelfth of the CPU time. */
function skipPromiseTraces(): void {
  const { prepareStackTrace: prepare } = Error;
  if (prepare === undefined || prepare.name === "withoutPromises") return;
  Error.prepareStackTrace = function withoutPromises(error: Error, frames: NodeJS.CallSite[]): unknown {
    return frames[0]?.getFunctionName() === "debuggablePromise" ? "" : prepare(error, frames);
  };
}

export function testEngine(options: { docker?: boolean } = {}): Promise<Engine> {
  return ensureEngine({ ...options, log: (line) => void process.stderr.write(`${line}\n`) });
}

export async function stackBeside({ stack }: TestStack, name: string, config: ConfigMap): Promise<Stack> {
  const beside = await Stack.create(name, stack.workspace);
  await beside.setAllConfig(config);
  return beside;
}

export function cloudflareConfig(baseUrl: string, token: string): Record<string, ConfigValue> {
  return {
    "cloudflare:apiToken": { value: token, secret: true },
    "cloudflare:baseUrl": { value: baseUrl },
  };
}

export function stateText({ folder }: TestStack): Promise<string> {
  return readFile(join(folder, "state/.pulumi/stacks/steward/test.json"), "utf8");
}
