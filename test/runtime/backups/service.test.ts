import { expect, test } from "vitest";
import { BackupRecord } from "../../../runtime/backups/record.ts";
import { BackupService, type BackupServiceOptions } from "../../../runtime/backups/service.ts";
import type { BackupStore, GatewayState } from "../../../runtime/backups/store.ts";
import { type GenerationManifest, nameGeneration } from "../../../runtime/contract/backup.ts";
import { reason, StewardError } from "../../../runtime/contract/errors.ts";

const MINUTE = 60_000;
const START = Date.parse("2026-11-21T12:00:00Z");

/** A service over a state of messages, with a store in memory. `extra` replaces parts of them. */
function backups({
  store: extraStore = {},
  ...extra
}: Partial<BackupServiceOptions<string>> & { store?: Partial<BackupStore<string>> } = {}) {
  const world = { now: START, messages: 30, calls: [] as string[], failing: undefined as Error | undefined };
  const kept: GenerationManifest[] = [];
  const call = (what: string): void => {
    world.calls.push(what);
    if (world.failing !== undefined) throw world.failing;
  };
  const store: BackupStore<string> = {
    list: async () => kept.toReversed(),
    find: async (id) => {
      const found = kept.find((one) => one.id === id);
      if (found === undefined) throw new StewardError("backup_unknown");
      return found;
    },
    read: async (manifest) => ({ manifest, content: String(manifest.counts.messages) }),
    newest: async () => kept.at(-1) ?? {},
    write: async ({ accept, cause }) => {
      call("write");
      const manifest: GenerationManifest = {
        version: 1,
        id: nameGeneration({ epoch: 1, sequence: kept.length + 1 }),
        createdAt: new Date(world.now).toISOString(),
        sha256: "0".repeat(64),
        size: 1,
        configSha256: null,
        configValid: world.messages !== 13,
        counts: { files: 0, sessions: 0, messages: world.messages, schedules: 0, approvals: 0 },
        agentVersion: "1.0.0",
        ...(cause && { cause }),
      };
      accept?.(manifest);
      kept.push(manifest);
      return manifest;
    },
    prune: async () => call("prune"),
    ...extraStore,
  };
  const state: GatewayState<string> = {
    revision: async () => String(world.messages),
    verifyArchive: async ({ manifest: { id, counts } }) => ({ id, counts, configProblems: [] }),
    receive: async ({ content, manifest: { id, counts } }) => {
      call("receive");
      world.messages = Number(content);
      return { id, counts, configProblems: [] };
    },
    showConfig: async () => ({ text: "{}", sha256: null }),
    takeConfig: async ({ manifest }) => {
      call(`take ${manifest.id}`);
      return { text: "{}", sha256: null };
    },
  };
  const log: string[] = [];
  const write = (message: string): void => void log.push(message);
  const record = new BackupRecord();
  const service = new BackupService<string>({
    open: async () => ({ store, state }),
    record,
    everyMs: MINUTE,
    restoredAt: () => 0,
    failed: (what) => {
      write(`${what} failed`);
      return true;
    },
    recovery: { run: () => "first", keep: (recovered) => record.note({ recovered }), read: () => undefined },
    clock: () => world.now,
    log: { debug: write, info: write, warn: write, error: write },
    ...extra,
  });
  return { service, world, kept, log, record };
}

test("a state that has not changed is not copied again, and that counts as a look", async () => {
  const { service, world, kept } = backups();
  expect([await service.copyChanged(), await service.copyChanged()]).toEqual([true, false]);
  expect(kept).toHaveLength(1);
  world.now += 4 * MINUTE;
  expect(await service.status()).toMatchObject({ problem: { code: "backup_late" } });
  expect(await service.copyChanged()).toBe(false);
  expect(await service.status()).toEqual({ lastAt: "2026-11-21T12:00:00.000Z" });
});

test("a copy that looks like a loss is refused and not pruned for, unless it is forced", async () => {
  const { service, world, kept } = backups();
  await service.create();
  world.messages = 3;
  await expect(service.create()).rejects.toMatchObject({
    code: "backup_refused",
    message: "Against the backup 00000001-00000001: messages fell from 30 to 3.",
  });
  expect(world.calls).toEqual(["write", "prune", "write"]);
  expect(await service.status()).toMatchObject({ problem: { code: "backup_refused" } });
  await service.create({ force: true });
  expect(await service.status()).not.toHaveProperty("problem");
  expect(kept).toHaveLength(2);
});

test("a failure is retried with growing delays until a copy succeeds", async () => {
  const { service, world } = backups();
  world.failing = new Error("no room");
  const delays = [];
  for (let failure = 0; failure < 7; failure += 1) {
    await expect(service.create()).rejects.toThrow("no room");
    delays.push((service.againAt - world.now) / 1_000);
  }
  expect(delays).toEqual([30, 60, 120, 240, 480, 600, 600]);
  world.failing = undefined;
  await service.create();
  expect(service.againAt).toBe(0);
});

test("a failure that says nothing about the backups is no problem of theirs", async () => {
  const { service, world } = backups({ failed: () => false });
  world.failing = new StewardError("commands_busy");
  await expect(service.create()).rejects.toMatchObject({ code: "commands_busy" });
  expect(await service.status()).toEqual({});
});

test("without a restore in place the state is copied before and after", async () => {
  const { service, world, kept } = backups();
  const { id } = await service.create();
  world.messages = 5;
  await expect(service.restore(id, "generation")).resolves.toMatchObject({ id });
  expect(world.calls).toEqual(["write", "prune", "write", "prune", "receive", "write", "prune"]);
  expect(kept.map(({ counts, cause }) => [counts.messages, cause])).toEqual([
    [30, undefined],
    [5, "restore"],
    [30, undefined],
  ]);
  await expect(service.restore("00000009-00000009", "generation")).rejects.toMatchObject({
    code: "backup_unknown",
  });
});

test("a store that restores in place copies the state itself", async () => {
  const report = { id: "00000001-00000001", counts: {} as GenerationManifest["counts"], configProblems: [] };
  const { service, world } = backups({ store: { restore: async () => report } });
  expect(await service.restore(report.id, "current")).toBe(report);
  expect(world.calls).toEqual(["prune"]);
});

test("work waits for its turn where it queues, and for the state to be there", async () => {
  const order: string[] = [];
  const { service } = backups({ queues: true, awake: async () => void order.push("awake") });
  const slow = service.inTurn(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    order.push("slow");
  });
  const made = service.create().then(() => order.push("made"));
  expect(service.busy).toBe(true);
  await Promise.all([slow, made]);
  expect(order).toEqual(["awake", "slow", "made"]);
  expect(service.busy).toBe(false);
});

test("the last good config is taken once in each run", async () => {
  let run = "first";
  const recovery = { run: () => run, keep: () => undefined, read: () => undefined };
  const { service, world, log } = backups({ recovery });
  const { id } = await service.create();
  world.messages = 13;
  await service.create({ force: true });
  const why = reason("config_invalid");
  expect([await service.recoverConfig(why), await service.recoverConfig(why)]).toEqual([true, false]);
  run = "second";
  world.failing = new Error("EIO");
  expect(await service.recoverConfig(why)).toBe(false);
  expect(world.calls.filter((call) => call.startsWith("take"))).toEqual([`take ${id}`, `take ${id}`]);
  expect(log.at(-1)).toBe("no config could be recovered");
});
