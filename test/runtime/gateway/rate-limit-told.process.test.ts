import { expect, test } from "vitest";
import { command } from "../../support/discord.ts";
import { discordSurroundings } from "../support/discord.ts";
import { deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { modelError } from "../support/platforms.ts";

const LIMITED = modelError(429, "rate_limit_error", "slow down", { "retry-after": "60" });

test("the chat is told once that the model provider limits requests, and gets its answer afterwards", async () => {
  const around = await surroundings();
  // Without a cooldown the next attempt asks the model again.
  await writeConfig(around.home, { streamMode: "off" }, { models: { cooldown: "1s" } });
  const first = await startGateway(around.environment);
  around.model.next(LIMITED);

  expect((await deliver(around.url, delivery("E1"))).answer["code"]).toBe("model_rate_limited");
  const [notice, ...others] = around.slack.posts();
  expect(notice?.text).toContain("rate limit is reached");
  expect(notice).toMatchObject({ channel: "C1", thread: "100.1" });
  expect(others).toEqual([]);

  // Another process forgets how long to wait, and still knows what was said.
  first.kill("SIGTERM");
  await first.exited;
  await startGateway(around.environment);
  around.model.next(LIMITED);
  expect((await deliver(around.url, delivery("E1"))).answer["code"]).toBe("model_rate_limited");
  expect(around.slack.posts()).toHaveLength(1);
});

test("a deferred answer of Discord shows it until the answer takes its place", async () => {
  const { url, environment, discord, model, deferred } = await discordSurroundings();
  const first = await startGateway(environment);
  model.next(LIMITED);
  const event = deferred(command, "hi");

  expect((await deliver(url, event)).status).toBe(429);
  expect(discord.messages).toMatchObject([
    { original: true, content: expect.stringContaining("rate limit is reached") },
  ]);
  first.kill("SIGTERM");
  await first.exited;
  await startGateway(environment);
  expect((await deliver(url, event)).status).toBe(200);
  expect(discord.messages).toMatchObject([{ original: true, content: expect.stringContaining("hi") }]);
});
