import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hostBackups } from "../../../runtime/host/backups.ts";
import { systemTimers } from "../../../runtime/supervisor/timers.ts";
import { sandboxObjects, type Seen } from "../../support/sandbox-object.ts";
import { surroundings } from "../support/gateway.ts";
import { eventually } from "../support/processes.ts";
import { supervised } from "../support/supervisor.ts";

const CONFIG = "steward/steward.json";
const KEPT = '{"kept":true}';
const BROKEN = '{"broken":true}';
const TAKE = "POST /restore?config=generation&take=config";
const STEADY = { timeout: 30_000 };

/** A deployment that sleeps with a copy, and begins with a config that somebody broke in the bucket. */
async function broken(variables: Record<string, string> = { CONFIG_RECOVERY: "auto" }) {
  const objects = await sandboxObjects(variables);
  const { one, bucket } = objects;
  await one.do("wake");
  await one.do("write", { messages: 3, config: KEPT });
  await one.do("call", "create");
  await one.do("end");
  await bucket.do("put", CONFIG, BROKEN);
  const taken = async () => (await one.do<Seen>("seen")).calls.filter((call) => call === TAKE).length;
  return { ...objects, taken };
}

test("on the serverless stack the last good config is taken, and told until the next good edit", async () => {
  const { one, taken } = await broken();
  await one.do("wake");
  await expect.poll(() => one.do("status"), STEADY).toMatchObject({ state: "ready" });
  expect(await one.do("data")).toEqual({ messages: 3, config: KEPT });
  const recovered = { id: "00000001-00000001", at: expect.any(String) };
  expect(await one.do("call", "status")).toMatchObject({ recovered });
  await one.do("write", { messages: 4 });
  await one.do("call", "create");
  expect(await one.do("call", "status")).toMatchObject({ recovered });
  await one.do("write", { config: '{"edited":true}' });
  await one.do("call", "create");
  expect(await one.do("call", "status")).not.toHaveProperty("recovered");
  expect(await taken()).toBe(1);
});

test("it is tried once a start, and a start that it fails in says so", async () => {
  const { one, taken } = await broken();
  await one.do("fail", { container: [TAKE] });
  const stopped = { state: "crash-looping", reason: { code: "config_invalid" } };
  for (const _ of [1, 2]) {
    await one.do("admit", { id: `Ev${_}`, platform: "slack", conversation: "C", receivedAt: 0, payload: {} });
    await expect.poll(() => one.do("status"), STEADY).toMatchObject(stopped);
    await expect.poll(taken, STEADY).toBe(1);
    await one.do("pass", 60_000);
  }
  expect(await taken()).toBe(1);
  expect(await one.do("call", "status")).not.toHaveProperty("recovered");
  await one.do("fail", {});
  await one.do("end");
  await one.do("wake");
  await expect.poll(() => one.do("status"), STEADY).toMatchObject({ state: "ready" });
});

test("by default nothing is mended by itself", async () => {
  const { one, taken } = await broken({});
  expect(await one.do("wake")).toMatchObject({ state: "crash-looping", reason: { code: "config_invalid" } });
  await one.do("skip", 10_000);
  expect(await one.do("status")).toMatchObject({ state: "crash-looping" });
  expect(await taken()).toBe(0);
});

/** A host's supervisor over the real gateway, with a backup of a good config, and a file that stops it. */
async function host() {
  const { environment } = await surroundings();
  const { supervisor, home, log } = await supervised(undefined, { environment });
  const path = join(home, "steward.json");
  const good = JSON.stringify({ agent: { maxSteps: 7 }, gateway: { token: "a-plain-token" } });
  const bad = JSON.stringify({ agent: { maxSteps: 7, name: "x" } });
  await writeFile(path, good);
  const { id } = await (await supervisor.backups()).write();
  await writeFile(path, bad);
  const backups = hostBackups({ supervisor, home, timers: systemTimers, log });
  backups.recoverConfigs();
  const recovered = async () => (await backups.status()).recovered;
  const copies = async () => (await readdir(home)).filter((name) => name.startsWith("steward.json.bak-"));
  return { supervisor, home, log, path, good, bad, id, copies, recovered };
}

test("on a host the last good config is taken, secrets and all, and the bad one kept", async () => {
  const { supervisor, home, log, path, good, bad, id, copies, recovered } = await host();
  supervisor.start();
  await eventually(() => supervisor.status().state === "ready");
  expect(await readFile(path, "utf8")).toBe(good);
  const [copy = ""] = await copies();
  expect(await readFile(join(home, copy), "utf8")).toBe(bad);
  await eventually(async () => (await recovered())?.id === id);
  expect(log.lines.join("\n")).toMatch(
    /was replaced with that of the last good backup .*00000001-00000001.*Unrecognized key/,
  );
  expect(log.lines.join("\n")).not.toContain("a-plain-token");

  await writeFile(path, JSON.stringify({ agent: { maxSteps: 8 } }));
  expect(await recovered()).toBe(undefined);
  // Another start has its own.
  await writeFile(path, bad);
  supervisor.restart();
  await eventually(async () => (await copies()).length === 2);
  await eventually(() => supervisor.status().state === "ready");
});

test("a backup whose config is not valid for this version is not taken, and the file is left", async () => {
  const { supervisor, home, log, path, bad, copies, recovered } = await host();
  const { id } = await (await supervisor.backups()).write();
  const manifest = join(home, "backups", `${id}.json`);
  await writeFile(
    manifest,
    (await readFile(manifest, "utf8")).replace('"configValid": false', '"configValid": true'),
  );
  supervisor.start();
  await eventually(() => log.lines.some((line) => line.startsWith("no config could be recovered")));
  expect(log.lines.join("\n")).toContain(`The config of the backup ${id} is not valid for this version.`);
  expect(supervisor.status()).toMatchObject({ state: "crash-looping", reason: { code: "config_invalid" } });
  expect(await readFile(path, "utf8")).toBe(bad);
  expect([await copies(), await recovered()]).toEqual([[], undefined]);
});
