import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { prepareBaseImage } from "../../rehearsal/base-image.ts";
import { docker } from "../../infra/shell/docker.ts";
import { ensureSidecarImage } from "../../rehearsal/sidecar/index.ts";
import {
  ACCOUNT,
  ask,
  BUNDLE,
  deployAll,
  release,
  startStage,
  SUPERVISOR,
  tempDir,
  tieApplication,
  until,
  type Stage,
} from "./support.ts";
import { engine as state } from "../support/docker.ts";

const skipped = state.ok ? "" : ` (skipped: ${state.reason})`;
const images = [`steward-test-container:${process.pid}-one`, `steward-test-container:${process.pid}-two`];
const log = (): void => undefined;
let stage: Stage | undefined;

beforeAll(async () => {
  if (!state.ok) return;
  const base = await prepareBaseImage({ log });
  const sidecar = await ensureSidecarImage({ log });
  const context = tempDir();
  for (const image of images) {
    const named = `process.env.GREETING += ${JSON.stringify(` from ${image.split("-").at(-1)}`)};\n`;
    writeFileSync(join(context, "supervisor.mjs"), named + SUPERVISOR);
    writeFileSync(
      join(context, "Dockerfile"),
      `FROM ${base.image}\nCOPY supervisor.mjs /app/\nEXPOSE 18789 18790\nENTRYPOINT ["node"]\nCMD ["/app/supervisor.mjs"]\n`,
    );
    await docker(["build", "--quiet", "--tag", image, context]);
  }
  rmSync(context, { recursive: true });
  stage = await startStage(() => ({
    kind: "docker",
    image: (reference) => `steward-test-container:${process.pid}-${reference.split(":").at(-1)}`,
    sidecarImage: sidecar.image,
  }));
}, 600_000);

afterAll(async () => {
  await stage?.close();
  if (state.ok) await docker(["rmi", "--force", ...images]);
});

async function json(path: string): Promise<Record<string, unknown>> {
  const response = await ask((stage as Stage).runner, path);
  const text = await response.text();
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new Error(`${path} answered ${response.status}: ${text}`);
  }
}

async function listening(): Promise<Record<string, unknown>> {
  const path = "/object/port/18790/status";
  await until(async () => (await ask((stage as Stage).runner, path)).status === 200);
  return json(path);
}

async function containersOf(namespaceId: string): Promise<string[]> {
  const filter = `name=${namespaceId}`;
  const { stdout } = await docker(["ps", "--all", "--filter", filter, "--format", "{{.Names}}"]);
  return stdout.split("\n").filter((name) => name !== "");
}

test.skipIf(!state.ok)(`an application's image runs through ctx.container${skipped}`, async () => {
  const { client } = stage as Stage;
  const { workerId, namespaceId } = await deployAll(client);

  await json("/object/start?greeting=hello");
  expect(await json("/object/ended")).toEqual({
    ended: expect.stringContaining("no container instance that can be provided"),
  });

  const application = await tieApplication(client, namespaceId);
  await json("/object/start?greeting=hello");
  expect(await listening()).toMatchObject({ name: "supervisor", greeting: "hello from one" });
  expect(await json("/object/port/18789/")).toMatchObject({ name: "gateway" });
  expect((await containersOf(namespaceId)).length).toBeGreaterThan(0);

  // A new version leaves the container alone, as the platform does.
  await release(client, workerId, BUNDLE.replace("version one", "version two"));
  expect(await json("/object/running")).toMatchObject({ running: true });
  expect(await listening()).toMatchObject({ greeting: "hello from one" });

  const rollouts = `/accounts/${ACCOUNT}/containers/applications/${application.id}/rollouts`;
  const rollout = async (id: string) =>
    (await client.get<{ result: { status: string } }>(`${rollouts}/${id}`)).result;
  const second = await client.containers.applications.rollouts.create(application.id, {
    account_id: ACCOUNT,
    description: "two",
    strategy: "rolling",
    target_configuration: { image: "registry.cloudflare.com/example/steward:two" },
  });
  await until(async () => (await containersOf(namespaceId)).length === 0);
  await until(async () => (await rollout(second.id)).status === "completed");
  await until(async () => (await json("/object/running"))["running"] === false);
  await json("/object/start?greeting=hello");
  expect(await listening()).toMatchObject({ greeting: "hello from two" });

  const missing = await client.containers.applications.rollouts.create(application.id, {
    account_id: ACCOUNT,
    description: "three",
    strategy: "rolling",
    target_configuration: { image: "registry.cloudflare.com/example/steward:three" },
  });
  await until(async () => (await rollout(missing.id)).status === "reverted");
  expect(JSON.stringify(await rollout(missing.id))).toContain("is not on this machine");
  expect(await listening()).toMatchObject({ greeting: "hello from two" });

  await (stage as Stage).close();
  stage = undefined;
  expect(await containersOf(namespaceId)).toEqual([]);
});
