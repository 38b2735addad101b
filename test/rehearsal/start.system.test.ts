import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exclusively } from "../../infra/shell/cache.ts";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { engine } from "../support/docker.ts";
import { rehearse, run, startRehearsal } from "../support/rehearse.ts";

/**
 * The programs that a rehearsal starts, as far as they still run: their command lines name its directory, or they work
 * there.
 */
async function leftRunning(dir: string): Promise<string[]> {
  const { stdout } = await run("ps", ["-eo", "pid=,args="]);
  return stdout.split("\n").filter((line) => line.includes(dir) || workingDirectory(line).startsWith(dir));
}

function workingDirectory(line: string): string {
  try {
    return readlinkSync(`/proc/${Number.parseInt(line, 10)}/cwd`);
  } catch {
    return "";
  }
}

const SERVERLESS_TYPES = [
  "cloudflare:index/r2Bucket:R2Bucket",
  "cloudflare:index/worker:Worker",
  "cloudflare:index/workerVersion:WorkerVersion",
  "cloudflare:index/workersDeployment:WorkersDeployment",
  "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication",
  "cloudflare:index/zeroTrustAccessPolicy:ZeroTrustAccessPolicy",
  "command:local:Command",
  "pulumi-nodejs:dynamic/channels:DiscordCommands",
  "pulumi-nodejs:dynamic/channels:DiscordEndpoint",
  "pulumi-nodejs:dynamic/channels:TelegramWebhook",
  "pulumi-nodejs:dynamic/secrets:SecretCheck",
  "pulumi-nodejs:dynamic/serverless:ContainerApplication",
];

describe.each([
  { sandbox: "process", available: true, says: "a local process instead of a container" },
  { sandbox: "docker", available: engine.ok, says: "a container on Docker" },
])("npm start with a sandbox by $sandbox", ({ sandbox, available, says }) => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it.runIf(available)(
    "deploys, brings a message back, changes nothing the second time, and removes all of it",
    async () => {
      const words = ["--json", "--sandbox", sandbox, "--dir", dir];
      const first = await rehearse("--once", ...words);
      expect(first.report, first.stderr).toMatchObject({ ok: true });
      expect(first.code).toBe(0);
      expect(first.stderr).toContain(says);
      expect(first.report.reply).toMatch(/^The stand-in model read \d+ characters: “Rehearsal of/);
      expect(Object.keys(first.report.resources)).toEqual(expect.arrayContaining(SERVERLESS_TYPES));
      expect(Object.keys(first.report.timings)).toEqual([
        "engineMs",
        "previewMs",
        "upMs",
        "coldStartMs",
        "replyMs",
      ]);
      for (const ms of Object.values(first.report.timings)) expect(ms).toBeGreaterThan(0);
      expect(await leftRunning(dir)).toEqual([]);

      const second = await rehearse("--once", ...words);
      expect(second.report, second.stderr).toMatchObject({ ok: true, url: first.report.url });
      expect(Object.keys(second.report.changes)).toEqual(["same"]);
      expect(second.report.resources).toEqual(first.report.resources);

      const state = await readFile(
        path.join(dir, "serverless/state/.pulumi/stacks/steward/rehearsal.json"),
        "utf8",
      );
      const settings = JSON.parse(await readFile(path.join(dir, "serverless/rehearsal.json"), "utf8"));
      const secrets = { ...settings.secrets, apiToken: settings.apiToken };
      for (const [name, secret] of Object.entries(secrets)) {
        // These two are public by nature.
        if (name === "discordPublicKey" || name === "discordApplicationId") continue;
        expect([first.stdout, first.stderr, state].join("\n").includes(String(secret)), name).toBe(false);
      }

      const destroyed = await rehearse("--destroy", ...words);
      expect(destroyed.code, destroyed.stderr).toBe(0);
      expect(destroyed.report).toEqual({ ok: true });
      expect(existsSync(dir)).toBe(false);
      expect(await leftRunning(dir)).toEqual([]);
    },
    600_000,
  );
});

it("removes a stack that people write to until its Worker is gone", async () => {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
  const words = ["--json", "--sandbox", "process", "--dir", dir];
  const { report, stderr } = await rehearse("--once", ...words);
  expect(report, stderr).toMatchObject({ ok: true });
  const { secrets } = JSON.parse(await readFile(path.join(dir, "serverless/rehearsal.json"), "utf8"));
  const destroying = startRehearsal("--destroy", ...words);
  const over = destroying.ended.then((): true => true);
  await destroying.says("Ending what the rehearsal started");
  let taken = 0;
  for (let id = 1; !(await Promise.race([over, delay(50)])); id += 1) {
    const answer = await fetch(new URL(ROUTES.telegramWebhook.path, report.url), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-telegram-bot-api-secret-token": secrets.telegramWebhookSecret,
      },
      body: JSON.stringify({
        update_id: id,
        message: {
          message_id: id,
          date: 1,
          chat: { id: 1, type: "private" },
          from: { id: 1, first_name: "Ada" },
          text: "Are you there?",
        },
      }),
    }).catch(() => undefined);
    // Also 503 is kept: the container was asleep.
    if (answer?.status === 200 || answer?.status === 503) taken += 1;
  }
  const { code, stderr: said } = await destroying.ended;
  expect(code, said).toBe(0);
  expect(taken).toBeGreaterThan(0);
  expect(existsSync(path.join(dir, "serverless"))).toBe(false);
}, 300_000);

it("takes up an update that was killed in its middle", async () => {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
  const words = ["--once", "--json", "--sandbox", "process", "--dir", dir];
  const killed = startRehearsal(...words);
  await killed.says("worker-migrate-v1 creating");
  killed.child.kill("SIGKILL");
  await killed.ended;
  // What is written there beside the state would not be whole at every moment.
  const beside = readdirSync(path.join(dir, "serverless", "state"), { recursive: true, encoding: "utf8" });
  expect(beside.filter((name) => name.endsWith(".attrs"))).toEqual([]);
  const next = await rehearse(...words);
  expect(next.report, next.stderr).toMatchObject({ ok: true });
  expect(next.report.changes["same"]).toBeGreaterThan(0);
  expect(next.report.changes["create"]).toBeGreaterThan(0);
  expect(await leftRunning(dir)).toEqual([]);
  await rm(dir, { recursive: true });
}, 300_000);

it("ends what it started when it is asked to stop", async () => {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
  const running = startRehearsal("--sandbox", "process", "--dir", dir);
  await running.says("Ctrl-C ends the rehearsal");
  running.child.kill("SIGINT");
  const { code, stdout } = await running.ended;
  expect(code).toBe(0);
  expect(stdout).toContain("Ending what the rehearsal started");
  expect(await leftRunning(dir)).toEqual([]);
  await rm(dir, { recursive: true });
}, 300_000);

it("ends what it started when nobody reads its output any more", async () => {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
  const running = startRehearsal("--sandbox", "process", "--dir", dir);
  await running.says("creating");
  running.child.stdout.destroy();
  running.child.stderr.destroy();
  const { code } = await running.ended;
  expect(code).toBe(1);
  expect(await leftRunning(dir)).toEqual([]);
  await rm(dir, { recursive: true });
}, 120_000);

describe("npm start, asked wrongly", () => {
  it("ends with code 1 and the cause where another rehearsal runs in the same directory", async () => {
    const dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
    await exclusively(path.join(dir, "lock"), async () => {
      const { code, report } = await rehearse("--once", "--json", "--dir", dir);
      expect(code).toBe(1);
      expect(report).toMatchObject({ ok: false, cause: expect.stringContaining("another rehearsal runs") });
    });
    await rm(dir, { recursive: true });
  });

  it("ends with code 1 and says so where it is interrupted before the reply", async () => {
    const dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
    const running = startRehearsal("--once", "--json", "--sandbox", "process", "--dir", dir);
    await running.says("Updating the stack");
    running.child.kill("SIGTERM");
    const { code, report } = await running.ended;
    expect(code).toBe(1);
    expect(report).toEqual({ ok: false, cause: "interrupted" });
    expect(await leftRunning(dir)).toEqual([]);
    await rm(dir, { recursive: true });
  }, 120_000);

  it("refuses an unknown option with a suggestion", async () => {
    const { code, stderr } = await rehearse("--onc");
    expect(code).toBe(1);
    expect(stderr).toContain("Did you mean --once?");
  });

  it("refuses a target that does not exist", async () => {
    const { code, stderr, report } = await rehearse("servreless", "--json");
    expect(code).toBe(1);
    expect(stderr).toContain("Allowed choices are serverless, host");
    expect(report.ok).toBe(false);
  });
});
