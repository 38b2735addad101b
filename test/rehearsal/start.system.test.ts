import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withFileLock } from "../../infra/shell/cache.ts";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { engine } from "../support/docker.ts";
import { reservePortsOf } from "../support/ports.ts";
import { rehearse, run, startRehearsal, type Rehearsal } from "../support/rehearse.ts";

/** The rehearsal kills the watcher of its processes last, and does not wait for its end. */
const GONE = { timeout: 5_000 };

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
  "cloudflare:index/worker:Worker",
  "cloudflare:index/workerVersion:WorkerVersion",
  "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication",
  "cloudflare:index/zeroTrustAccessPolicy:ZeroTrustAccessPolicy",
  "command:local:Command",
  "steward:channels:DiscordCommands",
  "steward:channels:DiscordEndpoint",
  "steward:channels:TelegramWebhook",
  "steward:secrets:SecretCheck",
  "steward:serverless:ContainerApplication",
  "steward:serverless:Deployment",
  "steward:serverless:Migrations",
  "steward:serverless:StateBucket",
];

/** Writes to the bot until `over`. @returns how many messages were taken */
async function writeUntil(over: Promise<true>, dir: string, url: string): Promise<number> {
  const { secrets } = JSON.parse(await readFile(path.join(dir, "serverless/rehearsal.json"), "utf8"));
  let taken = 0;
  for (let id = 1; !(await Promise.race([over, delay(50)])); id += 1) {
    const answer = await fetch(new URL(ROUTES.telegramWebhook.path, url), {
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
  return taken;
}

describe("npm start with its container as a local process", () => {
  let dir: string;
  let words: string[];
  let first: Rehearsal;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
    words = ["--json", "--sandbox", "process", "--dir", dir];
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it("takes up an update that was killed in its middle, and brings a message back", async () => {
    const killed = startRehearsal("--once", "--verbose", ...words);
    await killed.says("steward-worker-migrate creating");
    killed.child.kill("SIGKILL");
    await killed.ended;
    await reservePortsOf(dir);
    // What is written there beside the state would not be whole at every moment.
    const beside = readdirSync(path.join(dir, "serverless", "state"), { recursive: true, encoding: "utf8" });
    expect(beside.filter((name) => name.endsWith(".attrs"))).toEqual([]);

    first = await rehearse("--once", "--verbose", ...words);
    expect(first.report, first.stderr).toMatchObject({ ok: true });
    expect(first.code).toBe(0);
    expect(first.report.changes["same"]).toBeGreaterThan(0);
    expect(first.report.changes["create"]).toBeGreaterThan(0);
    expect(first.stderr).toContain("a local process instead of a container");
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
    await expect.poll(() => leftRunning(dir), GONE).toEqual([]);
  }, 300_000);

  it("updates nothing the second time", async () => {
    const second = await rehearse("--once", ...words);
    expect(second.report, second.stderr).toMatchObject({ ok: true, url: first.report.url });
    expect(Object.keys(second.report.changes)).toEqual(["same"]);
    expect(second.report.timings["upMs"]).toBe(null);
    expect(second.stderr).toContain("No changes, after a preview of");
    expect(second.report.resources).toEqual(first.report.resources);
  }, 120_000);

  it("prints a line per step, four addresses and what to try on one screen, and Pulumi's log into a file", async () => {
    const running = startRehearsal("--sandbox", "process", "--dir", dir);
    await running.says("removes it.\n");
    running.child.kill("SIGINT");
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    const lines = stdout.split("\n");
    expect(lines.length).toBeLessThanOrEqual(40);
    const steps = lines.slice(0, lines.indexOf(""));
    for (const line of steps) expect(line).toMatch(/^[A-Z].* … done in \d+\.\d s$/);
    expect(steps.length).toBeGreaterThanOrEqual(4);
    expect(steps.length).toBeLessThan(8);
    const addresses = lines.slice(steps.length + 1, steps.length + 5).map((line) => line.split(":")[0]);
    expect(addresses).toEqual(["Console", "Chat", "Slack", "Logs"]);
    expect(stdout).toContain("Try this:");
    const log = path.join(dir, "serverless/pulumi.log");
    expect(stdout).toContain(log);
    expect(await readFile(log, "utf8")).toContain("Previewing update");
  }, 120_000);

  it("keeps every secret out of what it prints and of the plain state; its env file is the owner's alone", async () => {
    const state = await readFile(
      path.join(dir, "serverless/state/.pulumi/stacks/steward/rehearsal.json"),
      "utf8",
    );
    const settings = JSON.parse(await readFile(path.join(dir, "serverless/rehearsal.json"), "utf8"));
    const secrets = { ...settings.secrets, apiToken: settings.apiToken, passphrase: settings.passphrase };
    for (const [name, secret] of Object.entries(secrets)) {
      // These two are public by nature.
      if (name === "discordPublicKey" || name === "discordApplicationId") continue;
      expect([first.stdout, first.stderr, state].join("\n").includes(String(secret)), name).toBe(false);
    }
    expect((await stat(path.join(dir, "env"))).mode & 0o777).toBe(0o600);
  });

  it("removes a stack that people write to until its Worker is gone", async () => {
    const destroying = startRehearsal("--destroy", ...words);
    const over = destroying.ended.then((): true => true);
    await destroying.says("Removing the rehearsed serverless stack");
    const taken = await writeUntil(over, dir, first.report.url);
    const { code, stderr, report } = await destroying.ended;
    expect(code, stderr).toBe(0);
    expect(report).toEqual({ ok: true });
    expect(taken).toBeGreaterThan(0);
    expect(existsSync(dir)).toBe(false);
    await expect.poll(() => leftRunning(dir), GONE).toEqual([]);
  }, 300_000);
});

describe.runIf(engine.ok)("npm start with its container on Docker", () => {
  let dir: string;
  let words: string[];
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
    words = ["--sandbox", "docker", "--dir", dir];
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it("ends what it started when it is asked to stop", async () => {
    const running = startRehearsal(...words);
    await running.says("Ctrl-C ends the rehearsal");
    running.child.kill("SIGINT");
    const { code, stdout } = await running.ended;
    await reservePortsOf(dir);
    expect(code).toBe(0);
    expect(stdout).toContain("Stopping the rehearsal");
    await expect.poll(() => leftRunning(dir), GONE).toEqual([]);
  }, 300_000);

  it("brings a message back, and destroys without building anything", async () => {
    const next = await rehearse("--once", "--json", ...words);
    expect(next.report, next.stderr).toMatchObject({ ok: true });
    expect(next.stderr).toContain("a container on Docker");
    expect(next.report.reply).toMatch(/^The stand-in model read/);
    expect(Object.keys(next.report.changes)).toEqual(["same"]);

    const destroyed = await rehearse("--destroy", "--json", ...words);
    expect(destroyed.code, destroyed.stderr).toBe(0);
    expect(destroyed.report).toEqual({ ok: true });
    expect(destroyed.stderr).not.toMatch(/building|assembling|pulled/);
    expect(existsSync(dir)).toBe(false);
    await expect.poll(() => leftRunning(dir), GONE).toEqual([]);
  }, 300_000);
});

it("ends what it started when nobody reads its output any more", async () => {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
  const running = startRehearsal("--verbose", "--sandbox", "process", "--dir", dir);
  await running.says("creating");
  running.child.stdout.destroy();
  running.child.stderr.destroy();
  const { code } = await running.ended;
  expect(code).toBe(1);
  await expect.poll(() => leftRunning(dir), GONE).toEqual([]);
  await rm(dir, { recursive: true });
}, 120_000);

describe("npm start, asked wrongly", () => {
  it("ends with code 1 and the cause if another rehearsal runs in the same directory", async () => {
    const dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
    await withFileLock(path.join(dir, "lock"), async () => {
      const { code, report } = await rehearse("--once", "--json", "--dir", dir);
      expect(code).toBe(1);
      expect(report).toMatchObject({
        ok: false,
        cause: expect.stringContaining("another rehearsal is running"),
      });
    });
    await rm(dir, { recursive: true });
  });

  it("ends with code 1 and says so if it is interrupted before the reply", async () => {
    const dir = await mkdtemp(path.join(tmpdir(), "steward-rehearsal-"));
    const running = startRehearsal("--once", "--json", "--sandbox", "process", "--dir", dir);
    await running.says("Updating the stack");
    running.child.kill("SIGTERM");
    const { code, report } = await running.ended;
    expect(code).toBe(1);
    expect(report).toEqual({ ok: false, cause: "interrupted" });
    await expect.poll(() => leftRunning(dir), GONE).toEqual([]);
    await rm(dir, { recursive: true });
  }, 120_000);
});
