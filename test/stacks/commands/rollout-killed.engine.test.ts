import { readdir, readlink } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRolloutStage, type RolloutStage } from "../../support/rollout-stage.ts";
import { sendSteadily } from "../../support/steady-events.ts";
import { ENGINE_MS, UPDATE_MS } from "../../support/stack.ts";

let stage: RolloutStage;

beforeAll(async () => {
  stage = await startRolloutStage({ ownProvider: true });
}, ENGINE_MS);

afterAll(() => stage?.close(), UPDATE_MS);

/** Waits until the CLI of a rollout that was killed has ended: until then the stack's lock is its own, and is respected. */
async function cliEnded(): Promise<void> {
  const inFolder = async (): Promise<string[]> => {
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => "")));
    return folders.filter((folder) => folder.startsWith(stage.subject.folder));
  };
  await expect.poll(inFolder, { timeout: 120_000 }).toEqual([]);
}

/** Starts a rollout and kills it, with an update under way, once the engine has printed this. */
async function killOnce(printed: string): Promise<void> {
  const { child, ended, says } = stage.startRollout();
  await says("Updating (test)");
  await says(printed);
  child.kill("SIGKILL");
  await ended;
  await cliEnded();
  expect((await stage.record()).at(-1)?.step).toBe("updating");
}

/** Starts a rollout and kills it as soon as its record has this step. */
async function killAt(step: string): Promise<string> {
  const before = (await stage.record())[0]?.time;
  const { child, ended } = stage.startRollout();
  const reached = async () => {
    const record = await stage.record().catch(() => []);
    return record[0]?.time !== before && record.some((entry) => entry.step === step);
  };
  while (!(await reached())) {
    if (child.exitCode !== null) throw new Error(`it ended before "${step}":\n${(await ended).said}`);
    await sleep(5);
  }
  child.kill("SIGKILL");
  const { said } = await ended;
  await cliEnded();
  expect((await stage.record()).map((entry) => entry.step)).not.toContain("ended");
  return said;
}

test(
  "killed before, during and after its update, it is taken up by the next, which goes back to what ran before all",
  async () => {
    await stage.subject.stack.up();
    const former = await stage.liveVersion();
    const events = sendSteadily(stage.eventsUrl, stage.slack);
    await stage.change("debug");

    await killAt("begun");
    await killAt("former");
    expect(await stage.deployments()).toEqual(expect.arrayContaining([{ [former]: 100 }]));
    expect(await stage.liveVersion()).toBe(former);

    await killOnce("steward-worker-current");
    const fails = async (version: string) =>
      version === former ? undefined : Response.json({}, { status: 500 });
    // Otherwise the way back, which begins with "failed", could be done before the kill.
    const { requests } = stage.world.stage.cloudflare.faults;
    stage.spoil(async (version) => {
      if (version !== former && requests.length === 0)
        requests.push({ method: "POST", path: /\/deployments$/, times: Infinity, outcome: 429 });
      return fails(version);
    });
    const spoiled = await killAt("failed");
    expect(spoiled).toContain('The previous rollout was interrupted at "updating". This one continues it.');
    expect((await stage.deployments())[0]).not.toHaveProperty(former);
    requests.length = 0;
    stage.spoil(fails);

    const back = await stage.rollout();
    expect(back.said).toContain('was interrupted at "failed"');
    expect(back.code, back.said).toBe(4);
    expect((await stage.deployments())[0]).toEqual({ [former]: 100 });
    expect(await stage.liveVersion()).toBe(former);

    stage.spoil(undefined);
    const done = await stage.rollout();
    expect(done.code, done.said).toBe(0);
    expect(await stage.liveVersion()).not.toBe(former);
    expect(await events.lost()).toEqual([]);
  },
  UPDATE_MS * 4,
);
