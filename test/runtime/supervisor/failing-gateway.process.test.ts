import { readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { systemTimers } from "../../../runtime/supervisor/timers.ts";
import { eventually, SECRETS } from "../support/processes.ts";
import { supervised } from "../support/supervisor.ts";

const ENVIRONMENT = JSON.stringify(resolve("runtime/process/environment.ts"));

test("a crash is followed by a new start", async () => {
  const { supervisor, home } = await supervised(`
    import { existsSync, writeFileSync } from "node:fs";
    const mark = process.env.STEWARD_HOME + "/crashed";
    if (!existsSync(mark)) { writeFileSync(mark, ""); throw new Error("only once"); }
    ready();
  `);
  supervisor.start();

  expect(await supervisor.whenSettled(50_000)).toMatchObject({ state: "ready", restarts: 1 });
  expect(supervisor.status()).not.toHaveProperty("reason");
  await rm(join(home, "crashed"));
});

test("how the last starts went is kept beyond the process, whatever the file holds", async () => {
  const program = `
    import { existsSync, writeFileSync } from "node:fs";
    const mark = process.env.STEWARD_HOME + "/crashed";
    if (!existsSync(mark)) { writeFileSync(mark, ""); throw new Error("only once"); }
    setTimeout(ready, 50);
  `;
  let readings = 0;
  const timers = { ...systemTimers, now: () => Date.now() + (readings += 1) };
  const first = await supervised(program, { timers });
  first.supervisor.start();
  expect(first.supervisor.status().start).toMatchObject({ phase: "starting" });
  const { coldStarts, coldStartMs } = await first.supervisor.whenSettled(50_000);
  expect(coldStarts?.map(({ ended }) => ended)).toEqual(["ready", "crash_looping"]);
  expect(coldStartMs).toBeGreaterThan(0);
  expect(coldStarts?.[0]?.ms).toBe(coldStartMs);
  expect(first.supervisor.status()).not.toHaveProperty("start");

  const { home } = first;
  const file = join(home, "logs", "starts.json");
  const written = async () => JSON.parse(await readFile(file, "utf8").catch(() => "[]")) as unknown;
  await expect.poll(written).toEqual(coldStarts);
  const second = await supervised("ready();", { home });
  expect(second.supervisor.status().coldStarts).toEqual(coldStarts);
  const repeated = (length: number) => Array.from({ length }, () => kept);
  const kept = { at: "2026-11-21T12:00:00.000Z", ms: 1, ended: "ready" };
  await writeFile(file, JSON.stringify([...repeated(30), { ...kept, ended: "lost" }, null, 7]));
  const third = await supervised("ready();", { home });
  expect(third.supervisor.status().coldStarts).toEqual(repeated(20));
  third.supervisor.start();
  const after = await third.supervisor.whenSettled(50_000);
  expect(after.coldStarts).toHaveLength(20);
  await expect.poll(written).toEqual(after.coldStarts);
  await writeFile(file, "{");
  expect((await supervised("ready();", { home })).supervisor.status()).not.toHaveProperty("coldStarts");
});

test("restarts are counted over the ends of the process itself: a kill is one, a stop is none", async () => {
  const { supervisor: first, home } = await supervised(`
    import { existsSync, writeFileSync } from "node:fs";
    const mark = process.env.STEWARD_HOME + "/crashed";
    if (!existsSync(mark)) { writeFileSync(mark, ""); throw new Error("only once"); }
    ready();
  `);
  first.start();
  expect(await first.whenSettled(50_000)).toMatchObject({ restarts: 1 });
  const file = join(home, "logs", "restarts.json");
  await expect.poll(() => readFile(file, "utf8").catch(() => "")).toContain('"restarts":1');

  const afterKill = await supervised("ready();", { home });
  expect(afterKill.supervisor.status().restarts).toBe(2);
  afterKill.supervisor.start();
  await afterKill.supervisor.whenSettled(50_000);
  await afterKill.supervisor.stop();

  expect((await supervised("ready();", { home })).supervisor.status().restarts).toBe(2);
  await writeFile(file, '{"restarts":"many"}');
  expect((await supervised("ready();", { home })).supervisor.status().restarts).toBe(0);
});

test("a stop waits until the last start is on the disk", async () => {
  const { supervisor, home } = await supervised("process.exit(1);");
  supervisor.start();
  await supervisor.whenSettled(50_000);
  await supervisor.stop();
  const recorded = JSON.parse(readFileSync(join(home, "logs", "starts.json"), "utf8")) as unknown[];
  expect(recorded).toEqual(supervisor.status().coldStarts);
});

test("a gateway that keeps crashing is reported, and comes up once its cause has passed", async () => {
  const { supervisor, home, log } = await supervised(`
    import { existsSync } from "node:fs";
    import { readOwnEnvironment } from ${ENVIRONMENT};
    const { SLACK_SIGNING_SECRET } = readOwnEnvironment();
    if (!existsSync(process.env.STEWARD_HOME + "/mended")) {
      setTimeout(() => { throw new Error("broken " + SLACK_SIGNING_SECRET); }, 20);
    } else ready();
  `);
  supervisor.start();

  const status = await supervisor.whenSettled(50_000);
  expect(status).toMatchObject({
    state: "crash-looping",
    restarts: 3,
    reason: { code: "crash_looping", detail: "It exited with code 1: Error: broken [redacted]" },
  });
  const [gateway] = supervisor.processes({ logs: true }).processes;
  expect(gateway).toMatchObject({ state: "crash-looping", exitCode: 1, pid: null });
  expect(gateway?.logs?.filter((line) => line.startsWith("Error: broken"))).toHaveLength(4);
  expect(log.lines.join("\n")).not.toContain(SECRETS.SLACK_SIGNING_SECRET);
  await eventually(() => supervisor.status().restarts > 4);

  await writeFile(join(home, "mended"), "");
  await eventually(() => supervisor.status().state === "ready");
});

test("a start that never becomes ready is ended and counts as failed", async () => {
  const { supervisor } = await supervised("setInterval(() => {}, 1_000);", {
    startTimeoutMs: 200,
    policy: { firstMs: 10, longestMs: 10, maxFailures: 2, stableAfterMs: 1_000, neededAfterMs: 60_000 },
  });
  supervisor.start();

  expect(await supervisor.whenSettled(50_000)).toMatchObject({
    state: "crash-looping",
    reason: { code: "gateway_not_ready" },
  });
});

test("a program that is not there is told", async () => {
  const { supervisor } = await supervised("", { command: ["/nowhere/steward"] });
  supervisor.start();

  expect(await supervisor.whenSettled(50_000)).toMatchObject({
    state: "crash-looping",
    reason: { detail: expect.stringContaining("ENOENT") },
  });
});

test("a start that the system refuses outright is told, and tried again", async () => {
  // More than one variable may hold (E2BIG): like too little memory, Node throws it.
  const environment = { ...SECRETS, HUGE: "x".repeat(256 * 1024) };
  const { supervisor } = await supervised("ready();", { environment });
  supervisor.start();

  expect(await supervisor.whenSettled(50_000)).toMatchObject({
    state: "crash-looping",
    restarts: 3,
    reason: { detail: expect.stringContaining("E2BIG") },
  });
});
