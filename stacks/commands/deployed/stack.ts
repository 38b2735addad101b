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
 * Message before a download is repeated. The CLI does so five times, which takes half a minute and does not help
 * without a network.
 */
const RETRIES = /will retry/i;
/** The official plugins that each target's program uses. */
const PLUGINS = { serverless: ["cloudflare", "command"], host: ["docker", "command"] } as const;

/** An opened stack. Each read takes the CLI a third of a second, so each is made once. */
export interface DeployedStack {
  stack: Stack;
  /** Returns the configuration as the program gets it. */
  config(): Promise<StackConfigSource>;
  /** Returns the state as it was at the first call. */
  state(): Promise<DeployedState>;
}

/** Options of every command's function. */
export interface CommandOptions {
  /** Folder of the Pulumi project, with `Pulumi.yaml`. Default: the working folder of this process. */
  workDir?: string | undefined;
  /**
   * Variables that the Pulumi CLI gets over those of this process, such as `PULUMI_BACKEND_URL` and
   * `PULUMI_CONFIG_PASSPHRASE`. The stack's program runs in this process and reads this process's variables.
   */
  env?: Readonly<Record<string, string>> | undefined;
  /** Gets the command's text for people, in pieces that end with a line break. Default: dropped. */
  say?: ((text: string) => void) | undefined;
  /** Gets lines of progress, the engine's among them. Default: dropped. */
  log?: ((line: string) => void) | undefined;
  /** Shows one line in place of the one before. If it is given, the engine's progress goes here and not to `log`. */
  status?: ((line: string) => void) | undefined;
}

/** Options of {@link openDeployed}. */
interface DeployedOptions extends CommandOptions {
  /** True if the command runs the stack's program: its plugins are checked first. */
  runsProgram: boolean;
  /** Values that the program takes as if they were stored, by their whole keys. */
  changes?: Readonly<Record<string, string>>;
}

/** Output of a command whose caller may have given none. */
export type Sink = Pick<CommandOutput, "say" | "log" | "status">;

/** Returns the output that a command's options name; texts without a taker are dropped. */
export function sinkOf({ say = drop, log = drop, status }: CommandOptions): Sink {
  return { say, log, ...(status && { status }) };
}

function drop(): void {}

/**
 * Opens a stack of a project, with the Pulumi CLI on PATH and the backend that it is logged in to. Missing plugins are
 * installed by the CLI.
 *
 * @throws BuildFailure in this order: `pulumi_missing`, `pulumi_outdated`, `pulumi_not_logged_in`, `stack_unknown`,
 * `stack_locked`, `stack_of_components`, `pulumi_plugin_missing`
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

/** A command that runs the package's program would remove the gateways of another program. */
async function requireOwnProgram(stackName: string, { state }: DeployedStack): Promise<void> {
  const names = gatewaysIn(await state())
    .map(({ name }) => name)
    .toSorted();
  if (names.length === 0 || names.includes(GATEWAY)) return;
  throw new BuildFailure(
    "stack_of_components",
    `${stackName} has gateways of a program of your own (${names.join(", ")}); this command runs the package's program`,
    ({ pulumi }) => `Use Pulumi itself: \`${pulumi("preview", "--refresh")}\`.`,
  );
}

/**
 * Keeps the Automation API from asking the CLI twice for the outputs after each update, which takes it two thirds of a
 * second. The state has them.
 */
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
  // Loaded late: these take most of a second, and are not needed if an argument is invalid.
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
      `there is no stack ${stackName}; ${names === "" ? "there is none yet" : `there are: ${names}`}`,
      ({ cli }) => `Name one of those, or make it with \`${cli("stack", "init", stackName)}\`.`,
    );
  }
}

/** Returns the target that the stack's settings name. */
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

/** Looks where the CLI does, which takes a sixth of a second to tell. A `.partial` beside it is a broken download. */
async function isInstalled(name: string, version: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const home = env["PULUMI_HOME"] ?? join(homedir(), ".pulumi");
  const names = await readdir(join(home, "plugins")).catch((): string[] => []);
  const wanted = `resource-${name}-v${version}`;
  return names.includes(wanted) && !names.includes(`${wanted}.partial`);
}

/** Returns the last lines of a failed download, without the CLI's announcement of a retry, which is not awaited. */
function whyNot(ended: Finished): string {
  const lines = tail(ended, 2).split("\n");
  const said = lines.filter((line) => !RETRIES.test(line)).join("\n");
  return said.replace(/^(?:warning|error): /, "");
}

function mayInstall(env: NodeJS.ProcessEnv): boolean {
  return !["1", "true"].includes(env["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] ?? "");
}

/** A resource in a stack's state; secrets are decrypted. */
interface DeployedResource {
  urn: string;
  type: string;
  id?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
}

/** A stack's state; empty before its first update. */
export interface DeployedState {
  resources: readonly DeployedResource[];
  /** Returns an output of the program that is a plain text; empty without one. */
  output(name: string): string;
}

/** Reads the state of a stack. */
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

/** A gateway in a stack's state. */
interface DeployedGateway {
  /** Name of its component. */
  name: string;
  /** The service's address; empty before its first update has ended. */
  url: string;
}

function gatewaysIn({ resources }: DeployedState): DeployedGateway[] {
  return resources
    .filter(({ type }) => COMPONENT.test(type))
    .map(({ urn, outputs }) => ({ name: resourceName(urn), url: String(outputs?.["url"] ?? "") }));
}

/**
 * Returns the gateway of a stack that has a name. Without a name, it is the only one. In a stack that was deployed before
 * there were components, the stack's own address is used.
 *
 * @throws BuildFailure `gateway_unknown` if there is none of this name, or several and no name
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
  throw new BuildFailure("gateway_unknown", cause, `Name one with --gateway. There are: ${names || "none"}.`);
}

/**
 * Returns the resource of a type and a name; the last part of the type is enough. The name is without the gateway's,
 * since a stack that was deployed before there was a gateway has it so.
 *
 * @param gateway name of the gateway's component. Default: that of the package's program
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

/** Returns the name of the Worker that the state has; `undefined` before its first update. */
export function deployedWorkerName(state: DeployedState): string | undefined {
  const name = findResource(state, "index/worker:Worker", "worker")?.inputs?.["name"];
  return typeof name === "string" ? name : undefined;
}

/** One thing that an update would do. */
export interface PlannedStep {
  op: string;
  type: string;
  name: string;
}

/**
 * Returns a preview event's change, as the engine counts changes: a replacement is reported with its steps, which are left
 * out, and so are the providers that the engine registers itself.
 */
export function stepsOf({ resourcePreEvent: event }: EngineEvent): PlannedStep[] {
  if (event === undefined) return [];
  const { op, type, urn } = event.metadata;
  if (type.startsWith("pulumi:providers:")) return [];
  const isWhole = ["create", "update", "replace", "delete"].includes(op);
  return isWhole ? [{ op, type, name: resourceName(urn) }] : [];
}

/** Marks of colors in the engine's messages. */
const MARKUP = /<\{%[^%]*%\}>/g;

/** Severities of a provider's own log; the SDK's type lacks `debug` (pulumi sdk/go/common/diag). */
const PROVIDER_LOG: ReadonlySet<string> = new Set(["debug", "info#err"]);

/**
 * Returns an event's message for people, without colors; `undefined` if it has none, only a transient one, or a line of
 * a provider's log.
 */
export function diagnosticText({ diagnosticEvent: said }: EngineEvent): string | undefined {
  if (said === undefined || said.ephemeral || PROVIDER_LOG.has(said.severity)) return undefined;
  return said.message.replaceAll(MARKUP, "");
}

/** A resource's own name: the last part of its URN, which may hold separators itself. */
export function resourceName(urn: string): string {
  return urn.split("::").slice(3).join("::");
}
