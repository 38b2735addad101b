import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeploymentListResponse } from "cloudflare/resources/workers/scripts/deployments";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildBundle } from "../../infra/build/bundle.ts";
import { startModel } from "../../infra/rehearsal/standins/model.ts";
import { listen, type Listening } from "../../infra/rehearsal/standins/serve.ts";
import { startSlack, type SlackStandIn } from "../../infra/rehearsal/standins/slack.ts";
import { ACCOUNT, SCRIPT } from "../infra/rehearsal/support.ts";
import {
  MODEL_KEY,
  SIGNING_SECRET,
  startServerlessStage,
  type ServerlessStage,
} from "../support/serverless-stack.ts";
import { stackCommand } from "../support/stack-command.ts";
import { sendSteadily } from "../support/steady-events.ts";
import { ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const MINUTE_MS = 60_000;

let world: ServerlessStage;
let subject: TestStack;
let gate: Listening;
let model: Listening;
let slack: SlackStandIn;
/** What comes between the service and whoever asks it for its readiness, by the version that answers. */
let spoil: ((version: string) => Promise<Response | undefined>) | undefined;

beforeAll(async () => {
  const { container } = await buildBundle();
  world = await startServerlessStage({
    containers: (dir) => ({
      kind: "process",
      supervise: {
        command: [process.execPath, path.join(container.dir, "supervisor/main.js")],
        dir: path.join(dir, "containers"),
      },
    }),
  });
  slack = await startSlack({
    ...LOOPBACK,
    botToken: "xoxb-test-0123456789",
    signingSecret: SIGNING_SECRET,
  });
  model = await startModel({ ...LOOPBACK, apiKey: MODEL_KEY });
  gate = await listen(
    new Hono().all("*", ({ req }) => pass(req.raw)),
    LOOPBACK,
  );
  subject = await world.stack({
    config: {
      "steward:origin": { value: gate.url },
      "steward:endpoints": { value: JSON.stringify({ anthropic: model.url, slack: slack.apiUrl }) },
    },
  });
}, ENGINE_MS);

afterAll(async () => {
  await gate?.close();
  await world?.close();
  await Promise.all([slack?.close(), model?.close()]);
}, UPDATE_MS);

async function pass(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
  const answer = await fetch(`${world.front.url}${pathname}${search}`, {
    method,
    headers,
    body,
    redirect: "manual",
  });
  if (pathname !== "/readyz") return answer;
  const { workerVersion } = (await answer.clone().json()) as { workerVersion: string };
  return (await spoil?.(workerVersion)) ?? answer;
}

const rollout = (...words: string[]) =>
  stackCommand(subject, "rollout.ts", "test", "--yes", "--json", ...words);

/** A new version of the Worker, and nothing else. */
const change = (logLevel: string) => subject.stack.setConfig("steward:logLevel", { value: logLevel });

/** The shares of the newest deployments, newest first, by the version's place in `known`. */
async function deployments(): Promise<Record<string, number>[]> {
  // The client's own list reads pages of items, which this answer does not have.
  const { result } = await world.stage.client.get<{ result: DeploymentListResponse }>(
    `/accounts/${ACCOUNT}/workers/scripts/${SCRIPT}/deployments`,
  );
  return result.deployments.map(({ versions }) =>
    Object.fromEntries(versions.map(({ version_id: id, percentage }) => [id, percentage])),
  );
}

interface Entry {
  time: string;
  step: string;
  [fact: string]: unknown;
}

async function record(): Promise<Entry[]> {
  const folder = path.join(subject.folder, ".steward/rollouts/test");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".jsonl")).sort();
  const text = await readFile(path.join(folder, names.at(-1) ?? ""), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Entry);
}

async function liveVersion(): Promise<string> {
  const answer = await fetch(`${world.front.url}/readyz`);
  return ((await answer.json()) as { workerVersion: string }).workerVersion;
}

test(
  "a first deployment has nothing to share with, and takes all",
  async () => {
    const first = await rollout("--canary", "10,100");
    expect(first.code, first.said).toBe(0);
    expect(await record()).not.toContainEqual(expect.objectContaining({ step: "canary" }));
  },
  UPDATE_MS,
);

test(
  "a new version gets its shares one after the other, each measured, and no event is lost",
  async () => {
    const events = sendSteadily(`${world.front.url}/slack/events`, slack);
    const former = await liveVersion();
    await change("debug");
    const done = await rollout("--canary", "10,50,100", "--watch", "0");
    expect(done.code, done.said).toBe(0);

    const next = await liveVersion();
    expect(next).not.toBe(former);
    expect((await deployments()).slice(0, 4)).toEqual([
      { [next]: 100 },
      { [former]: 50, [next]: 50 },
      { [former]: 90, [next]: 10 },
      { [former]: 100 },
    ]);
    const steps = await record();
    const health = (versionId: string) => ({
      versionId,
      requests: 50,
      errors: 0,
      medianMs: expect.any(Number),
    });
    expect(steps.filter(({ step }) => step === "canary")).toEqual(
      [10, 50].map((percentage) => ({
        time: expect.any(String),
        step: "canary",
        percentage,
        former: health(former),
        next: health(next),
      })),
    );
    expect(done.said).toContain("The new version has 10 % of the requests.");
    expect(done.said).toContain("The new version: 0 of 50 requests answered wrongly");
    expect(await events.lost()).toEqual([]);
    expect(events.sent).toBeGreaterThan(10);
  },
  UPDATE_MS,
);

test(
  "one that answers wrongly, or slowly, gets no more, and the former one has all again",
  async () => {
    const former = await liveVersion();
    let asked = 0;
    const isNew = (version: string) => version !== former;
    spoil = async (version) => {
      asked += 1;
      return isNew(version) && asked % 5 === 0 ? Response.json({}, { status: 500 }) : undefined;
    };
    await change("warning");
    const wrong = await rollout("--canary", "10,50", "--watch", "0");
    expect(wrong.code, wrong.said).toBe(4);
    expect(wrong.said).toMatch(
      /At 10 %: of 50 requests to the new version \d+ were answered wrongly, to the former one 0\./,
    );
    expect(await liveVersion()).toBe(former);
    const [now, before] = await deployments();
    expect(now).toEqual({ [former]: 100 });
    expect(Object.values(before ?? {})).toEqual([90, 10]);

    spoil = async (version) => {
      if (isNew(version)) await sleep(400);
      return undefined;
    };
    const slow = await rollout("--canary", "10,50", "--watch", "0");
    expect(slow.code, slow.said).toBe(4);
    expect(slow.said).toMatch(/At 10 %: the new version answers in 4\d\d ms, the former one in \d+ ms/);
    expect(await liveVersion()).toBe(former);
    spoil = undefined;
  },
  UPDATE_MS * 2,
);

test(
  "one that fails its probe goes back by itself within a minute, and no event is lost",
  async () => {
    const former = await liveVersion();
    spoil = async (version) => (version === former ? undefined : Response.json({}, { status: 500 }));
    const events = sendSteadily(`${world.front.url}/slack/events`, slack);
    const failed = await rollout();
    expect(failed.code, failed.said).toBe(4);
    expect(failed.said).toContain("does not answer as it should");
    expect(failed.report).toMatchObject({
      ok: false,
      exit: 4,
      back: [
        expect.stringContaining("The Worker is back"),
        expect.stringContaining("The former version answers"),
      ],
    });
    expect(await liveVersion()).toBe(former);
    const steps = await record();
    expect(steps.map(({ step }) => step)).toEqual([
      "begun",
      "planned",
      "former",
      "updating",
      "failed",
      "back",
      "ended",
    ]);
    const at = (step: string) => Date.parse(steps.find((entry) => entry.step === step)?.time ?? "");
    expect(at("back") - at("failed")).toBeLessThan(MINUTE_MS);
    expect(await events.lost()).toEqual([]);
    expect(events.sent).toBeGreaterThan(10);

    spoil = undefined;
    const mended = await rollout("--canary", "50", "--watch", "0");
    expect(mended.code, mended.said).toBe(0);
    expect(await liveVersion()).not.toBe(former);
  },
  UPDATE_MS * 2,
);

test(
  "words that are no shares are refused, and so is a migration by shares",
  async () => {
    const wrong = await rollout("--canary", "50,10");
    expect(wrong.code).toBe(1);
    expect(wrong.said).toContain("Write percentages that rise to at most 100, as 10,50,100.");
    const migrations = ["v1", "v2"].map((tag, at) => ({
      tag,
      newSqliteClasses: [at === 0 ? "Sandbox" : "Another"],
    }));
    await subject.stack.setConfig("steward:migrations", { value: JSON.stringify(migrations) });
    const refused = await rollout("--canary", "10");
    expect(refused.report).toMatchObject({ ok: false, code: "canary_with_migration" });
    expect(refused.code).toBe(1);
  },
  UPDATE_MS,
);
