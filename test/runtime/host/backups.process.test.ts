import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hostBackups } from "../../../runtime/host/backups.ts";
import { eventually, temporaryDirectory } from "../support/processes.ts";
import { supervised } from "../support/supervisor.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Time that passes when a test says so. */
function fakeTimers(start: number) {
  let now = start;
  const waiting = new Set<{ at: number; run(): void }>();
  return {
    now: () => now,
    after: (ms: number, run: () => void) => {
      const timer = { at: now + ms, run };
      waiting.add(timer);
      return () => void waiting.delete(timer);
    },
    /** Passes time, and runs what falls due. */
    skip: (ms: number) => {
      now += ms;
      const due = [...waiting].filter(({ at }) => at <= now);
      for (const timer of due) {
        waiting.delete(timer);
        timer.run();
      }
    },
    /** Passes time, and waits until what fell due is done and waits for its next time. */
    async pass(ms: number) {
      this.skip(ms);
      await eventually(() => waiting.size > 0);
    },
  };
}

/** A host's backups over a directory with a workspace and 30 paired devices; the gateway is not started. */
async function host(extra: { home?: string; revision?(): Promise<string> } = {}) {
  const timers = fakeTimers(Date.parse("2026-11-21T12:00:00Z"));
  const { supervisor, home, log } = await supervised("ready();", { timers, ...extra });
  const directory = extra.home ?? home;
  mkdirSync(join(directory, "workspace"));
  mkdirSync(join(directory, "devices"));
  const write = (text: string | Buffer) => writeFileSync(join(directory, "workspace", "MEMORY.md"), text);
  const pair = (count: number) => {
    const devices = Object.fromEntries(Array.from({ length: count }, (_, index) => [`d${index}`, {}]));
    writeFileSync(join(directory, "devices", "paired.json"), JSON.stringify(devices));
  };
  write("first");
  pair(30);
  const looked = extra.revision && { revision: extra.revision };
  const source = { ...supervisor, backups: async () => Object.assign(await supervisor.backups(), looked) };
  const backups = hostBackups({ supervisor: source, home: directory, timers, log });
  const ids = async () => (await backups.list()).map(({ id }) => id);
  return { backups, timers, write, pair, ids, log, home: directory };
}

test("the first one is made after ten minutes, then one an hour in which something changed", async () => {
  const { backups, timers, write, ids } = await host();
  backups.start();
  await timers.pass(9 * MINUTE);
  expect(await ids()).toEqual([]);
  expect(await backups.status()).toEqual({});
  await timers.pass(MINUTE);
  expect(await ids()).toEqual(["00000001-00000001"]);
  expect(await backups.status()).toEqual({ lastAt: "2026-11-21T12:10:00.000Z" });
  await timers.pass(HOUR);
  await timers.pass(HOUR);
  expect(await ids()).toHaveLength(1);
  write("second");
  await timers.pass(HOUR);
  expect(await ids()).toEqual(["00000001-00000002", "00000001-00000001"]);
  backups.stop();
});

test("a state that cannot be looked at is a problem at once, and one whose look never ends is after three hours", async () => {
  let revision = (): Promise<string> => Promise.reject(new Error("EIO: i/o error, scandir"));
  const { backups, timers, write } = await host({ revision: () => revision() });
  backups.start();
  await timers.pass(10 * MINUTE);
  expect(await backups.status()).toMatchObject({ problem: { detail: expect.stringContaining("EIO") } });

  revision = () => Promise.resolve("1");
  write("second");
  await timers.pass(HOUR);
  expect(await backups.status()).not.toHaveProperty("problem");

  revision = () => new Promise(() => undefined);
  timers.skip(HOUR);
  expect(await backups.status()).not.toHaveProperty("problem");
  timers.skip(3 * HOUR);
  expect(await backups.status()).toMatchObject({ problem: { code: "backup_late" } });
});

test("ten are kept, and one of each day before; the files of the others are gone", async () => {
  const { backups, timers, write, ids, home } = await host();
  backups.start();
  for (let hour = 0; hour < 40; hour += 1) {
    write(`at hour ${hour}`);
    await timers.pass(HOUR);
  }
  const kept = await backups.list();
  expect(kept.map(({ createdAt }) => createdAt.slice(8, 13)).join(" ")).toBe(
    "23T04 23T03 23T02 23T01 23T00 22T23 22T22 22T21 22T20 22T19 21T23",
  );
  expect(await readdir(join(home, "backups"))).toHaveLength(2 * (await ids()).length + 1);
});

test("a copy that lost most of the approvals is refused and told, until it is asked for by force", async () => {
  const { backups, pair, ids, log } = await host();
  await backups.create();
  pair(3);
  for (const _ of [1, 2]) {
    await expect(backups.create()).rejects.toMatchObject({
      code: "backup_refused",
      message: "Against the backup 00000001-00000001: approvals fell from 30 to 3.",
    });
  }
  expect(log.lines.filter((line) => line.startsWith("a backup failed"))).toHaveLength(1);
  expect(await backups.status()).toMatchObject({ problem: { code: "backup_refused" } });
  expect(await ids()).toHaveLength(1);
  await backups.create({ force: true });
  expect(await backups.status()).not.toHaveProperty("problem");
  expect((await backups.list()).map(({ counts }) => counts.approvals)).toEqual([3, 30]);
});

test("the config of one is read for a repair, its secrets redacted, with the sum of the file that is there", async () => {
  const { backups, home } = await host();
  const path = join(home, "steward.json");
  const good = JSON.stringify({ gateway: { token: "a-plain-token" } });
  writeFileSync(path, good);
  const { id, configValid } = await backups.create();
  expect(configValid).toBe(true);
  const bad = good.replace("}}", "},");
  writeFileSync(path, bad);
  const { text, secrets, sha256 } = await backups.configOf(id);
  expect(JSON.parse(text ?? "")).toEqual({ gateway: { token: "[redacted]" } });
  expect(secrets).toEqual(["gateway.token"]);
  expect(sha256).toBe(createHash("sha256").update(bad).digest("hex"));
  await expect(backups.configOf("00000009-00000009")).rejects.toMatchObject({ code: "backup_unknown" });
});

test("one is downloaded as it is stored", async () => {
  const { backups } = await host();
  const { id, size, sha256 } = await backups.create();
  const archive = Buffer.from(await new Response(await backups.download(id)).arrayBuffer());
  expect(archive).toHaveLength(size);
  expect(createHash("sha256").update(archive).digest("hex")).toBe(sha256);
  await expect(backups.download("00000009-00000009")).rejects.toMatchObject({ code: "backup_unknown" });
});

/** A file system of 1 MiB; `undefined` where none may be mounted. */
async function tinyDisk(): Promise<string | undefined> {
  const home = await temporaryDirectory();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", home], { stdio: "pipe" });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync("umount", ["-l", home]));
  return home;
}

test("a restore whose copy of what is there finds no room is called off, and all is as it was", async (context) => {
  const home = await tinyDisk();
  if (home === undefined) return context.skip("no file system could be mounted");
  const { backups, write } = await host({ home });
  write(randomBytes(300_000));
  const { id } = await backups.create();
  const present = randomBytes(350_000);
  write(present);

  await expect(backups.restore(id, "generation")).rejects.toMatchObject({ code: "disk_full" });

  expect(readFileSync(join(home, "workspace", "MEMORY.md")).equals(present)).toBe(true);
  expect((await readdir(home)).filter((name) => name.includes("restore"))).toEqual([]);
  expect((await readdir(join(home, "backups"))).filter((name) => name.includes("tmp"))).toEqual([]);
  expect(await backups.status()).toMatchObject({ problem: { code: "disk_full" } });
  write("little");
  expect(await backups.restore(id, "generation")).toMatchObject({ id });
  expect(readFileSync(join(home, "workspace", "MEMORY.md"))).toHaveLength(300_000);
  expect(await backups.status()).not.toHaveProperty("problem");
});

test("a full disk is told in the status and once in the log; nothing half done stays", async (context) => {
  const home = await tinyDisk();
  if (home === undefined) return context.skip("no file system could be mounted");
  const { backups, write, ids, log } = await host({ home });
  write(randomBytes(400_000));
  const { id } = await backups.create();
  await expect(backups.verify(id)).rejects.toMatchObject({ code: "disk_full" });
  for (const _ of [1, 2]) await expect(backups.create()).rejects.toMatchObject({ code: "disk_full" });
  await expect(backups.restore(id, "generation")).rejects.toMatchObject({ code: "disk_full" });
  expect(log.lines.filter((line) => line.includes(" failed "))).toHaveLength(1);
  expect(await backups.status()).toMatchObject({ problem: { code: "disk_full" } });
  expect(await readdir(join(home, "backups"))).toHaveLength(3);
  expect((await readdir(home)).filter((name) => name.includes("restore"))).toEqual([]);
  rmSync(join(home, "workspace", "MEMORY.md"));
  await backups.create();
  expect(await ids()).toHaveLength(2);
  expect(await backups.verify(id)).toMatchObject({ id });
});
