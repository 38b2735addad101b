import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { startModel } from "../../rehearsal/standins/model.ts";
import { startSlack } from "../../rehearsal/standins/slack.ts";
import { freePort } from "./ports.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const SECRETS = {
  slackBotToken: "xoxb-test-0123456789ab",
  slackSigningSecret: "0123456789abcdef0123456789abcdef",
  anthropicApiKey: "sk-ant-test-0123456789abcdef",
  adminToken: "admin-token-0123456789",
};

export type HostBuild = "source" | "bundle";

export interface HostOptions {
  build?: HostBuild;
  /** An empty value unsets a variable. */
  environment?: Record<string, string>;
  /** `steward.json` before the first start. */
  config?: unknown;
  prepare?(home: string): Promise<void>;
  before?: readonly string[];
}

/** From source, the arguments match `npm run dev`. */
async function programArguments(build: HostBuild): Promise<string[]> {
  if (build === "source") {
    await promisify(execFile)(process.execPath, ["scripts/client.ts"]);
    return ["--import", "./scripts/jsx.ts", "runtime/host/main.ts"];
  }
  const { container } = await buildBundle();
  return [path.join(container.dir, "host/main.js")];
}

/** Starts the host process with stand-ins for Slack and the model. */
export async function startHost({
  build = "bundle",
  environment = {},
  config,
  prepare,
  before = [],
}: HostOptions = {}) {
  const home = await mkdtemp(path.join(tmpdir(), "steward-host-"));
  const configFile = path.join(home, "steward.json");
  const writeConfig = (value: unknown) => writeFile(configFile, JSON.stringify(value));
  if (config !== undefined) await writeConfig(config);
  await prepare?.(home);
  const slack = await startSlack({
    ...LOOPBACK,
    botToken: SECRETS.slackBotToken,
    signingSecret: SECRETS.slackSigningSecret,
  });
  const model = await startModel({ ...LOOPBACK, apiKey: SECRETS.anthropicApiKey });
  const [edgePort, gatewayPort] = [await freePort(), await freePort()];
  const program = await programArguments(build);
  const spawnWith = (variables: Record<string, string>, prefix: readonly string[]) => {
    const [command = "", ...args] = [...prefix, process.execPath, ...program];
    return spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: environmentWith(variables) });
  };
  const environmentWith = (variables: Record<string, string>): NodeJS.ProcessEnv => ({
    PATH: process.env["PATH"],
    STEWARD_HOME: home,
    PORT: String(edgePort),
    GATEWAY_PORT: String(gatewayPort),
    SLACK_BOT_TOKEN: SECRETS.slackBotToken,
    SLACK_SIGNING_SECRET: SECRETS.slackSigningSecret,
    SLACK_API_URL: slack.apiUrl,
    ANTHROPIC_API_KEY: SECRETS.anthropicApiKey,
    ANTHROPIC_BASE_URL: model.url,
    ADMIN_TOKEN: SECRETS.adminToken,
    ...variables,
  });
  let output = "";
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  const launch = (variables: Record<string, string>, prefix: readonly string[]) => {
    const started = spawnWith(variables, prefix);
    started.stdout.on("data", collect);
    started.stderr.on("data", collect);
    return started;
  };
  let child = launch(environment, before);
  const url = `http://127.0.0.1:${edgePort}`;
  const request = (route: string, init?: RequestInit) => fetch(new URL(route, url), init);

  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    const deadline = Date.now() + 30_000;
    while (!(await holds().catch(() => false))) {
      if (hasEnded() || Date.now() > deadline) throw new Error(`${what} did not come to be.\n${output}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const inState = (state: string) =>
    until(
      state,
      async () => ((await (await request("/readyz")).json()) as { state: string }).state === state,
    );
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const halt = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    if (hasEnded()) return;
    child.kill(signal);
    await once(child, "exit");
  };
  const stop = async (): Promise<void> => {
    await halt();
    await Promise.all([slack.close(), model.close()]);
    // A child of the gateway may outlive it briefly and still write files.
    await rm(home, { recursive: true, maxRetries: 10 });
  };
  const listens = () => until("the edge", async () => (await request("/healthz")).ok);
  await listens().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const resume = async (variables: Record<string, string>, prefix = before): Promise<void> => {
    child = launch(variables, prefix);
    await listens();
  };

  const gatewayPid = async () => {
    const response = await fetch(`http://127.0.0.1:${gatewayPort}/readyz`);
    return ((await response.json()) as { pid: number }).pid;
  };

  return {
    url,
    home,
    pid: child.pid ?? 0,
    halt,
    resume,
    gatewayPid,
    slack,
    gatewayPort,
    secrets: SECRETS,
    request,
    inState,
    writeConfig,
    output: () => output,
    admin: { headers: { authorization: `Bearer ${SECRETS.adminToken}` } },
    postSlack: (event: unknown) => request("/slack/events", { method: "POST", ...slack.sign(event) }),
    stop,
  };
}
