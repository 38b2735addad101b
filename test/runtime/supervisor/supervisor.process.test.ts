import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { hasEnded } from "../../../runtime/process/ended.ts";
import { CONTROL_TOKEN, eventually, SECRETS } from "../support/processes.ts";
import { supervised } from "../support/supervisor.ts";
import { signal } from "../../support/kills.ts";
import { listens } from "../../support/ports.ts";

test("ready means that the gateway's port answers, with the cold start measured", async () => {
  const { supervisor } = await supervised("setTimeout(ready, 150);", { bootMs: 1_000 });
  expect(supervisor.status()).toMatchObject({ state: "stopped", restarts: 0 });

  supervisor.start();
  expect(supervisor.status().state).toBe("starting");
  const status = await supervisor.whenSettled(50_000);

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
  await supervisor.whenSettled(50_000);

  const answer = await (await supervisor.fetchGateway("/some?path=1")).json();
  expect(answer).toMatchObject({ url: "/some?path=1", token: `Bearer ${CONTROL_TOKEN}` });
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
    const held = output.filter((line) => line.startsWith("held ")).map((line) => Number(line.slice(5)));
    signal(held, "SIGKILL");
  });
  supervisor.start();
  await supervisor.whenSettled(50_000);

  await eventually(() => (supervisor.processes().processes[0]?.restarts ?? 0) > 0);
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
  await supervisor.whenSettled(50_000);
  const pid = supervisor.processes().processes[0]?.pid ?? -1;
  const child = Number(output.find((line) => line.startsWith("child "))?.slice(6));

  await supervisor.stop();

  expect(supervisor.status()).toMatchObject({ state: "stopped" });
  expect(hasEnded(pid)).toBe(true);
  await eventually(() => hasEnded(child));
  expect(await listens(gatewayPort)).toBe(false);
});

test("a restart ends the old process before the new one takes its port", async () => {
  const { supervisor } = await supervised(`
    process.on("SIGTERM", () => setTimeout(() => process.exit(0), 300));
    ready();
  `);
  supervisor.start();
  await supervisor.whenSettled(50_000);
  const before = supervisor.processes().processes[0]?.pid ?? -1;

  supervisor.restart();
  supervisor.restart();
  const status = await supervisor.whenSettled(50_000);

  expect(status).toMatchObject({ state: "ready", restarts: 0 });
  expect(status.coldStartMs).toBeLessThan(50_000);
  expect(hasEnded(before)).toBe(true);
  expect(supervisor.processes().processes[0]?.pid).not.toBe(before);
});

test("every change of the state is told to listeners", async () => {
  const { supervisor } = await supervised("ready();");
  const states: string[] = [];
  const end = supervisor.onChange(({ state }) => states.push(state));
  supervisor.start();
  await supervisor.whenSettled(50_000);
  await supervisor.stop();
  end();
  supervisor.start();

  expect([...new Set(states)]).toEqual(["starting", "ready", "stopped"]);
});

test("no secret reaches memory, file or the caller's output", async () => {
  const { supervisor, home, output } = await supervised(`
    console.log(JSON.stringify(process.env));
    console.error("Bearer " + process.env.STEWARD_CONTROL_TOKEN);
    ready();
  `);
  supervisor.start();
  await supervisor.whenSettled(50_000);
  await eventually(() => output.some((line) => line.startsWith("Bearer")));

  const seen = [
    JSON.stringify(supervisor.processes({ logs: true })),
    await readFile(join(home, "logs", "gateway.log"), "utf8"),
    output.join("\n"),
  ].join("\n");
  for (const secret of [...Object.values(SECRETS), CONTROL_TOKEN]) expect(seen).not.toContain(secret);
  expect(seen).toContain("[redacted]");
});
