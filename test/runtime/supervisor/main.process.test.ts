import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ProcessList } from "../../../runtime/contract/control.ts";
import { container } from "../support/container.ts";
import { ask, askJson, deliver, delivery, writeConfig } from "../support/gateway.ts";
import { CONTROL_TOKEN, eventually, SECRETS } from "../support/processes.ts";
import { listens } from "../../support/ports.ts";

test("the container's main process starts the gateway and answers its control API", async () => {
  const { start, control, config, gateway, state, url, slack } = await container();
  const supervisor = start();

  expect(await state("ready")).toMatchObject({ restarts: 0, version: expect.any(String) });
  await deliver(url, delivery("Ev1"));
  expect(slack.posts()[0]?.text).toBe("You said: hello");

  const { processes } = await askJson<ProcessList>(`${control}/processes`);
  expect(processes).toMatchObject([
    { name: "gateway", state: "running" },
    { name: "supervisor", pid: supervisor.pid },
  ]);
  expect(processes[0]).not.toHaveProperty("logs");
  expect((await gateway("?logs=true")).logs?.join("\n")).toContain("event answered");
  expect(await config()).toMatchObject({
    valid: true,
    config: { channels: { slack: { botToken: { env: "SLACK_BOT_TOKEN" } } } },
  });
  expect(supervisor.stdout()).toContain("event answered");
});

test("the control API wants its token and knows its routes only", async () => {
  const { start, control, state } = await container();
  start();
  await state("ready");

  for (const headers of [{}, { authorization: "Bearer wrong" }]) {
    const response = await fetch(`${control}/status`, { headers });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: "control_refused" });
  }
  expect((await ask(`${control}/nothing`)).status).toBe(404);
});

test("an invalid config is told while the gateway is dead; restart brings it back", async () => {
  const { start, control, config, gateway, state, home, url } = await container();
  await writeFile(join(home, "steward.json"), JSON.stringify({ unknown: 1 }));
  start();

  expect(await state("crash-looping")).toMatchObject({ reason: { code: "config_invalid" } });
  expect(await config()).toMatchObject({ valid: false, config: { unknown: 1 } });
  expect((await gateway("?logs=true")).logs).toContain('- (root): Unrecognized key: "unknown"');
  await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");

  await writeConfig(home);
  const restarted = await ask(`${control}/restart`, { method: "POST" });
  expect(restarted.status).toBe(202);
  expect(await restarted.json()).toMatchObject({ state: "starting" });
  await state("ready");
});

test("a killed gateway is started again", async () => {
  const { start, gateway, status, state } = await container();
  start();
  await state("ready");
  const before = (await gateway()).pid ?? 0;
  expect(before).toBeGreaterThan(1);

  process.kill(before, "SIGKILL");

  await eventually(async () => (await status()).restarts === 1);
  await state("ready");
  expect((await gateway()).pid).not.toBe(before);
});

test("SIGTERM ends both processes; a supervisor that is killed takes its gateway with it", async () => {
  const { start, state, port } = await container();
  const first = start();
  await state("ready");
  first.kill("SIGTERM");
  expect(await first.exited).toBe(0);
  expect(await listens(port)).toBe(false);

  const second = start();
  await state("ready");
  second.kill("SIGKILL");
  await second.exited;
  await eventually(async () => !(await listens(port)));
});

test("no secret is in the container's output", async () => {
  const { start, gateway, state } = await container({ LOG_LEVEL: "debug" });
  const supervisor = start();
  await state("ready");

  const seen = supervisor.stdout() + supervisor.stderr() + JSON.stringify(await gateway("?logs=true"));
  for (const secret of [...Object.values(SECRETS), CONTROL_TOKEN]) expect(seen).not.toContain(secret);
});

test("a wrong variable ends it with exit code 1 and its name", async () => {
  const { start } = await container({ SUPERVISOR_PORT: "99999" });
  const supervisor = start();

  expect(await supervisor.exited).toBe(1);
  expect(supervisor.stderr()).toContain('SUPERVISOR_PORT: "99999" is not a port');
});
