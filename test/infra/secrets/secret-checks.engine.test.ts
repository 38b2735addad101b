import { createRequire } from "node:module";
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDiscord } from "../../../rehearsal/standins/discord.ts";
import { startModel } from "../../../rehearsal/standins/model.ts";
import { listen, type Listening } from "../../../rehearsal/standins/serve.ts";
import { startSlack } from "../../../rehearsal/standins/slack.ts";
import { startTelegram } from "../../../rehearsal/standins/telegram.ts";
import { createTestStack, ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../../support/stack.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const RIGHT = {
  ANTHROPIC_API_KEY: "sk-ant-the-right-key-0123456789",
  OPENAI_API_KEY: "sk-the-right-key-of-openai-0123456789",
  SLACK_BOT_TOKEN: "xoxb-the-right-token-0123456789",
  TELEGRAM_BOT_TOKEN: "1234567890:abcdefghijklmnopqrstuvwxyz0123456",
  DISCORD_BOT_TOKEN: "the.right.token-of-discord-0123456789",
};
type Variable = keyof typeof RIGHT;

// As Node itself loads it: what the test runner makes of a module cannot be serialised into the state.
const { SecretChecks } = createRequire(import.meta.url)(
  "../../../infra/secrets/secret-checks.ts",
) as typeof import("../../../infra/secrets/secret-checks.ts");

describe("secrets are tried before what uses them is deployed, under the real engine", () => {
  const servers: Listening[] = [];
  /** What the openai endpoint was asked. */
  let asked = 0;
  let openaiStatus: 200 | 403 | 503 = 200;
  let subject: TestStack;
  let secrets: Record<string, string> = RIGHT;

  beforeAll(async () => {
    const slack = await startSlack({
      ...LOOPBACK,
      botToken: RIGHT.SLACK_BOT_TOKEN,
      signingSecret: "signing-0123456789",
    });
    const telegram = await startTelegram({ ...LOOPBACK, botToken: RIGHT.TELEGRAM_BOT_TOKEN });
    const discord = await startDiscord({
      ...LOOPBACK,
      botToken: RIGHT.DISCORD_BOT_TOKEN,
      applicationId: "1000000000000000001",
    });
    const model = await startModel({ ...LOOPBACK, apiKey: RIGHT.ANTHROPIC_API_KEY });
    const app = new Hono().get("/v1/models", (context) => {
      asked += 1;
      const right = context.req.header("authorization")?.startsWith(`Bearer ${RIGHT.OPENAI_API_KEY}`);
      return context.json({}, right ? openaiStatus : 401);
    });
    const openai = await listen(app, LOOPBACK);
    servers.push(slack, telegram, discord, model, openai);
    const endpoints = {
      slack: slack.apiUrl,
      telegram: telegram.url,
      discord: discord.apiUrl,
      anthropic: model.url,
      openai: `${openai.url}/v1/`,
    };
    subject = await createTestStack({
      program,
      config: { "steward:endpoints": { value: JSON.stringify(endpoints) } },
    });
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    await Promise.all(servers.map((server) => server.close()));
  }, UPDATE_MS);

  async function program(): Promise<Record<string, pulumi.Output<string>>> {
    const values = Object.entries(secrets).map(([name, value]) => [name, pulumi.secret(value)] as const);
    const checks = new SecretChecks("secrets", { secrets: Object.fromEntries(values) });
    // Stands for what is deployed with the secrets.
    const create = "echo deployed";
    const service = new command.local.Command(
      "service",
      { create, triggers: [pulumi.secret(secrets)] },
      { dependsOn: checks },
    );
    return { service: service.id };
  }

  const failure = () =>
    subject.stack.up().then(() => {
      throw new Error("the update went through");
    }, String);

  async function deployed(): Promise<string[]> {
    const { deployment } = await subject.stack.exportStack();
    const resources: { type: string; urn: string }[] = deployment.resources ?? [];
    return resources.filter(({ type }) => type === "command:local:Command").map(({ urn }) => urn);
  }

  test(
    "a first deployment stops at a wrong value before it begins",
    async () => {
      secrets = { ...RIGHT, SLACK_BOT_TOKEN: "xoxb-wrong" };

      expect(await failure()).toContain("Slack refuses the value of steward:slackBotToken (secret_refused)");
      expect(await deployed()).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "right values go through, are tried once, and are nowhere in the plain state",
    async () => {
      secrets = { ...RIGHT, SLACK_SIGNING_SECRET: "cannot-be-tried" };
      await subject.stack.up();
      const before = asked;
      const { summary } = await subject.stack.up({ refresh: true });

      // The stack, its providers and components, what is deployed, and a check for all but the signing secret.
      expect(summary.resourceChanges).toEqual({ same: 8 });
      expect(before).toBe(1);
      expect(asked).toBe(before);
      const state = await stateText(subject);
      expect(Object.values(RIGHT).filter((value) => state.includes(value))).toEqual([]);
    },
    UPDATE_MS,
  );

  test.each<[Variable, string, string]>([
    [
      "ANTHROPIC_API_KEY",
      "sk-ant-wrong-0123456789",
      "Anthropic refuses the value of steward:anthropicApiKey",
    ],
    [
      "OPENAI_API_KEY",
      "sk-wrong-0123456789",
      "The OpenAI endpoint refuses the value of steward:openaiApiKey",
    ],
    ["SLACK_BOT_TOKEN", "xoxb-wrong-0123456789", "Slack refuses the value of steward:slackBotToken"],
    [
      "TELEGRAM_BOT_TOKEN",
      "99:wrong-token-0123456789",
      "Telegram refuses the value of steward:telegramBotToken",
    ],
    ["DISCORD_BOT_TOKEN", "wrong-token-0123456789", "Discord refuses the value of steward:discordBotToken"],
  ])(
    "an update with a wrong %s fails, and leaves alone what serves",
    async (variable, wrong, reason) => {
      secrets = { ...RIGHT, [variable]: wrong };
      const before = await subject.stack.exportStack();
      const said = await failure();
      secrets = RIGHT;

      expect(said).toContain(`${reason} (secret_refused). The platform does not take the value.`);
      expect(said).toContain("Fix: Set the right value with `pulumi config set --secret");
      expect(said).not.toContain(wrong);
      expect(serviceOf(await subject.stack.exportStack())).toEqual(serviceOf(before));
    },
    UPDATE_MS,
  );

  test(
    "an update stops while the platform is silent; a key without the right to list models is none that is refused",
    async () => {
      secrets = { ...RIGHT, OPENAI_API_KEY: `${RIGHT.OPENAI_API_KEY}-renewed` };
      openaiStatus = 503;
      expect(await failure()).toContain(
        "The OpenAI endpoint did not answer for steward:openaiApiKey (secret_untried).",
      );
      openaiStatus = 403;
      expect((await subject.stack.up()).summary.resourceChanges).toMatchObject({ update: 1, replace: 1 });
    },
    UPDATE_MS,
  );

  test(
    "a first value goes out with a warning while the platform is silent",
    async () => {
      secrets = { ANTHROPIC_API_KEY: RIGHT.ANTHROPIC_API_KEY };
      await subject.stack.up();
      openaiStatus = 503;
      secrets = RIGHT;
      const { stdout } = await subject.stack.up();

      expect(stdout).toContain(
        "Warning: The OpenAI endpoint did not answer, so steward:openaiApiKey goes out untried.",
      );
    },
    UPDATE_MS,
  );
});

interface Exported {
  deployment: { resources?: { type: string }[] };
}

/** What stands for the service, as the state has it. */
function serviceOf({ deployment }: Exported): unknown {
  return deployment.resources?.find(({ type }) => type === "command:local:Command");
}
