import { writeFileSync } from "node:fs";
import { readdir, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { startGateway as startInProcess } from "../../../runtime/gateway/start.ts";
import { askJson, deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { modelStream } from "../support/platforms.ts";
import { eventually, SECRETS } from "../support/processes.ts";

async function running() {
  const around = await surroundings();
  await writeConfig(around.home);
  const gateway = await startGateway(around.environment);
  const status = () => askJson<GatewayStatus>(`${around.url}/status`);
  return { ...around, gateway, status };
}

test("a changed config is taken over without a restart", async () => {
  const { home, url, model, gateway, status } = await running();
  const before = await status();

  await writeConfig(
    home,
    {},
    { agent: { instructions: "Speak like a pirate." }, logging: { level: "debug" } },
  );
  await eventually(async () => (await status()).config.loadedAt !== before.config.loadedAt);

  expect((await deliver(url, delivery("E1"))).status).toBe(200);
  expect(JSON.parse(model.calls.at(-1)?.body ?? "{}").system[0].text).toMatch(/^Speak like a pirate\./);
  expect((await status()).since).toBe(before.since);
  await deliver(url, delivery("E2", { bot_id: "B1" }));
  await eventually(() => gateway.stdout().includes("event ignored"));
});

test("a config that is written while the gateway starts is taken over", async () => {
  const { home, environment } = await surroundings();
  await writeConfig(home);
  const lines: string[] = [];
  const gateway = await startInProcess({
    environment: { ...environment, STEWARD_CONTROL_TOKEN: "" },
    clock: Date.now,
    write: (line) => {
      lines.push(line);
      // Logged after the file was read, and before the gateway looks for changes.
      if (line.includes("no control token")) writeFileSync(join(home, "steward.json"), "{}");
    },
  });
  onTestFinished(() => gateway.close());
  await expect.poll(() => lines.join("\n")).toContain("changed config applied");
});

test("an invalid change leaves the config before in use and is told once, until it is mended", async () => {
  const { home, url, gateway, status } = await running();

  await writeConfig(home, { dm: {}, botToken: "xoxb-999-888-verysecretvalue", dmPolicy: "open" });
  const { config } = await eventually(async () => {
    const now = await status();
    return now.config.problem && now;
  });
  expect(config.problem?.code).toBe("config_invalid");
  expect(config.problem?.detail).toContain('- channels.slack: Unrecognized key: "dm"');
  expect(JSON.stringify(config)).not.toContain("verysecret");
  expect((await deliver(url, delivery("E1"))).status).toBe(200);
  gateway.kill("SIGHUP");
  await writeConfig(home);
  await eventually(async () => (await status()).config.problem === undefined);
  expect(gateway.stdout()).not.toContain("verysecret");
});

test("a deleted file is told and not written anew while the gateway runs", async () => {
  const { home, status } = await running();

  await rename(join(home, "steward.json"), join(home, "away.json"));
  await eventually(async () => (await status()).config.problem?.code === "config_missing");
  expect(await readdir(home)).not.toContain("steward.json");
  await rename(join(home, "away.json"), join(home, "steward.json"));
  await eventually(async () => (await status()).config.problem === undefined);
});

test("a path that cannot be looked at for a while is told, and the gateway lives on", async () => {
  const { home, url, status } = await running();
  const file = join(home, "steward.json");
  const { loadedAt } = (await status()).config;

  await rename(file, join(home, "away.json"));
  await symlink("steward.json", file);
  await eventually(async () => (await status()).config.problem?.detail.includes("ELOOP"));
  await rename(join(home, "away.json"), file);
  await eventually(async () => (await status()).config.problem === undefined);

  expect((await status()).config.loadedAt).not.toBe(loadedAt);
  expect((await deliver(url, delivery("E1"))).status).toBe(200);
});

test("a delivery under way ends with the config that it began with", async () => {
  const { home, url, model, slack, status } = await running();
  const { loadedAt } = (await status()).config;
  model.next(modelStream("late but whole", { delayMs: 4_000 }));

  const answer = deliver(url, delivery("E1"));
  await eventually(() => model.calls.length === 1);
  await writeConfig(home, { enabled: false });
  await eventually(async () => (await status()).config.loadedAt !== loadedAt);

  expect((await answer).status).toBe(200);
  expect(slack.posts().map(({ text }) => text)).toEqual(["late but whole"]);
  expect((await deliver(url, delivery("E2"))).status).toBe(503);
});

test("a secret that came with a change is masked in the log", async () => {
  const { home, url, slack, gateway, status } = await running();
  const { loadedAt } = (await status()).config;
  const signingSecret = "brand-new-signing-secret";
  await writeConfig(home, { signingSecret });
  await eventually(async () => (await status()).config.loadedAt !== loadedAt);

  slack.next((response) => void response.writeHead(500).end(signingSecret + SECRETS.SLACK_BOT_TOKEN));
  await deliver(url, delivery("E1"));

  expect(gateway.stdout()).not.toContain(signingSecret);
});
