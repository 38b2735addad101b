import * as pulumi from "@pulumi/pulumi";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Registrations } from "../../../infra/channels/registrations.ts";
import type { Endpoints } from "../../../infra/shell/connection.ts";
import { DISCORD_COMMANDS } from "../../../runtime/contract/discord-commands.ts";
import { createDiscordKey } from "../../../rehearsal/standins/discord-key.ts";
import { startDiscord, type DiscordStandIn } from "../../../rehearsal/standins/discord.ts";
import { listen, type Listening } from "../../../rehearsal/standins/serve.ts";
import { slackApps } from "../../../rehearsal/standins/slack-apps.ts";
import { startTelegram, type TelegramStandIn } from "../../../rehearsal/standins/telegram.ts";
import { fixFor, stackShell, typeFix } from "../../journeys/typed.ts";
import { edgeFixture } from "../../support/edge.ts";
import { createTestStack, ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../../support/stack.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const TELEGRAM_TOKEN = "1234567890:abcdefghijklmnopqrstuvwxyz0123456";
const DISCORD_TOKEN = "a-bot-token-of-discord-0123456789";
const SECRET = "the_secret-that-telegram-repeats";
const APPLICATION = "1000000000000000001";
const SLACK_APP = "A0123456789";
const SLACK_TOKEN = "xoxe.xoxp-1-a-configuration-token";
const EXPIRED = "xoxe.xoxp-1-an-expired-token";

describe("what the platforms are told, under the real engine", () => {
  let telegram: TelegramStandIn;
  let discord: DiscordStandIn;
  const slack = slackApps({ id: SLACK_APP, configToken: SLACK_TOKEN });
  let slackApi: Listening;
  let service: Listening;
  let subject: TestStack;
  let endpoints: Endpoints;
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
    slackApi = await listen(new Hono().route("/api", slack.routes), LOOPBACK);
    const { app } = edgeFixture({ discordPublicKey: key.publicKey, clock: Date.now });
    service = await listen(new Hono().route("/", app), LOOPBACK);
    args = {
      url: service.url,
      telegramToken: TELEGRAM_TOKEN,
      discordToken: DISCORD_TOKEN,
      publicKey: key.publicKey,
    };
    endpoints = { telegram: telegram.url, discord: discord.apiUrl, slack: `${slackApi.url}/api/` };
    const config = {
      "steward:slackConfigToken": { value: SLACK_TOKEN, secret: true },
    };
    subject = await createTestStack({ program, config });
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    await Promise.all([telegram, discord, slackApi, service].map((server) => server?.close()));
  }, UPDATE_MS);

  async function program(): Promise<Record<string, pulumi.Output<string>>> {
    const registrations = new Registrations("channels", {
      url: args.url,
      slack: {
        appId: SLACK_APP,
        configToken: new pulumi.Config("steward").requireSecret("slackConfigToken"),
      },
      telegram: {
        botToken: pulumi.secret(args.telegramToken),
        secretToken: pulumi.secret(SECRET),
      },
      discord: {
        botToken: pulumi.secret(args.discordToken),
        applicationId: APPLICATION,
        publicKey: args.publicKey,
      },
      connection: { endpoints },
    });
    return { report: registrations.report };
  }

  const slackAddress = () => JSON.stringify(slack.manifest()["settings"] ?? "");

  test(
    "a preview tells them nothing, an update all of it, and no secret is in the plain state",
    async () => {
      await subject.stack.preview();
      expect(telegram.updates.webhook).toBeUndefined();
      expect(discord.registry.commands()).toEqual([]);
      expect(slack.manifest()).toEqual({});

      const { outputs, stdout } = await subject.stack.up();

      expect(telegram.updates.webhook).toMatchObject({
        url: `${service.url}/telegram-webhook`,
        secret: SECRET,
      });
      expect(discord.registry.endpoint()).toBe(`${service.url}/discord/interactions`);
      const names = (list: readonly object[]) => list.map((one) => ("name" in one ? one.name : "")).sort();
      expect(names(discord.registry.commands())).toEqual(names(DISCORD_COMMANDS));
      expect(slackAddress()).toContain(`${service.url}/slack/events`);
      expect(outputs["report"]?.value.split("\n")).toEqual([
        `Slack's app ${SLACK_APP} sends to ${service.url}/slack/events`,
        `Telegram's webhook is ${service.url}/telegram-webhook`,
        "Discord offers the commands",
        `Discord's interactions endpoint is ${service.url}/discord/interactions`,
      ]);
      expect(stdout).toContain(`The permissions of Slack's app ${SLACK_APP} have changed: reinstall it`);
      const state = await stateText(subject);
      const secrets = [TELEGRAM_TOKEN, DISCORD_TOKEN, SECRET, SLACK_TOKEN];
      expect(secrets.filter((secret) => state.includes(secret))).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "an unchanged second update asks for nothing, also after a refresh",
    async () => {
      const { summary } = await subject.stack.up({ refresh: true });
      expect(Object.keys(summary.resourceChanges ?? {})).toEqual(["same"]);
      expect(telegram.calls.filter(({ method }) => method === "setWebhook")).toHaveLength(1);
    },
    UPDATE_MS,
  );

  test(
    "what somebody has changed or removed by hand is found by a refresh, and put right at another address",
    async () => {
      telegram.updates.setWebhook({ url: "https://elsewhere.example.com/hook", secret: "" }, false);
      slack.edit({ settings: {} });
      discord.registry.change({ commands: [], endpoint: null });

      const refreshed = await subject.stack.refresh();
      expect(refreshed.summary.resourceChanges).toMatchObject({ update: 2, delete: 2 });
      args = { ...args, url: service.url.replace("127.0.0.1", "localhost") };
      const { summary } = await subject.stack.up();

      expect(summary.resourceChanges).toMatchObject({ update: 2, create: 2 });
      expect(telegram.updates.webhook).toMatchObject({ url: `${args.url}/telegram-webhook`, secret: SECRET });
      expect(discord.registry.commands()).toHaveLength(DISCORD_COMMANDS.length);
      expect(discord.registry.endpoint()).toBe(`${args.url}/discord/interactions`);
      expect(slackAddress()).toContain(`${args.url}/slack/events`);
    },
    UPDATE_MS,
  );

  test(
    "a wrong token stops the update with the fix, and is not in the error",
    async () => {
      const right = args;
      args = { ...right, telegramToken: `${TELEGRAM_TOKEN}x`, url: service.url };
      await subject.stack.setConfig("steward:slackConfigToken", { value: EXPIRED, secret: true });
      const said = await subject.stack
        .up({ continueOnError: true })
        .then(() => "the update went through", String);
      args = { ...right, url: service.url };

      expect(said).toContain("Telegram refuses the bot token (telegram_token_invalid)");
      expect(said).toContain("fix: Copy the token from @BotFather");
      expect(said).not.toMatch(/abcdefghijklmnop|an-expired-token/);
      const fill = (line: string) => line.replace("<token>", SLACK_TOKEN);
      await typeFix(
        await stackShell(subject, "slack-token"),
        fixFor("slack_config_token_invalid", said),
        fill,
      );
      await subject.stack.up();
      expect(slackAddress()).toContain(`${service.url}/slack/events`);
    },
    UPDATE_MS,
  );

  test(
    "destroying takes back what is still this stack's, and leaves the rest; a bot that is gone does not stop it",
    async () => {
      const foreign = { url: "https://elsewhere.example.com/hook", secret: "" };
      telegram.updates.setWebhook(foreign, false);
      discord.next({ status: 401 });
      await subject.stack.destroy();

      expect(telegram.updates.webhook).toEqual(foreign);
      const { deployment } = await subject.stack.exportStack();
      expect(deployment.resources ?? []).toEqual([]);
    },
    UPDATE_MS,
  );
});
