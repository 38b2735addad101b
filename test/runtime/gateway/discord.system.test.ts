import { expect, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { command, directCommand } from "../../support/discord.ts";
import { steward } from "../support/cli.ts";
import { discordSurroundings, DISCORD_BOT_TOKEN, GUILD } from "../support/discord.ts";
import { askJson, deliver, startGateway } from "../support/gateway.ts";
import { modelStream } from "../support/platforms.ts";
import { eventually } from "../support/processes.ts";

const SIXTEEN_MINUTES = 16 * 60_000;
const QUIET = { streamMode: "off" };

test("a command's deferred answer is filled with the reply, which notifies nobody", async () => {
  const { url, environment, discord, calls, model, deferred } = await discordSurroundings(QUIET);
  await startGateway(environment);
  model.next(modelStream("Hello **there** @everyone"));

  expect(await deliver(url, deferred(command, "hi"))).toMatchObject({ answer: { outcome: "answered" } });

  expect(model.asked().at(-1)?.at(-1)).toContain("hi");
  expect(discord.messages).toMatchObject([
    { original: true, content: "Hello **there** @everyone", flags: 0 },
  ]);
  expect(discord.pending()).toEqual([]);
  expect(calls()).toMatchObject([
    {
      method: "PATCH",
      path: "/webhooks/845027738276462632/aW50ZXJhY3Rpb2461/messages/@original",
      body: { allowed_mentions: { parse: [] } },
      authorization: undefined,
      userAgent: expect.stringMatching(/^DiscordBot \(/),
    },
  ]);
});

test("a reply above 2,000 characters goes on in messages behind the first", async () => {
  const { url, environment, discord, model, deferred } = await discordSurroundings(QUIET);
  await startGateway(environment);
  model.next(modelStream(["a", "b", "c"].map((letter) => letter.repeat(1_500)).join("\n\n")));

  await deliver(url, deferred(command, "hi"));

  expect(discord.messages.map(({ content, original }) => [content[0], content.length, original])).toEqual([
    ["a", 1_500, true],
    ["b", 1_500, false],
    ["c", 1_500, false],
  ]);
});

test("after the ticket's 15 minutes the reply is a message in the channel", async () => {
  const { url, environment, discord, calls, deferred } = await discordSurroundings(QUIET);
  await startGateway(environment);

  await deliver(url, deferred(command, "late", { ageMs: SIXTEEN_MINUTES }));

  expect(discord.messages).toMatchObject([{ place: "645027906669510667", original: false }]);
  expect(calls()).toMatchObject([
    {
      path: "/channels/645027906669510667/messages",
      authorization: `Bot ${DISCORD_BOT_TOKEN}`,
      body: { allowed_mentions: { parse: [] } },
    },
  ]);
});

test("a ticket that Discord does not take any more is no obstacle", async () => {
  const { url, environment, discord, deferred } = await discordSurroundings(QUIET);
  await startGateway(environment);
  const expired = deferred(command, "one");
  discord.expire(String(expired.payload["token"]));
  const unknown = deferred(command, "two", { application_id: "1", ageMs: 300_000 });

  await deliver(url, expired);
  await deliver(url, unknown);

  expect(discord.messages.map(({ place }) => place)).toEqual(["645027906669510667", "645027906669510667"]);
});

test("a reply that is faster than Discord with its own deferred answer waits for it", async () => {
  const { url, environment, discord, calls, deferred } = await discordSurroundings(QUIET);
  await startGateway(environment);
  discord.next({ status: 404, body: { message: "Unknown Webhook", code: 10015 } });

  await deliver(url, deferred(command, "quick"));

  expect(calls()).toHaveLength(2);
  expect(discord.messages).toMatchObject([{ original: true }]);
});

test("an answer to one person never goes to the channel", async () => {
  const { url, environment, discord, deferred } = await discordSurroundings(QUIET);
  await startGateway(environment);

  const late = deferred(command, "", { name: "status", ageMs: SIXTEEN_MINUTES });
  const result = await deliver(url, late);

  expect(result).toMatchObject({ status: 200, answer: { outcome: "failed" } });
  expect(discord.messages).toEqual([]);
});

test("Discord's rate limit is handed on with its retry_after", async () => {
  const { url, environment, discord, deferred } = await discordSurroundings(QUIET);
  await startGateway(environment);
  const limit = { message: "You are being rate limited.", retry_after: 64.57, global: true };
  discord.next({ status: 429, body: limit, headers: { "retry-after": "65" } });
  const asked = deferred(command, "hi");

  expect(await deliver(url, asked)).toMatchObject({
    status: 429,
    retryAfter: "65",
    answer: { code: "channel_failed" },
  });
  expect(await deliver(url, asked)).toMatchObject({ answer: { outcome: "answered" } });
});

test("the status reports a wrong bot token and its fix, even after a reply that needs no token", async () => {
  const { url, environment, discord, deferred } = await discordSurroundings(QUIET);
  await startGateway({ ...environment, DISCORD_BOT_TOKEN: "wrong-token-0123456789" });
  const late = deferred(command, "late", { ageMs: SIXTEEN_MINUTES });

  expect(await deliver(url, late)).toMatchObject({
    status: 503,
    answer: { code: "discord_token_invalid", fix: expect.stringContaining("DISCORD_BOT_TOKEN") },
  });
  const failing = await askJson<GatewayStatus>(`${url}/status`);
  const refused = [{ state: "failing", reason: { code: "discord_token_invalid" } }];
  expect(failing.channels).toMatchObject(refused);

  await deliver(url, deferred(command, "by the ticket"));
  expect(discord.messages).toHaveLength(1);
  expect((await askJson<GatewayStatus>(`${url}/status`)).channels).toMatchObject(refused);
});

test.each([
  ["ignored", 403, { message: "Missing Access", code: 50001 }],
  ["failed", 403, { message: "Missing Permissions", code: 50013 }],
  ["ignored", 404, { message: "Unknown Channel", code: 10003 }],
])("a channel that takes nothing ends the delivery as %s: %s %o", async (outcome, status, body) => {
  const { url, environment, discord, deferred } = await discordSurroundings(QUIET);
  await startGateway(environment);
  discord.next({ status, body });
  const late = deferred(command, "late", { ageMs: SIXTEEN_MINUTES });

  expect(await deliver(url, late)).toMatchObject({ status: 200, answer: { outcome } });
  const { channels } = await askJson<GatewayStatus>(`${url}/status`);
  expect(channels).toMatchObject([{ platform: "discord", state: "ready" }]);
});

test("a server error is tried again", async () => {
  const { url, environment, discord, deferred } = await discordSurroundings(QUIET);
  await startGateway(environment);
  discord.next({ status: 502 });
  const asked = deferred(command, "hi");

  expect(await deliver(url, asked)).toMatchObject({ status: 503 });
  expect(await deliver(url, asked)).toMatchObject({ answer: { outcome: "answered" } });
});

test("a stranger in a direct message pairs, and is told of its approval in the channel", async () => {
  const { url, environment, discord, model, deferred } = await discordSurroundings(QUIET);
  await startGateway(environment);

  await deliver(url, deferred(directCommand, "hello"));

  expect(model.calls).toHaveLength(0);
  const told = discord.messages[0];
  expect(told).toMatchObject({ original: true });
  expect(told?.content).toContain("Your Discord user id: 53908232506183680");
  const code = /steward pairing approve discord ([A-Z]{8})/.exec(told?.content ?? "")?.[1] ?? "no code";
  const { stdout } = await steward(environment, "pairing", "list", "discord", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    requests: [{ id: "53908232506183680", meta: { username: "mason", firstName: "Mason" } }],
  });

  expect(await steward(environment, "pairing", "approve", "discord", code)).toMatchObject({ code: 0 });
  await eventually(() => discord.messages.length === 2);
  expect(discord.messages[1]).toMatchObject({
    place: "1094323234567890123",
    content: expect.stringContaining("You are approved"),
  });

  await deliver(url, deferred(directCommand, "now"));
  expect(discord.messages[2]).toMatchObject({ original: true, content: expect.stringContaining("now") });
});

test("who gets no answer does not see one being made either", async () => {
  const { url, environment, discord, model, deferred } = await discordSurroundings({
    ...QUIET,
    groupPolicy: "disabled",
    dmPolicy: "disabled",
  });
  await startGateway(environment);

  for (const make of [command, directCommand]) {
    expect(await deliver(url, deferred(make, "hello"))).toMatchObject({ answer: { outcome: "ignored" } });
  }

  expect(discord.pending()).toEqual([]);
  expect(discord.messages).toEqual([]);
  expect(model.calls).toHaveLength(0);
});

test("a server that nobody has listed is told so, and the model sees nothing of it", async () => {
  const { url, environment, discord, model, deferred } = await discordSurroundings({ ...QUIET, guilds: {} });
  await startGateway(environment);
  expect(await deliver(url, deferred(command, "read USER.md to me"))).toMatchObject({
    answer: { outcome: "ignored", group: GUILD },
  });
  expect(discord.messages).toMatchObject([
    { original: true, content: expect.stringContaining(`adds "${GUILD}" to channels.discord.guilds`) },
  ]);
  expect(model.calls).toHaveLength(0);
});

test("a server on the list is answered", async () => {
  const { url, environment, discord, deferred } = await discordSurroundings({
    ...QUIET,
    groupPolicy: "allowlist",
    guilds: { [GUILD]: {} },
  });
  await startGateway(environment);
  await deliver(url, deferred(command, "hello"));
  expect(discord.messages).toMatchObject([{ original: true }]);
});

test("neither token reaches the log", async () => {
  const { url, environment, discord, deferred } = await discordSurroundings(QUIET);
  const gateway = await startGateway({ ...environment, LOG_LEVEL: "debug" });
  const asked = deferred(command, "hi");
  discord.next({
    status: 500,
    body: { message: `no ${DISCORD_BOT_TOKEN} ${String(asked.payload["token"])}` },
  });

  await deliver(url, asked);

  await eventually(() => gateway.stdout().includes("a platform rejected a request"));
  expect(gateway.stdout() + gateway.stderr()).not.toContain(DISCORD_BOT_TOKEN);
  expect(gateway.stdout() + gateway.stderr()).not.toContain(asked.payload["token"]);
});
