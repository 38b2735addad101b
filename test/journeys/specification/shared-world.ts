import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { buildBundle } from "../../../infra/bundle/bundle.ts";
import type { Platforms } from "../../../rehearsal/platforms.ts";
import type { SlackMessage } from "../../../rehearsal/standins/slack-page.ts";
import { mention } from "../../../rehearsal/standins/slack.ts";
import { openIdentityGateway } from "../../support/identity-keys.ts";
import { freePort } from "../../support/ports.ts";
import { startStandIns } from "../../support/targets/target.ts";
import { TYPED } from "../../support/typed.ts";
import { startWorker } from "../../support/worker.ts";
import { startNode, temporaryDirectory, type RuntimeProcess } from "../../runtime/support/processes.ts";

const SOON = { timeout: 60_000, interval: 100 };
const HTML = { accept: "text/html" };

/** A deployment as its operator has it before them: what a journey walks on. It ends with its test. */
export interface SharedWorld {
  kind: "host" | "serverless";
  url: string;
  platforms: Platforms;
  /** The variables of a deployment with nothing wrong. */
  right: Readonly<Record<string, string>>;
  /** Asks as anybody. */
  ask(route: string, init?: RequestInit): Promise<Response>;
  /** Asks as the operator. */
  operate(route: string, init?: RequestInit): Promise<Response>;
  /** A page as the operator's browser shows it. */
  page(route: string): Promise<string>;
  /** Presses a button: posts a form of the admin pages. */
  press(route: string, fields?: Record<string, string>): Promise<Response>;
  /** The output of a command at `/debug/cli`. */
  cli(command: string): Promise<string>;
  /** Deploys with other variables: an update of the stack. An empty text unsets. */
  deploy(changed: Record<string, string>): Promise<void>;
  /** Puts a config where the operator can: the file in the volume, or the cached object in the bucket. */
  putConfig(text: string): Promise<void>;
  /** Deletes what the specification says: the file, or both cached objects. */
  deleteConfig(): Promise<void>;
  /** Waits until the gateway is ready, as a visitor does who opens `/`. */
  ready(): Promise<void>;
  inState(state: string): Promise<void>;
  /** Has a person mention the bot on Slack, and gives the reply. */
  say(text: string): Promise<SlackMessage>;
}

/** Starts a deployment; `environment` changes what an ordinary one has. */
export type StartWorld = (environment?: Record<string, string>) => Promise<SharedWorld>;

interface Deployment {
  kind: SharedWorld["kind"];
  url: string;
  platforms: Platforms;
  right: SharedWorld["right"];
  headers: Record<string, string>;
  deploy: SharedWorld["deploy"];
  /** Output of the host's process. It contains the reason when the gateway does not start. */
  output: () => string;
  putConfig: SharedWorld["putConfig"];
  deleteConfig: SharedWorld["deleteConfig"];
}

/** The host's process from the bundle. A deployment ends it and starts it again over the same directory. */
export const hostWorld: StartWorld = async (changes = {}) => {
  const { settings, platforms, environment } = await startStandIns();
  onTestFinished(() => platforms.close());
  const { adminToken } = settings.secrets;
  const home = await temporaryDirectory();
  const { container } = await buildBundle();
  const file = path.join(home, "steward.json");
  const [port, gatewayPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const own = {
    STEWARD_HOME: home,
    PORT: String(port),
    GATEWAY_PORT: String(gatewayPort),
    ADMIN_TOKEN: adminToken,
  };
  // It polls, as hosts do: without a webhook there is no secret for one.
  let variables: Record<string, string> = { ...environment, ...own, TELEGRAM_WEBHOOK_SECRET: "", ...changes };
  let running: RuntimeProcess | undefined;
  const deploy = async (changed: Record<string, string>): Promise<void> => {
    running?.kill("SIGTERM");
    await running?.exited;
    variables = { ...variables, ...changed };
    running = startNode([path.join(container.dir, "host/main.js")], variables);
    await expect
      .poll(async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok, SOON)
      .toBe(true);
  };
  await deploy({});
  return walkable({
    kind: "host",
    url,
    platforms,
    right: { ...environment, ADMIN_TOKEN: adminToken },
    headers: { authorization: `Bearer ${adminToken}` },
    deploy,
    output: () => running?.stdout() ?? "",
    putConfig: (text) => writeFile(file, text, { mode: 0o600 }),
    deleteConfig: () => rm(file),
  });
};

/** The built Worker in workerd with its Durable Object, whose container is a local process. */
export const workerWorld: StartWorld = async (changes = {}) => {
  const { platforms, environment } = await startStandIns();
  const { variables, headers, close } = await openIdentityGateway();
  const worker = await startWorker({ ...environment, ...variables, ...changes });
  onTestFinished(async () => {
    await worker.stop();
    await platforms.close();
    close();
  });
  const url = await worker.origin();
  return walkable({
    kind: "serverless",
    url,
    platforms,
    right: { ...environment, ...variables },
    headers,
    deploy: worker.deploy,
    output: () => "",
    putConfig: async (text) =>
      void (await worker.withBucket((bucket) => bucket.put("steward/steward.json", text))),
    deleteConfig: () => worker.withBucket((bucket) => bucket.delete(["steward/steward.json", ".last-sync"])),
  });
};

function walkable({ headers, output, ...deployment }: Deployment): SharedWorld {
  const { url, platforms } = deployment;
  const ask = (route: string, init: RequestInit = {}) =>
    fetch(new URL(route, url), { redirect: "manual", ...init });
  const operate = (route: string, init: RequestInit = {}) =>
    ask(route, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } });
  const stateNow = async (): Promise<string> =>
    ((await (await ask("/readyz")).json()) as { state: string }).state;
  const comesTo = async (state: string, knock: () => Promise<unknown> = stateNow): Promise<void> => {
    try {
      await expect.poll(async () => (await knock(), stateNow()), SOON).toBe(state);
    } catch (error) {
      throw new Error(`It did not come to be ${state}:\n${output().slice(-4_000)}`, { cause: error });
    }
  };
  return {
    ...deployment,
    ask,
    operate,
    page: async (route) => (await operate(route, { headers: HTML })).text(),
    press: (route, fields = {}) =>
      operate(route, {
        method: "POST",
        headers: { ...HTML, origin: url, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(fields),
      }),
    cli: async (command) => {
      const answer = await operate(`/debug/cli?cmd=${encodeURIComponent(command)}`, { headers: TYPED });
      const { stdout = "", stderr = "" } = (await answer.json()) as { stdout?: string; stderr?: string };
      return `${stdout}${stderr}`;
    },
    ready: () => comesTo("ready", () => ask("/")),
    inState: (state) => comesTo(state),
    say: async (text) => {
      const { status } = await ask("/slack/events", {
        method: "POST",
        ...platforms.slack.sign(mention(text)),
      });
      expect([200, 503]).toContain(status);
      return platforms.slack.waitFor((message) => message.text.includes(text), SOON.timeout);
    },
  };
}
