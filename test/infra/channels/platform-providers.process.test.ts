import { Hono } from "hono";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { commandsText } from "../../../infra/channels/discord-commands.ts";
import { slackManifest } from "../../../infra/channels/slack-manifest.ts";
import { DISCORD_COMMANDS } from "../../../runtime/contract/discord-commands.ts";
import { createDiscordKey } from "../../../rehearsal/standins/discord-key.ts";
import { startDiscord, type DiscordStandIn } from "../../../rehearsal/standins/discord.ts";
import { listen, type Listening } from "../../../rehearsal/standins/serve.ts";
import { slackApps } from "../../../rehearsal/standins/slack-apps.ts";
import { startTelegram, type TelegramStandIn } from "../../../rehearsal/standins/telegram.ts";
import { edgeFixture } from "../../support/edge.ts";
import { connected, useEndpoints } from "../../support/endpoints.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const failure = (attempt: Promise<unknown>) =>
  attempt.then(
    () => "it was taken",
    (error: Error) => error.message,
  );

// Each provider's methods as the engine calls them; registrations.engine.test.ts has the engine itself.

describe("Telegram's webhook", () => {
  const { create, read, update, diff, delete: remove } = connected("channels:TelegramWebhook");
  const TOKEN = "1234567890:abcdefghijklmnopqrstuvwxyz0123456";
  const BOT = "1234567890";
  const INPUTS = {
    botToken: TOKEN,
    url: "https://one.example.com/telegram-webhook",
    secretToken: "the_secret-that-telegram-repeats",
    allowedUpdates: ["message", "edited_message", "callback_query"],
    maxConnections: 40,
  };
  const ELSEWHERE = { url: "https://elsewhere.example.com/hook", secret: "" };
  let telegram: TelegramStandIn;

  beforeEach(async () => {
    telegram = await startTelegram({ ...LOOPBACK, botToken: TOKEN });
    useEndpoints({ telegram: telegram.url });
  });
  afterEach(async () => {
    useEndpoints();
    await telegram.close();
  });

  test("is set with its secret, and what has gathered is delivered", async () => {
    expect(await create(INPUTS)).toEqual({ id: BOT, outs: INPUTS });
    expect(telegram.updates.webhook).toMatchObject({ url: INPUTS.url, secret: INPUTS.secretToken });
    expect(telegram.calls.at(-1)?.parameters).toMatchObject({
      allowed_updates: ["message", "edited_message", "callback_query"],
      drop_pending_updates: false,
    });
  });

  test("changes in place with its address or secret; another bot's is another webhook", async () => {
    expect(await diff(BOT, INPUTS, INPUTS)).toEqual({ changes: false, replaces: [] });
    const moved = { ...INPUTS, url: "https://two.example.com/telegram-webhook" };
    expect(await diff(BOT, INPUTS, moved)).toEqual({ changes: true, replaces: [] });
    const another = { ...INPUTS, botToken: `99${TOKEN}` };
    expect(await diff(BOT, INPUTS, another)).toEqual({ changes: true, replaces: ["botToken"] });
    await update(BOT, INPUTS, moved);
    expect(telegram.updates.webhook?.url).toBe(moved.url);
  });

  test("is read as it is now: another address, or none", async () => {
    await create(INPUTS);
    expect(await read(BOT, INPUTS)).toMatchObject({ id: BOT, inputs: INPUTS });
    telegram.updates.setWebhook(ELSEWHERE, false);
    expect(await read(BOT, INPUTS)).toMatchObject({ id: BOT, inputs: { url: ELSEWHERE.url } });
    telegram.updates.setWebhook(undefined, false);
    expect(await read(BOT, INPUTS)).toEqual({ id: "" });
  });

  test("is read with the kinds of updates and the connections; one that was deployed without those is the same", async () => {
    telegram.updates.setWebhook({ url: INPUTS.url, secret: "", maxConnections: 1 }, false);
    const { inputs } = await read(BOT, INPUTS);
    expect(inputs).toEqual({ ...INPUTS, allowedUpdates: [], maxConnections: 1 });
    expect(await diff(BOT, inputs as typeof INPUTS, INPUTS)).toMatchObject({ changes: true });
    const { allowedUpdates: _, maxConnections: __, ...former } = INPUTS;
    expect(await diff(BOT, former as typeof INPUTS, INPUTS)).toMatchObject({ changes: false });
  });

  test("is taken back unless somebody else has set it since, and from a bot that is gone", async () => {
    await create(INPUTS);
    await remove(BOT, INPUTS);
    expect(telegram.updates.webhook).toBeUndefined();

    telegram.updates.setWebhook(ELSEWHERE, false);
    await remove(BOT, INPUTS);
    expect(telegram.updates.webhook).toEqual(ELSEWHERE);
    telegram.fail("getWebhookInfo", { status: 401, description: "Unauthorized" });
    await remove(BOT, INPUTS);
  });

  test("a wrong token and a silent platform are named, without token and address", async () => {
    const wrong = await failure(create({ ...INPUTS, botToken: `${TOKEN}x` }));
    expect(wrong).toContain("Telegram refuses the bot token (telegram_token_invalid)");
    expect(wrong).toContain("fix: Copy the token from @BotFather");

    telegram.fail("setWebhook", { status: 502, description: "Bad Gateway" });
    const silent = await failure(create(INPUTS));
    expect(silent).toContain("Telegram did not answer setWebhook (registration_unreachable)");
    expect(wrong + silent).not.toMatch(/abcdefghijklmnop|127\.0\.0\.1/);
  });
});

describe("Discord's commands and endpoint", () => {
  const commands = connected("channels:DiscordCommands");
  const endpoint = connected("channels:DiscordEndpoint");
  const BOT = { botToken: "a-bot-token-of-discord-0123456789", applicationId: "1000000000000000001" };
  const LIST = { ...BOT, commands: commandsText(DISCORD_COMMANDS) };
  let discord: DiscordStandIn;
  let service: Listening;
  let address: { botToken: string; applicationId: string; publicKey: string; url: string };

  beforeEach(async () => {
    const key = createDiscordKey();
    discord = await startDiscord({ ...LOOPBACK, ...BOT, key });
    const { app } = edgeFixture({ discordPublicKey: key.publicKey, clock: Date.now });
    service = await listen(new Hono().route("/", app), LOOPBACK);
    address = { ...BOT, publicKey: key.publicKey, url: `${service.url}/discord/interactions` };
    useEndpoints({ discord: discord.apiUrl });
  });
  afterEach(async () => {
    useEndpoints();
    await Promise.all([discord.close(), service.close()]);
  });

  test("are registered, read as they are now, and taken back", async () => {
    expect(await commands.create(LIST)).toEqual({ id: BOT.applicationId, outs: LIST });
    expect(await endpoint.create(address)).toEqual({ id: BOT.applicationId, outs: address });
    expect(discord.registry.commands()).toHaveLength(DISCORD_COMMANDS.length);
    expect(discord.registry.endpoint()).toBe(address.url);
    expect(await commands.read(BOT.applicationId, LIST)).toMatchObject({ inputs: LIST });
    expect(await endpoint.read(BOT.applicationId, address)).toMatchObject({ inputs: address });

    await commands.delete(BOT.applicationId, LIST);
    await endpoint.delete(BOT.applicationId, address);
    expect(discord.registry.commands()).toEqual([]);
    expect(discord.registry.endpoint()).toBeNull();
    expect(await commands.read(BOT.applicationId, LIST)).toEqual({ id: "" });
    expect(await endpoint.read(BOT.applicationId, address)).toEqual({ id: "" });
  });

  test("change in place; another application's are others", async () => {
    const { applicationId: id } = BOT;
    expect(await commands.diff(id, LIST, LIST)).toEqual({ changes: false, replaces: [] });
    expect(await commands.diff(id, LIST, { ...LIST, commands: "[]" })).toEqual({
      changes: true,
      replaces: [],
    });
    expect(await endpoint.diff(id, address, address)).toEqual({ changes: false, replaces: [] });
    const replaced = { changes: true, replaces: ["applicationId"] };
    expect(await commands.diff(id, LIST, { ...LIST, applicationId: "2" })).toEqual(replaced);
    expect(await endpoint.diff(id, address, { ...address, applicationId: "2" })).toEqual(replaced);
  });

  test("stay if somebody has changed them since, or the bot is gone", async () => {
    await commands.create(LIST);
    const old = [{ type: 1, name: "old", description: "Of another program" }];
    discord.registry.change({ commands: old });
    await commands.delete(BOT.applicationId, LIST);
    expect(discord.registry.commands()).toMatchObject(old);
    discord.next({ status: 401 }, { status: 401 });
    await commands.delete(BOT.applicationId, LIST);
    await endpoint.delete(BOT.applicationId, address);
  });

  test("an address that does not answer Discord is refused, and so are another's key and a wrong token", async () => {
    const silent = await failure(endpoint.create({ ...address, url: discord.apiUrl }));
    expect(silent).toContain("interactions endpoint url could not be verified (");
    const foreign = await failure(endpoint.create({ ...address, publicKey: "0".repeat(64) }));
    expect(foreign).toContain("steward:discordPublicKey is not the key of");
    const wrong = await failure(commands.create({ ...LIST, botToken: `${BOT.botToken}x` }));
    expect(wrong).toContain("Discord refuses the bot token (discord_token_invalid)");
    expect(wrong).toContain("fix: Copy or reset the token on the Bot page");
    expect(wrong).not.toContain(BOT.botToken);
  });
});

describe("the manifest of a Slack app", () => {
  const { create, read, update, diff, delete: remove } = connected("channels:SlackApp");
  const APP = "A0123456789";
  const EXPIRED = "xoxe.xoxp-1-of-yesterday";
  const INPUTS = {
    appId: APP,
    configToken: "xoxe.xoxp-1-a-configuration-token",
    manifest: slackManifest("https://one.example.com"),
  };
  const slack = slackApps({ id: APP, configToken: INPUTS.configToken });
  let api: Listening;

  beforeAll(async () => {
    api = await listen(new Hono().route("/api", slack.routes), LOOPBACK);
    useEndpoints({ slack: `${api.url}/api/` });
  });
  afterAll(async () => {
    useEndpoints();
    await api?.close();
  });

  const address = () => JSON.stringify(slack.manifest()["settings"] ?? "");
  async function printed(action: () => Promise<unknown>): Promise<string> {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    try {
      await action();
      return write.mock.calls.map(([line]) => String(line)).join("");
    } finally {
      write.mockRestore();
    }
  }

  test("is set, and says if the app has to be installed again", async () => {
    const said = await printed(() => create(INPUTS));
    expect(said).toContain(`The permissions of Slack's app ${APP} have changed: reinstall it`);
    expect(address()).toContain("https://one.example.com/slack/events");
  });

  test("needs no new token while it stays as it is, also when it is read", async () => {
    const expired = { ...INPUTS, configToken: EXPIRED };
    expect(await diff(APP, INPUTS, expired)).toEqual({ changes: false, replaces: [] });
    const said = await printed(async () =>
      expect(await read(APP, expired)).toMatchObject({ inputs: expired }),
    );
    expect(said).toContain("the configuration token has expired");
    expect(said).not.toContain(EXPIRED);
  });

  test("another address with an expired token is refused with the fix", async () => {
    const moved = { ...INPUTS, manifest: slackManifest("https://two.example.com") };
    expect(await diff(APP, INPUTS, moved)).toEqual({ changes: true, replaces: [] });
    const said = await failure(update(APP, INPUTS, { ...moved, configToken: EXPIRED }));
    expect(said).toContain("Slack refuses the app configuration token (slack_config_token_invalid)");
    expect(said).toContain("pulumi config set -s <stack> --secret steward:slackConfigToken <token>");
    expect(said).not.toContain(EXPIRED);
    expect(address()).toContain("https://one.example.com/slack/events");

    await update(APP, INPUTS, moved);
    expect(address()).toContain("https://two.example.com/slack/events");
  });

  test("what somebody has changed is read, what Slack adds is not; the app stays when the stack goes", async () => {
    await update(APP, INPUTS, INPUTS);
    expect(await read(APP, INPUTS)).toMatchObject({ inputs: INPUTS });
    slack.edit({ settings: {} });
    const found = await read(APP, INPUTS);
    expect(found.inputs?.manifest).not.toBe(INPUTS.manifest);
    await update(APP, INPUTS, INPUTS);
    await remove(APP, INPUTS);
    expect(address()).toContain("https://one.example.com/slack/events");
  });
});
