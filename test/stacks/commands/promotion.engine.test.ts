import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Stack } from "@pulumi/pulumi/automation/index.js";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { buildBundle } from "../../../infra/bundle/bundle.ts";
import { runProcess } from "../../../infra/shell/process.ts";
import type { LoopbackServer } from "../../../rehearsal/loopback.ts";
import { listen, type Listening } from "../../../rehearsal/standins/serve.ts";
import { ACCOUNT } from "../../rehearsal/support.ts";
import { fixFor, stackShell, typeFix } from "../../journeys/typed.ts";
import { copyCheckout } from "../../support/checkout.ts";
import { startServerlessStage, type ServerlessStage } from "../../support/serverless-stack.ts";
import { startWorkerOrigin } from "../../support/worker-origin.ts";
import { stackCommand } from "../../support/stack-command.ts";
import { ENGINE_MS, stackBeside, UPDATE_MS, type TestStack } from "../../support/stack.ts";

const DIGEST = `registry.example.com/steward@sha256:${"1".repeat(64)}`;
const OTHER_ACCOUNT = "f".repeat(32);
const ELSEWHERE = `registry.cloudflare.com/${OTHER_ACCOUNT}/steward@sha256:${"3".repeat(64)}`;

let world: ServerlessStage;
let staging: TestStack;
let prod: Stack;
let origin: LoopbackServer;
let gate: Listening;
/** While it is set, what staging deploys does not answer. */
let silent = false;
/** What the first refusal printed. */
let unproven = "";

beforeAll(async () => {
  world = await startServerlessStage();
  origin = await startWorkerOrigin(world.front, "staging.example.workers.dev");
  const app = new Hono().all("*", async (context) => {
    if (silent) return context.json({}, 500);
    const { pathname, search } = new URL(context.req.url);
    const { method, headers } = context.req.raw;
    const body = method === "GET" || method === "HEAD" ? null : await context.req.arrayBuffer();
    return fetch(`${origin.url}${pathname}${search}`, { method, headers, body, redirect: "manual" });
  });
  gate = await listen(app, { hostname: "127.0.0.1", port: 0 });
  staging = await world.stack({
    name: "staging",
    config: {
      "steward:origin": { value: gate.url },
      "steward:workerName": { value: "staging" },
      "steward:image": { value: DIGEST },
    },
  });
  prod = await stackBeside(staging, "prod", {
    ...world.config(),
    "steward:protectState": { value: "true" },
    // Whatever builds and pushes an image fails: nothing listens there.
    "steward:registry": { value: "127.0.0.1:9" },
  });
}, ENGINE_MS);

afterAll(async () => {
  await gate?.close();
  await origin?.close();
  await world?.close();
}, UPDATE_MS);

// No container runs here that could be backed up.
const rollout = (...words: string[]) =>
  stackCommand(staging, "rollout.ts", "--json", "--without-backup", ...words);
const promote = (...words: string[]) => rollout("prod", "--yes", "--promote-from", "staging", ...words);

const setImage = (value: string) => staging.stack.setConfig("steward:image", { value });

async function outputsOf(stack: Stack) {
  const { bundleHash, image } = await stack.outputs();
  return { bundle: bundleHash?.value as unknown, image: image?.value as unknown };
}

async function workers(): Promise<string[]> {
  const { result } = await world.stage.client.workers.beta.workers.list({ account_id: ACCOUNT });
  return result.map(({ name }) => name);
}

test(
  "refuses what no rollout has proven, and deploys nothing",
  async () => {
    await staging.stack.up();
    const { code, report, said } = await promote();
    expect(report).toMatchObject({
      ok: false,
      code: "promotion_unproven",
      cause: "No rollout of staging is recorded in .steward/rollouts/staging.",
      fix: expect.stringContaining("`npm run rollout -- staging`"),
    });
    expect(code).toBe(1);
    unproven = said;
    expect(await workers()).toEqual(["staging"]);
  },
  UPDATE_MS,
);

test(
  "deploys the digest and the bundle that were probed, without building or pushing an image",
  async () => {
    // What is deployed already is proven by a rollout that finds nothing to do: the probe is a part of it.
    const shell = await stackShell(staging, "promotion");
    await typeFix(shell, fixFor("promotion_unproven", unproven));
    const records = path.join(staging.folder, ".steward/rollouts/staging");
    const names = (await readdir(records)).filter((name) => name.endsWith(".jsonl"));
    const record = await readFile(path.join(records, names.sort().at(-1) ?? ""), "utf8");
    const { stdout } = await runProcess("git", ["rev-parse", "HEAD"]);
    expect(JSON.parse(record.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      exit: 0,
      deployed: { image: DIGEST, commit: expect.stringContaining(stdout.trim()) },
    });

    const promoted = await promote();
    expect(promoted.code, promoted.said).toBe(0);
    expect(promoted.said).toContain(`image ${DIGEST}`);
    expect(await outputsOf(prod)).toEqual(await outputsOf(staging.stack));
    expect(await outputsOf(prod)).toEqual({ bundle: (await buildBundle()).hash, image: DIGEST });
    expect(world.stage.cloudflare.account.state.applications).toContainEqual(
      expect.objectContaining({
        name: "steward-sandbox",
        configuration: expect.objectContaining({ image: DIGEST }),
      }),
    );
    expect(await prod.getAllConfig()).not.toHaveProperty("steward:image");
  },
  UPDATE_MS * 2,
);

test(
  "refuses a checkout that builds something else, with both hashes and the commit to check out",
  async () => {
    const other = await copyCheckout({ version: "99.0.0" });
    onTestFinished(other.close);
    const script = path.join(other.root, "stacks/commands/rollout.ts");
    const words = ["--json", "prod", "--yes", "--promote-from", "staging"];
    const { code, report, said } = await stackCommand(staging, script, ...words);
    const { hash } = await buildBundle();
    expect(report, said).toMatchObject({
      code: "promotion_differs",
      fix: expect.stringContaining("Check out the commit"),
    });
    expect(report["cause"]).toMatch(
      new RegExp(
        `^staging has probed bundle ${hash}, but this checkout builds (?!${hash})[0-9a-f]{16}\\. ` +
          "staging was rolled out from commit [0-9a-f]{40}",
      ),
    );
    expect(code).toBe(1);
  },
  UPDATE_MS,
);

test(
  "refuses what was deployed beside the rollouts, and an image that the target's account cannot read",
  async () => {
    await setImage(ELSEWHERE);
    await staging.stack.up();
    const beside = await promote();
    expect(beside.report).toMatchObject({ code: "promotion_unproven" });
    expect(beside.report["cause"]).toContain(`with image ${ELSEWHERE}, but the last rollout`);

    const proving = await rollout("staging", "--yes");
    expect(proving.code, proving.said).toBe(0);
    const elsewhere = await promote();
    expect(elsewhere.report).toMatchObject({ code: "promotion_image_elsewhere" });
    expect(elsewhere.report["cause"]).toContain(`account ${OTHER_ACCOUNT}, but prod uses account ${ACCOUNT}`);
  },
  UPDATE_MS * 2,
);

test(
  "refuses what did not answer its probe, and a rollout that was cut off",
  async () => {
    silent = true;
    await staging.stack.setConfig("steward:logLevel", { value: "error" });
    const impatient = { ...staging, environment: { ...staging.environment, PROBE_TIMEOUT_MS: "8000" } };
    const words = ["--json", "--without-backup", "staging", "--yes"];
    expect((await stackCommand(impatient, "rollout.ts", ...words)).code).not.toBe(0);
    silent = false;
    const failed = await promote();
    expect(failed.report["cause"]).toMatch(/^The rollout of \S+ of staging ended with [45]\.$/);
    expect(failed.code).toBe(1);

    const cut = path.join(staging.folder, ".steward/rollouts/staging/9999.jsonl");
    await writeFile(cut, '{"time":"2026-01-31T09:30:00.000Z","step":"updating"}\n');
    const { report } = await promote();
    expect(report).toMatchObject({
      code: "promotion_unproven",
      cause: 'The rollout of 2026-01-31T09:30:00.000Z of staging was interrupted at "updating".',
    });
    expect((await outputsOf(prod)).image).toBe(DIGEST);
  },
  UPDATE_MS * 2,
);

test("says what is wrong with a stack that is promoted to itself", async () => {
  const { code, report } = await rollout("staging", "--promote-from", "staging");
  expect(report["cause"]).toContain("staging cannot be promoted to itself; ");
  expect(code).toBe(2);
});
