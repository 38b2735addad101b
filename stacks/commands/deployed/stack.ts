import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { EngineEvent, LocalWorkspaceOptions, Stack } from "@pulumi/pulumi/automation/index.js";
import type { CommandOutput } from "../../../infra/shell/command.ts";
import { missingPlugin } from "../../../infra/shell/explain.ts";
import { BuildFailure } from "../../../infra/shell/failure.ts";
import { type Finished, runProcess, tail } from "../../../infra/shell/process.ts";
import { GATEWAY } from "../../adopt.ts";
import type { StackConfigSource } from "../../config/source.ts";
import { cliEnvironment, pluginVersion, requireCommand, requireLogin } from "./cli.ts";
import { readStored } from "./config.ts";

const STACK = "pulumi:pulumi:Stack";
const COMPONENT = /^steward:index:(?:Serverless|Host)Gateway$/;

const PROJECT = "steward";
const INSTALL_MS = 10 * 60_000;
/**
 * Matches the CLI's announcement of another download attempt. A match stops the installation, because all five
 * attempts take half a minute.
 */
const RETRIES = /will retry/i;
const PLUGINS = { serverless: ["cloudflare", "command"], host: ["docker", "command"] } as const;

/** An opened stack. Reads are cached, because each takes a third of a second. */
export interface DeployedStack {
  stack: Stack;
  config(): Promise<StackConfigSource>;
  state(): Promise<DeployedState>;
}

export interface CommandOptions {
  /** Folder of `Pulumi.yaml`. Default: the working folder. */
  workDir?: string | undefined;
  /** Extra variables for the Pulumi CLI, such as `PULUMI_BACKEND_URL`. The stack's program does not see them. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Receives readable output in pieces that end with a line break. Default: discarded. */
  say?: ((text: string) => void) | undefined;
  /** Receives progress lines, including the engine's. Default: discarded. */
  log?: ((line: string) => void) | undefined;
  /**
   * Shows one line that replaces the previous one. If this function is absent, `log` receives the engine's progress.
   */
  status?: ((line: string) => void) | undefined;
}

interface DeployedOptions extends CommandOptions {
  /** True if the command runs the stack's program, which requires the program's plugins. */
  runsProgram: boolean;
  /** Overrides of stored values, by full key. */
  changes?: Readonly<Record<string, string>>;
}

export type Sink = Pick<CommandOutput, "say" | "log" | "status">;

export function sinkOf({ say = drop, log = drop, status }: CommandOptions): Sink {
  return { say, log, ...(status && { status }) };
}

function drop(): void {}

/**
 * Opens a stack with the Pulumi CLI on PATH. With `runsProgram`, installs missing plugins.
 *
 * @throws BuildFailure `pulumi_missing`, `pulumi_outdated`, `pulumi_not_logged_in`, `stack_unknown`, `stack_locked`,
 * `stack_of_components`, `pulumi_plugin_missing`
 */
export async function openDeployed(stackName: string, options: DeployedOptions): Promise<DeployedStack> {
  const envVars = { ...cliEnvironment(), ...options.env };
  const env = { ...process.env, ...envVars };
  const stack = withoutOutputs(await selectStack(stackName, options, envVars, env));
  const deployed = { stack, config: once(() => readStored(stack, env)), state: once(() => readState(stack)) };
  if (options.runsProgram) {
    await requireOwnProgram(stackName, deployed);
    await requirePlugins(await deployedTarget(deployed), env, sinkOf(options).log);
  }
  return deployed;
}

/**
 * Refuses a stack of another Pulumi program, because running the package's program would delete the stack's gateways.
 */
async function requireOwnProgram(stackName: string, { state }: DeployedStack): Promise<void> {
  const names = gatewaysIn(await state())
    .map(({ name }) => name)
    .toSorted();
  if (names.length === 0 || names.includes(GATEWAY)) return;
  throw new BuildFailure(
    "stack_of_components",
    `the gateways of ${stackName} (${names.join(", ")}) are defined by your own Pulumi program, but this command supports only the program that comes with the package`,
    ({ pulumi }) => `Use Pulumi itself: \`${pulumi("preview", "--refresh")}\`.`,
  );
}

/** Disables the Automation API's two reads of the outputs after each update, which take two thirds of a second. */
function withoutOutputs(stack: Stack): Stack {
  stack.workspace.stackOutputs = () => Promise.resolve({});
  return stack;
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= read());
}

async function selectStack(
  stackName: string,
  { changes = {}, workDir = process.cwd() }: DeployedOptions,
  envVars: Record<string, string>,
  env: NodeJS.ProcessEnv,
): Promise<Stack> {
  // Imported late: loading takes most of a second, which is wasted if an argument is invalid.
  const [pulumiCommand, { LocalWorkspace, StackNotFoundError }, { programWith }, { waitForEngine }] =
    await Promise.all([
      requireCommand(env),
      import("@pulumi/pulumi/automation/index.js"),
      import("../../program.ts"),
      import("../../../infra/shell/engine-connection.ts"),
    ]);
  await waitForEngine();
  const program = programWith(changes);
  const options: LocalWorkspaceOptions = { workDir, envVars, pulumiCommand };
  try {
    return await LocalWorkspace.selectStack({ stackName, projectName: PROJECT, program }, options);
  } catch (error) {
    if (!(error instanceof StackNotFoundError)) {
      await requireLogin(env);
      throw error;
    }
    const stacks = await (await LocalWorkspace.create(options)).listStacks();
    const names = stacks.map(({ name }) => name).join(", ");
    throw new BuildFailure(
      "stack_unknown",
      `there is no stack ${stackName}; ${names === "" ? "no stacks exist yet" : `existing stacks: ${names}`}`,
      ({ cli }) => `Use an existing stack, or create it with \`${cli("stack", "init", stackName)}\`.`,
    );
  }
}

export async function deployedTarget({ config }: DeployedStack): Promise<string | undefined> {
  return (await config()).values["steward:target"];
}

async function requirePlugins(
  target: string | undefined,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<void> {
  if (target !== "serverless" && target !== "host") return;
  for (const name of PLUGINS[target]) {
    const version = await pluginVersion(name);
    if (await isInstalled(name, version, env)) continue;
    const words = ["plugin", "install", "resource", name, version];
    log(`Installing the Pulumi plugin ${name} ${version}`);
    const done = mayInstall(env)
      ? await runProcess("pulumi", words, { env, timeoutMs: INSTALL_MS, until: (line) => RETRIES.test(line) })
      : undefined;
    if (done?.code === 0) continue;
    const why = done === undefined ? "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION is set" : whyNot(done);
    throw missingPlugin(name, version, why);
  }
}

/**
 * Looks for the plugin in the CLI's folder, which is faster than asking the CLI. A `.partial` file marks a broken
 * download.
 */
async function isInstalled(name: string, version: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const home = env["PULUMI_HOME"] ?? join(homedir(), ".pulumi");
  const names = await readdir(join(home, "plugins")).catch((): string[] => []);
  const wanted = `resource-${name}-v${version}`;
  return names.includes(wanted) && !names.includes(`${wanted}.partial`);
}

/** Omits the CLI's announcement of a retry. */
function whyNot(ended: Finished): string {
  const lines = tail(ended, 2).split("\n");
  const said = lines.filter((line) => !RETRIES.test(line)).join("\n");
  return said.replace(/^(?:warning|error): /, "");
}

function mayInstall(env: NodeJS.ProcessEnv): boolean {
  return !["1", "true"].includes(env["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] ?? "");
}

/** Secrets are decrypted. */
interface DeployedResource {
  urn: string;
  type: string;
  id?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
}

/** Empty before the first update. */
export interface DeployedState {
  resources: readonly DeployedResource[];
  /** Returns an output of the program, or an empty string if the output is not a plain string. */
  output(name: string): string;
}

export async function readState(stack: Stack): Promise<DeployedState> {
  const { deployment } = await stack.exportStack();
  const resources = (deployment as { resources?: DeployedResource[] } | null)?.resources ?? [];
  const outputs = resources.find(({ type }) => type === STACK)?.outputs ?? {};
  return {
    resources,
    output(name) {
      const value = outputs[name];
      return typeof value === "string" ? value : "";
    },
  };
}

interface DeployedGateway {
  name: string;
  /** Empty until the first update has finished. */
  url: string;
}

function gatewaysIn({ resources }: DeployedState): DeployedGateway[] {
  return resources
    .filter(({ type }) => COMPONENT.test(type))
    .map(({ urn, outputs }) => ({ name: resourceName(urn), url: String(outputs?.["url"] ?? "") }));
}

/**
 * Returns the gateway named `wanted`. If `wanted` is omitted, returns the only gateway or, for an older stack without
 * gateway components, a gateway with the default name and the stack's URL.
 *
 * @throws BuildFailure `gateway_unknown` unless exactly one gateway matches.
 */
export function gatewayOf(state: DeployedState, wanted?: string): DeployedGateway {
  const gateways = gatewaysIn(state);
  const [only = { name: GATEWAY, url: state.output("url") }] = gateways;
  if (wanted === undefined && gateways.length < 2) return only;
  const found = gateways.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  const names = gateways
    .map(({ name }) => name)
    .toSorted()
    .join(", ");
  const cause =
    wanted === undefined ? "the stack has several gateways" : `the stack has no gateway ${wanted}`;
  throw new BuildFailure("gateway_unknown", cause, `Select one with --gateway: ${names || "there is none"}.`);
}

/**
 * Finds a resource by the last part of its type and by its name without the gateway prefix.
 *
 * @param gateway Name of the gateway component. Default: the name in the package's own Pulumi program.
 */
export function findResource(
  { resources }: DeployedState,
  type: string,
  name: string,
  gateway = GATEWAY,
): DeployedResource | undefined {
  const ends = [`${type}::${name}`, `${type}::${gateway}-${name}`];
  return resources.find(({ urn }) => ends.some((end) => urn.endsWith(end)));
}

/** Returns the Worker's name, or `undefined` before the first update. */
export function deployedWorkerName(state: DeployedState): string | undefined {
  const name = findResource(state, "index/worker:Worker", "worker")?.inputs?.["name"];
  return typeof name === "string" ? name : undefined;
}

export interface PlannedStep {
  op: string;
  type: string;
  name: string;
}

/**
 * Returns a list with the step that an engine event plans. The list is empty if the event has no step, or if the step
 * is for a provider, leaves the resource unchanged, or is only part of a replacement.
 */
export function stepsOf({ resourcePreEvent: event }: EngineEvent): PlannedStep[] {
  if (event === undefined) return [];
  const { op, type, urn } = event.metadata;
  if (type.startsWith("pulumi:providers:")) return [];
  const isWhole = ["create", "update", "replace", "delete"].includes(op);
  return isWhole ? [{ op, type, name: resourceName(urn) }] : [];
}

/** Color markup in the engine's messages. */
const MARKUP = /<\{%[^%]*%\}>/g;

/** The SDK's type lacks `debug` (pulumi sdk/go/common/diag). */
const PROVIDER_LOG: ReadonlySet<string> = new Set(["debug", "info#err"]);

/** Returns an event's message without colors. Skips transient messages and provider logs. */
export function diagnosticText({ diagnosticEvent: said }: EngineEvent): string | undefined {
  if (said === undefined || said.ephemeral || PROVIDER_LOG.has(said.severity)) return undefined;
  return said.message.replaceAll(MARKUP, "");
}

/** Returns the end of a URN, which may contain separators. */
export function resourceName(urn: string): string {
  return urn.split("::").slice(3).join("::");
}
