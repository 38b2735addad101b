import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DISCORD_COMMANDS } from "../../../runtime/contract/discord-commands.ts";
import { createDiscordKey } from "../../../rehearsal/standins/discord-key.ts";
import { startDiscord, type DiscordStandIn } from "../../../rehearsal/standins/discord.ts";
import { listen, type Listening } from "../../../rehearsal/standins/serve.ts";
import { startTelegram, type TelegramStandIn } from "../../../rehearsal/standins/telegram.ts";
import { edgeFixture } from "../../support/edge.ts";
import { createTestStack, ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../../support/stack.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const TELEGRAM_TOKEN = "1234567890:abcdefghijklmnopqrstuvwxyz0123456";
const DISCORD_TOKEN = "a-bot-token-of-discord-0123456789";
const SECRET = "the_secret-that-telegram-repeats";
const APPLICATION = "1000000000000000001";

// As Node itself loads it: what the test runner makes of a module cannot be serialised into the state.
const { Registrations } = createRequire(import.meta.url)(
  "../../../infra/channels/registrations.ts",
) as typeof import("../../../infra/channels/registrations.ts");

describe("what the platforms are told, under the real engine", () => {
  let telegram: TelegramStandIn;
  let discord: DiscordStandIn;
  let service: Listening;
  let subject: TestStack;
  /** What the program deploys; tests change it. */
  let args: { url: string; telegramToken: string; discordToken: string; publicKey: string };

  beforeAll(async () => {
    const key = createDiscordKey();
    telegram = await startTelegram({ ...LOOPBACK, botToken: TELEGRAM_TOKEN });
    discord = await startDiscord({
      ...LOOPBACK,
      botToken: DISCORD_TOKEN,
      applicationId: APPLICATION,
      key,
    });
    const { app } = edgeFixture({ discordPublicKey: key.publicKey, clock: Date.now });
    service = await listen(new Hono().route("/", app), LOOPBACK);
    args = {
      url: service.url,
      telegramToken: TELEGRAM_TOKEN,
      discordToken: DISCORD_TOKEN,
      publicKey: key.publicKey,
    };
    const endpoints = JSON.stringify({ telegram: telegram.url, discord: discord.apiUrl });
    const config = { "steward:endpoints": { value: endpoints } };
    subject = await createTestStack({ program, config });
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    await Promise.all([telegram, discord, service].map((server) => server?.close()));
  }, UPDATE_MS);

  async function program(): Promise<Record<string, pulumi.Output<string>>> {
    const registrations = new Registrations("channels", {
      url: args.url,
      telegram: {
        botToken: pulumi.secret(args.telegramToken),
        secretToken: pulumi.secret(SECRET),
      },
      discord: {
        botToken: pulumi.secret(args.discordToken),
        applicationId: APPLICATION,
        publicKey: args.publicKey,
      },
    });
    return { report: registrations.report };
  }

  const setCalls = () => telegram.calls.filter(({ method }) => method === "setWebhook");

  /** The failure of an update, without which the test fails. */
  const failure = () =>
    subject.stack.up().then(() => {
      throw new Error("the update went through");
    }, String);

  test(
    "a preview tells them nothing, an update all of it",
    async () => {
      await subject.stack.preview();
      expect(telegram.updates.webhook).toBeUndefined();
      expect(discord.registry.commands()).toEqual([]);

      const { outputs } = await subject.stack.up();

      expect(telegram.updates.webhook).toEqual({ url: `${service.url}/telegram-webhook`, secret: SECRET });
      expect(setCalls().at(-1)?.parameters).toMatchObject({
        allowed_updates: ["message"],
        drop_pending_updates: false,
      });
      expect(discord.registry.endpoint()).toBe(`${service.url}/discord/interactions`);
      const names = (list: readonly object[]) => list.map((one) => ("name" in one ? one.name : "")).sort();
      expect(names(discord.registry.commands())).toEqual(names(DISCORD_COMMANDS));
      expect(outputs["report"]?.value.split("\n")).toHaveLength(3);
    },
    UPDATE_MS,
  );

  test(
    "no secret is in the plain state",
    async () => {
      const state = await stateText(subject);
      expect([TELEGRAM_TOKEN, DISCORD_TOKEN, SECRET].filter((secret) => state.includes(secret))).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "an unchanged second update asks for nothing, also after a refresh",
    async () => {
      const before = setCalls().length;
      const { summary } = await subject.stack.up({ refresh: true });

      expect(Object.keys(summary.resourceChanges ?? {})).toEqual(["same"]);
      expect(setCalls()).toHaveLength(before);
    },
    UPDATE_MS,
  );

  test(
    "another address is told in place",
    async () => {
      args = { ...args, url: service.url.replace("127.0.0.1", "localhost") };
      const { summary } = await subject.stack.up();

      expect(summary.resourceChanges).toMatchObject({ update: 2 });
      expect(telegram.updates.webhook?.url).toBe(`${args.url}/telegram-webhook`);
      expect(discord.registry.endpoint()).toBe(`${args.url}/discord/interactions`);
    },
    UPDATE_MS,
  );

  test(
    "what someone has changed by hand is found by a refresh, and put right by the next update",
    async () => {
      telegram.updates.setWebhook({ url: "https://elsewhere.example.com/hook", secret: "" }, false);
      discord.registry.change({ commands: [{ type: 1, name: "old", description: "Of another program" }] });

      await subject.stack.refresh();
      expect((await subject.stack.preview()).changeSummary).toMatchObject({ update: 2 });
      await subject.stack.up();

      expect(telegram.updates.webhook).toEqual({ url: `${args.url}/telegram-webhook`, secret: SECRET });
      expect(discord.registry.commands()).toHaveLength(DISCORD_COMMANDS.length);
    },
    UPDATE_MS,
  );

  test(
    "what someone has removed by hand is made again",
    async () => {
      telegram.updates.setWebhook(undefined, false);
      discord.registry.change({ commands: [], endpoint: null });

      const { summary } = await subject.stack.up({ refresh: true });

      expect(summary.resourceChanges).toMatchObject({ create: 3 });
      expect(telegram.updates.webhook?.url).toBe(`${args.url}/telegram-webhook`);
      expect(discord.registry.endpoint()).toBe(`${args.url}/discord/interactions`);
    },
    UPDATE_MS,
  );

  test(
    "a wrong token stops the update with the fix, and is not in the error",
    async () => {
      const right = args;
      args = { ...right, telegramToken: `${TELEGRAM_TOKEN}x`, url: service.url };
      const telegramFailure = await failure();
      args = { ...right, discordToken: `${DISCORD_TOKEN}x` };
      const discordFailure = await failure();
      args = right;

      expect(telegramFailure).toContain("Telegram refuses the bot token (telegram_token_invalid)");
      expect(telegramFailure).toContain("Fix: Copy the token from @BotFather");
      expect(discordFailure).toContain("Discord refuses the bot token (discord_token_invalid)");
      expect(discordFailure).toContain("Fix: Copy or reset the token on the Bot page");
      expect(`${telegramFailure}${discordFailure}`).not.toMatch(/abcdefghijklmnop|a-bot-token-of/);
    },
    UPDATE_MS,
  );

  test(
    "an address that does not answer Discord is refused, and so is another application's key",
    async () => {
      const right = args;
      args = { ...right, url: telegram.url };
      expect(await failure()).toContain("interactions endpoint url could not be verified (");
      args = { ...right, publicKey: "0".repeat(64) };
      expect(await failure()).toContain("steward:discordPublicKey is not the key of");
      args = right;
      await subject.stack.up();
      expect(discord.registry.endpoint()).toBe(`${args.url}/discord/interactions`);
    },
    UPDATE_MS,
  );

  test(
    "a platform that does not answer is named, without its address",
    async () => {
      const right = args;
      telegram.fail("setWebhook", { status: 502, description: "Bad Gateway" });
      args = { ...right, url: service.url };
      expect(await failure()).toContain("Telegram did not answer setWebhook (registration_unreachable)");
      args = right;
      await subject.stack.up();
    },
    UPDATE_MS,
  );

  test(
    "destroying takes back what is still this stack's, and leaves the rest",
    async () => {
      const foreign = { url: "https://elsewhere.example.com/hook", secret: "" };
      telegram.updates.setWebhook(foreign, false);
      await subject.stack.destroy();

      expect(telegram.updates.webhook).toEqual(foreign);
      expect(discord.registry.commands()).toEqual([]);
      expect(discord.registry.endpoint()).toBeNull();

      telegram.updates.setWebhook(undefined, false);
      await subject.stack.up();
      await subject.stack.destroy();
      expect(telegram.updates.webhook).toBeUndefined();
    },
    UPDATE_MS,
  );

  test(
    "a bot that is gone does not keep the stack from being destroyed",
    async () => {
      await subject.stack.up();
      telegram.fail("getWebhookInfo", { status: 401, description: "Unauthorized" });
      discord.next({ status: 401 }, { status: 401 });

      await subject.stack.destroy();

      const { deployment } = await subject.stack.exportStack();
      expect(deployment.resources ?? []).toEqual([]);
    },
    UPDATE_MS,
  );
});
