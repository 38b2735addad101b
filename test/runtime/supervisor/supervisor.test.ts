import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { CONTROL_TOKEN, eventually, SECRETS } from "../support/processes.ts";
import { supervised } from "../support/supervisor.ts";
import { listens } from "../../support/ports.ts";

const gone = (pid: number) => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

test("ready means that the gateway's port answers, with the cold start measured", async () => {
  const { supervisor } = await supervised("setTimeout(ready, 150);", { bootMs: 1_000 });
  expect(supervisor.status()).toMatchObject({ state: "stopped", restarts: 0 });

  supervisor.start();
  expect(supervisor.status().state).toBe("starting");
  const status = await supervisor.whenSettled(10_000);

  expect(status).toMatchObject({ state: "ready", version: "9.9.9", restarts: 0 });
  expect(status.coldStartMs).toBeGreaterThan(1_150);
  const [gateway] = supervisor.processes().processes;
  expect(gateway).toMatchObject({ name: "gateway", state: "running", exitCode: null });
  expect(gateway).not.toHaveProperty("logs");
});

test("another server on the gateway's port does not count as ready", async () => {
  const { supervisor, gatewayPort } = await supervised("setTimeout(() => {}, 60_000);");
  const other = createServer((_, response) => response.end(JSON.stringify({ ready: true, pid: 1 })));
  await new Promise<void>((resolve) => other.listen(gatewayPort, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());

  supervisor.start();

  expect(await supervisor.whenSettled(700)).toMatchObject({ state: "starting" });
});

test("the gateway is asked with the control token; before it is up the answer is 503 with the code", async () => {
  const { supervisor } = await supervised("ready();");
  const early = await supervisor.fetchGateway("/status");
  expect(early.status).toBe(503);
  expect(await early.json()).toMatchObject({ code: "gateway_unavailable" });

  supervisor.start();
  await supervisor.whenSettled(10_000);

  const answer = await (await supervisor.fetchGateway("/some?path=1")).json();
  expect(answer).toMatchObject({ url: "/some?path=1", token: `Bearer ${CONTROL_TOKEN}` });
});

test("a crash is followed by a new start", async () => {
  const { supervisor, home } = await supervised(`
    import { existsSync, writeFileSync } from "node:fs";
    const mark = process.env.STEWARD_HOME + "/crashed";
    if (!existsSync(mark)) { writeFileSync(mark, ""); throw new Error("only once"); }
    ready();
  `);
  supervisor.start();

  expect(await supervisor.whenSettled(10_000)).toMatchObject({ state: "ready", restarts: 1 });
  expect(supervisor.status()).not.toHaveProperty("reason");
  await rm(join(home, "crashed"));
});

test("how the last starts went is kept beyond the process, whatever the file holds", async () => {
  const first = await supervised(`
    import { existsSync, writeFileSync } from "node:fs";
    const mark = process.env.STEWARD_HOME + "/crashed";
    if (!existsSync(mark)) { writeFileSync(mark, ""); throw new Error("only once"); }
    setTimeout(ready, 50);
  `);
  first.supervisor.start();
  expect(first.supervisor.status().start).toMatchObject({ phase: "starting" });
  const { coldStarts, coldStartMs } = await first.supervisor.whenSettled(10_000);
  expect(coldStarts?.map(({ ended }) => ended)).toEqual(["ready", "crash_looping"]);
  // Read from the clock one after the other.
  expect(Math.abs((coldStarts?.[0]?.ms ?? 0) - (coldStartMs ?? 0))).toBeLessThan(100);
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
  const after = await third.supervisor.whenSettled(10_000);
  expect(after.coldStarts).toHaveLength(20);
  await expect.poll(written).toEqual(after.coldStarts);
  await writeFile(file, "{");
  expect((await supervised("ready();", { home })).supervisor.status()).not.toHaveProperty("coldStarts");
});

test("a gateway that keeps crashing is given up visibly; restart begins anew", async () => {
  const { supervisor, home, log } = await supervised(`
    import { existsSync } from "node:fs";
    if (!existsSync(process.env.STEWARD_HOME + "/mended")) {
      setTimeout(() => { throw new Error("broken " + process.env.SLACK_SIGNING_SECRET); }, 20);
    } else ready();
  `);
  supervisor.start();

  const status = await supervisor.whenSettled(15_000);
  expect(status).toMatchObject({
    state: "crash-looping",
    restarts: 3,
    reason: { code: "crash_looping", detail: "It exited with code 1: Error: broken [redacted]" },
  });
  const [gateway] = supervisor.processes({ logs: true }).processes;
  expect(gateway).toMatchObject({ state: "crash-looping", exitCode: 1, pid: null });
  expect(gateway?.logs?.filter((line) => line.startsWith("Error: broken"))).toHaveLength(4);
  expect(log.lines.join("\n")).not.toContain(SECRETS.SLACK_SIGNING_SECRET);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(supervisor.status().restarts).toBe(3);

  await writeFile(join(home, "mended"), "");
  supervisor.restart();
  expect(supervisor.status()).toMatchObject({ state: "starting" });
  expect(await supervisor.whenSettled(10_000)).toMatchObject({ state: "ready" });
});

test("a start that never becomes ready is ended and counts as failed", async () => {
  const { supervisor } = await supervised("setInterval(() => {}, 1_000);", {
    startTimeoutMs: 200,
    policy: { firstMs: 10, longestMs: 10, maxFailures: 2, stableAfterMs: 1_000, lastResortMs: 60_000 },
  });
  supervisor.start();

  expect(await supervisor.whenSettled(10_000)).toMatchObject({
    state: "crash-looping",
    reason: { code: "gateway_not_ready" },
  });
});

test("a gateway that hangs is ended, told and started anew; one that is slow is left alone", async () => {
  const { supervisor, log } = await supervised(
    `
    import { existsSync, writeFileSync } from "node:fs";
    const mark = process.env.STEWARD_HOME + "/hung";
    ready();
    if (!existsSync(mark)) setTimeout(() => { writeFileSync(mark, ""); for (;;); }, 200);
  `,
    { liveness: { everyMs: 50, answerMs: 400, misses: 3 } },
  );
  supervisor.start();
  await eventually(() => supervisor.status().restarts === 1);
  expect(await supervisor.whenSettled(10_000)).toMatchObject({ state: "ready", restarts: 1 });
  expect(log.lines.join("\n")).toContain("did not answer within");

  const pid = supervisor.processes().processes[0]?.pid ?? -1;
  process.kill(pid, "SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, 500));
  process.kill(pid, "SIGCONT");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(supervisor.status()).toMatchObject({ state: "ready", restarts: 1 });
});

test("a program that is not there is told", async () => {
  const { supervisor } = await supervised("", { command: ["/nowhere/steward"] });
  supervisor.start();

  expect(await supervisor.whenSettled(10_000)).toMatchObject({
    state: "crash-looping",
    reason: { detail: expect.stringContaining("ENOENT") },
  });
});

test("a start that the system refuses outright is told, and tried again", async () => {
  // More than one variable may hold (E2BIG): like too little memory, Node throws it.
  const environment = { ...SECRETS, HUGE: "x".repeat(256 * 1024) };
  const { supervisor } = await supervised("ready();", { environment });
  supervisor.start();

  expect(await supervisor.whenSettled(10_000)).toMatchObject({
    state: "crash-looping",
    restarts: 3,
    reason: { detail: expect.stringContaining("E2BIG") },
  });
});

test("an end is noticed although something that left the group holds the output open", async () => {
  const { supervisor, output } = await supervised(`
    import { spawn } from "node:child_process";
    const held = spawn(process.execPath, ["-e", "setTimeout(() => {}, 30_000)"],
      { detached: true, stdio: ["ignore", "inherit", "inherit"] });
    console.log("held " + held.pid);
    ready();
    setTimeout(() => { console.error("last words"); process.exit(3); }, 500);
  `);
  onTestFinished(() => {
    for (const line of output) if (line.startsWith("held ")) process.kill(Number(line.slice(5)), "SIGKILL");
  });
  supervisor.start();
  await supervisor.whenSettled(10_000);

  await eventually(() => supervisor.processes().processes[0]?.restarts === 1);
  expect(output).toContain("last words");
  await supervisor.stop();
});

test("a stop ends the gateway and what it started, by force where it must", async () => {
  const { supervisor, output, gatewayPort } = await supervised(
    `
    import { spawn } from "node:child_process";
    process.on("SIGTERM", () => {});
    const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"]);
    console.log("child " + child.pid);
    ready();
  `,
    { stopGraceMs: 200 },
  );
  supervisor.start();
  await supervisor.whenSettled(10_000);
  const pid = supervisor.processes().processes[0]?.pid ?? -1;
  const child = Number(output.find((line) => line.startsWith("child "))?.slice(6));

  await supervisor.stop();

  expect(supervisor.status()).toMatchObject({ state: "stopped" });
  expect(gone(pid)).toBe(true);
  await eventually(() => gone(child));
  expect(await listens(gatewayPort)).toBe(false);
});

test("a restart ends the old process before the new one takes its port", async () => {
  const { supervisor } = await supervised(`
    process.on("SIGTERM", () => setTimeout(() => process.exit(0), 300));
    ready();
  `);
  supervisor.start();
  await supervisor.whenSettled(10_000);
  const before = supervisor.processes().processes[0]?.pid ?? -1;

  supervisor.restart();
  supervisor.restart();
  const status = await supervisor.whenSettled(10_000);

  expect(status).toMatchObject({ state: "ready", restarts: 0 });
  expect(status.coldStartMs).toBeLessThan(5_000);
  expect(gone(before)).toBe(true);
  expect(supervisor.processes().processes[0]?.pid).not.toBe(before);
});

test("every change of the state is told to listeners", async () => {
  const { supervisor } = await supervised("ready();");
  const states: string[] = [];
  const end = supervisor.onChange(({ state }) => states.push(state));
  supervisor.start();
  await supervisor.whenSettled(10_000);
  await supervisor.stop();
  end();
  supervisor.start();

  expect([...new Set(states)]).toEqual(["starting", "ready", "stopped"]);
});

test("the real gateway's invalid config is given up at once, and a mended file starts it", async () => {
  const { supervisor, home } = await supervised(undefined);
  const path = join(home, "steward.json");
  await writeFile(path, JSON.stringify({ channels: { telegram: { botToken: "123456789:secret", dm: {} } } }));
  supervisor.start();

  const status = await supervisor.whenSettled(20_000);
  expect(status).toMatchObject({
    state: "crash-looping",
    restarts: 0,
    reason: {
      code: "config_invalid",
      detail: `Invalid config at ${path}:\n- channels.telegram: Unrecognized key: "dm" (deprecated: use channels.telegram.dmPolicy and allowFrom)`,
    },
  });
  expect(await supervisor.config()).toEqual({
    config: { channels: { telegram: { botToken: "[redacted]", dm: {} } } },
    path,
    valid: false,
    problems: [
      {
        path: "channels.telegram",
        message: 'Unrecognized key: "dm" (deprecated: use channels.telegram.dmPolicy and allowFrom)',
      },
    ],
  });

  await writeFile(path, "{}");
  expect(await eventually(() => supervisor.status().state === "ready")).toBe(true);
  expect(await supervisor.config()).toMatchObject({ config: {}, valid: true, problems: [] });
});

test("the real gateway's TELEGRAM_DM_POLICY is given up at once, with the remedy", async () => {
  const { supervisor } = await supervised(undefined, { environment: { TELEGRAM_DM_POLICY: "open" } });
  supervisor.start();

  expect(await supervisor.whenSettled(20_000)).toMatchObject({
    state: "crash-looping",
    restarts: 0,
    reason: { code: "dm_policy_set", fix: expect.stringContaining("Remove TELEGRAM_DM_POLICY") },
  });
});

test("a config that is missing or not JSON is shown as such", async () => {
  const { supervisor, home } = await supervised("ready();");
  expect(await supervisor.config()).toMatchObject({
    config: null,
    valid: false,
    problems: [{ path: "", message: "The file does not exist" }],
  });
  await writeFile(join(home, "steward.json"), "{");
  expect(await supervisor.config()).toMatchObject({ config: null, valid: false });
});

test("no secret reaches memory, file or the caller's output", async () => {
  const { supervisor, home, output } = await supervised(`
    console.log(JSON.stringify(process.env));
    console.error("Bearer " + process.env.STEWARD_CONTROL_TOKEN);
    ready();
  `);
  supervisor.start();
  await supervisor.whenSettled(10_000);
  await eventually(() => output.some((line) => line.startsWith("Bearer")));

  const seen = [
    JSON.stringify(supervisor.processes({ logs: true })),
    await readFile(join(home, "logs", "gateway.log"), "utf8"),
    output.join("\n"),
  ].join("\n");
  for (const secret of [...Object.values(SECRETS), CONTROL_TOKEN]) expect(seen).not.toContain(secret);
  expect(seen).toContain("[redacted]");
});
