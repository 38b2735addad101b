import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ChannelHealth, GatewayStatus } from "../../../runtime/contract/control.ts";
import { askJson, deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { json } from "../support/platforms.ts";
import { eventually } from "../support/processes.ts";

const DISCORD_TOKEN = "ZGlzY29yZC1ib3Q.b3QtdG9r.ZW4tb2YtYS10ZXN0LWJvdA";

/** A gateway over a config file from before any channel's credentials were set. */
async function startOver(file: object, environment: Record<string, string> = {}) {
  const around = await surroundings();
  await mkdir(around.home, { recursive: true });
  await writeFile(join(around.home, "steward.json"), JSON.stringify(file));
  const gateway = await startGateway({ ...around.environment, ...environment });
  const channels = async (): Promise<ChannelHealth[]> =>
    (await askJson<GatewayStatus>(`${around.url}/status`)).channels;
  return { ...around, gateway, channels };
}

test("credentials that come after the config file switch the channel on, without an edit", async () => {
  const { url, slack, channels } = await startOver({ channels: {} });

  await expect.poll(channels).toMatchObject([{ platform: "slack", state: "ready" }]);
  expect((await deliver(url, delivery("E1"))).status).toBe(200);
  expect(slack.posts()).toMatchObject([{ channel: "C1" }]);
});

test("a section without credentials takes them from the environment, and a channel that is off stays off", async () => {
  const file = { channels: { slack: { historyLimit: 3 }, discord: { enabled: false } } };
  const { channels } = await startOver(file, { DISCORD_BOT_TOKEN: DISCORD_TOKEN });

  await expect.poll(channels).toMatchObject([
    { platform: "slack", state: "ready" },
    { platform: "discord", state: "disabled" },
  ]);
});

test("half of a channel's credentials switch nothing on, and the log names the other half", async () => {
  const { channels, gateway } = await startOver({}, { SLACK_SIGNING_SECRET: "" });

  expect(await channels()).toEqual([]);
  expect(gateway.stdout()).toContain('"missing":["SLACK_SIGNING_SECRET"]');
});

test("an expired token shows before anybody waits for a reply, and a good one afterwards ends it", async () => {
  const around = await surroundings();
  await writeConfig(around.home);
  around.slack.catalog(json(200, { ok: false, error: "token_expired" }));
  await startGateway(around.environment);
  const channels = async () => (await askJson<GatewayStatus>(`${around.url}/status`)).channels;

  await eventually(async () => (await channels())[0]?.state === "failing");
  expect(await channels()).toMatchObject([{ reason: { code: "slack_token_expired" } }]);
  around.slack.catalog(json(200, { ok: true }));
  await writeConfig(around.home, { historyLimit: 4 });
  await eventually(async () => (await channels())[0]?.state === "ready");
});
