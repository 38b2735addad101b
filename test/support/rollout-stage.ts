import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { DeploymentListResponse } from "cloudflare/resources/workers/scripts/deployments";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { startModel } from "../../rehearsal/standins/model.ts";
import { listen } from "../../rehearsal/standins/serve.ts";
import { startSlack, type SlackStandIn } from "../../rehearsal/standins/slack.ts";
import type { ErrorCode } from "../../runtime/contract/errors.ts";
import { problem, problemResponse } from "../../runtime/contract/problem.ts";
import { ACCOUNT, SCRIPT } from "../rehearsal/support.ts";
import {
  MODEL_KEY,
  SIGNING_SECRET,
  startServerlessStage,
  type ServerlessStage,
  type StageOptions,
} from "./serverless-stack.ts";
import { stackCommand, startStackCommand, type Ended } from "./stack-command.ts";
import type { TestStack } from "./stack.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
/** Generous, because only a failing rollout waits that long. */
const PROBE_MS = "60000";
/** Shorter, because a spoiled rollout uses the whole timeout. */
const SPOILED_PROBE_MS = "15000";

/** Function that replaces a Worker version's response of `/readyz`. `undefined` leaves it unchanged. */
type Spoil = (version: string) => Promise<Response | undefined>;

interface RecordEntry {
  time: string;
  step: string;
  [fact: string]: unknown;
}

/** Serverless stack named `test` for testing rollouts. */
export interface RolloutStage {
  world: ServerlessStage;
  subject: TestStack;
  slack: SlackStandIn;
  /** URL for Slack's events, which bypasses `spoil`. */
  eventsUrl: string;
  spoil(how: Spoil | undefined): void;
  refuse(path: string, code: ErrorCode): void;
  alter(path: string, change: ((answer: unknown) => unknown) | undefined): void;
  /** Breaks all connections to the service's address while `isCut` is true. */
  cut(isCut: boolean): void;
  /** Returns the last signed request of a stack command. */
  signedRequest(): Request | undefined;
  rollout(...words: string[]): Promise<Ended>;
  startRollout(...words: string[]): ReturnType<typeof startStackCommand>;
  /** Causes a new Worker version at the next update. */
  change(logLevel: string): Promise<void>;
  liveVersion(): Promise<string>;
  /** Traffic shares by version, newest deployment first. */
  deployments(): Promise<Record<string, number>[]>;
  record(): Promise<RecordEntry[]>;
  close(): Promise<void>;
}

/** Does not deploy the stack. */
export async function startRolloutStage(
  options: Pick<StageOptions, "ownProvider"> = {},
): Promise<RolloutStage> {
  const { container } = await buildBundle();
  const command = [process.execPath, path.join(container.dir, "supervisor/main.js")];
  const world = await startServerlessStage({
    ...options,
    containers: (dir) => ({
      kind: "process",
      supervise: { command, dir: path.join(dir, "containers") },
    }),
  });
  const slack = await startSlack({
    ...LOOPBACK,
    botToken: "xoxb-test-0123456789",
    signingSecret: SIGNING_SECRET,
  });
  const model = await startModel({ ...LOOPBACK, apiKey: MODEL_KEY });
  let spoiling: Spoil | undefined;
  const refused = new Map<string, ErrorCode>();
  const altered = new Map<string, (answer: unknown) => unknown>();
  let cut = false;
  let signed: Request | undefined;
  const app = new Hono().all("*", async ({ req, env }) => {
    if (cut) {
      (env as HttpBindings).incoming.socket.destroy();
      return RESPONSE_ALREADY_SENT;
    }
    if (req.path.startsWith("/stack/")) signed = req.raw.clone();
    const code = refused.get(req.path);
    if (code !== undefined) return problemResponse(problem(code));
    const answer = await passOn(req.raw, world.front.url, spoiling);
    const change = altered.get(req.path);
    return change === undefined || !answer.ok ? answer : Response.json(change(await answer.json()));
  });
  const gate = await listen(app, LOOPBACK);
  const endpoints = { anthropic: model.url, slack: slack.apiUrl };
  const subject = await world.stack({
    environment: { PROBE_TIMEOUT_MS: PROBE_MS },
    config: {
      "steward:origin": { value: gate.url },
      "steward:endpoints": { value: JSON.stringify(endpoints) },
    },
  });
  const words = ["test", "--yes", "--json"];
  return {
    world,
    subject,
    slack,
    eventsUrl: `${world.front.url}/slack/events`,
    refuse: (at, code) => void refused.set(at, code),
    alter: (at, change) => void (change === undefined ? altered.delete(at) : altered.set(at, change)),
    cut: (isCut) => void (cut = isCut),
    signedRequest: () => signed,
    spoil(how) {
      spoiling = how;
      subject.environment["PROBE_TIMEOUT_MS"] = how === undefined ? PROBE_MS : SPOILED_PROBE_MS;
    },
    rollout: (...more) => stackCommand(subject, "rollout.ts", ...words, ...more),
    startRollout: (...more) => startStackCommand(subject, "rollout.ts", ...words, ...more),
    change: (logLevel) => subject.stack.setConfig("steward:logLevel", { value: logLevel }),
    liveVersion: () => versionAt(world.front.url),
    deployments: () => deploymentsOf(world),
    record: () => newestRecord(subject),
    async close() {
      await gate.close();
      await world.close();
      await Promise.all([slack.close(), model.close()]);
    },
  };
}

async function passOn(request: Request, onto: string, spoil: Spoil | undefined): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
  const answer = await fetch(`${onto}${pathname}${search}`, { method, headers, body, redirect: "manual" });
  if (pathname !== "/readyz" || spoil === undefined) return answer;
  const { workerVersion } = (await answer.clone().json()) as { workerVersion: string };
  return (await spoil(workerVersion)) ?? answer;
}

async function versionAt(url: string): Promise<string> {
  const answer = await fetch(`${url}/readyz`);
  return ((await answer.json()) as { workerVersion: string }).workerVersion;
}

async function deploymentsOf({ stage }: ServerlessStage): Promise<Record<string, number>[]> {
  // The client's list method expects pages, which the API does not send.
  const { result } = await stage.client.get<{ result: DeploymentListResponse }>(
    `/accounts/${ACCOUNT}/workers/scripts/${SCRIPT}/deployments`,
  );
  return result.deployments.map(({ versions }) =>
    Object.fromEntries(versions.map(({ version_id: id, percentage }) => [id, percentage])),
  );
}

async function newestRecord({ folder }: TestStack): Promise<RecordEntry[]> {
  const records = path.join(folder, ".steward/rollouts/test");
  const names = await readdir(records).catch(() => []);
  const newest = names
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .at(-1);
  if (newest === undefined) return [];
  const text = await readFile(path.join(records, newest), "utf8");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RecordEntry);
}
