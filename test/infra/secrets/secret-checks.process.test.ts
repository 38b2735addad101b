import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { Hono } from "hono";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { SecretChecks, type SecretCheckInputs } from "../../../infra/secrets/secret-checks.ts";
import { startDiscord } from "../../../rehearsal/standins/discord.ts";
import { startModel } from "../../../rehearsal/standins/model.ts";
import { listen, type Listening } from "../../../rehearsal/standins/serve.ts";
import { startSlack } from "../../../rehearsal/standins/slack.ts";
import { startTelegram } from "../../../rehearsal/standins/telegram.ts";
import { connected, useEndpoints } from "../../support/endpoints.ts";
import { registered } from "../../support/registered.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const RIGHT = {
  ANTHROPIC_API_KEY: "sk-ant-the-right-key-0123456789",
  OPENAI_API_KEY: "sk-the-right-key-of-openai-0123456789",
  SLACK_BOT_TOKEN: "xoxb-the-right-token-0123456789",
  TELEGRAM_BOT_TOKEN: "1234567890:abcdefghijklmnopqrstuvwxyz0123456",
  DISCORD_BOT_TOKEN: "the.right.token-of-discord-0123456789",
};
type Variable = keyof typeof RIGHT;

const { create, update, diff } = connected<SecretCheckInputs>("secrets:SecretCheck");

/**
 * Under the engine: test/stacks/secrets.engine.test.ts has an update that a wrong value stops, and
 * test/stacks/host-trouble.system.test.ts a first deployment.
 */
describe("a secret is tried at its platform", () => {
  const servers: Listening[] = [];
  let openaiStatus: 200 | 403 | 503;

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
    useEndpoints(endpoints);
  });

  beforeEach(() => void (openaiStatus = 200));

  afterAll(async () => {
    useEndpoints();
    await Promise.all(servers.map((server) => server.close()));
  });

  const inputs = (variable: Variable, value: string = RIGHT[variable]): SecretCheckInputs => ({
    variable,
    value,
  });
  const failure = (attempt: Promise<unknown>) =>
    attempt.then(
      () => "it was taken",
      (error: Error) => error.message,
    );

  test.each(Object.keys(RIGHT) as Variable[])(
    "the right %s is taken, at first and later",
    async (variable) => {
      const right = inputs(variable);
      expect(await create(right)).toEqual({ id: variable, outs: right });
      expect(await update(variable, inputs(variable, "former"), right)).toEqual({ outs: right });
    },
  );

  test("one that has not changed is not tried again", async () => {
    const right = inputs("OPENAI_API_KEY");
    expect(await diff("OPENAI_API_KEY", right, { ...right })).toEqual({ changes: false });
    expect(await diff("OPENAI_API_KEY", right, { ...right, value: "another" })).toEqual({ changes: true });
  });

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
  ])("a wrong %s fails the first deployment and every update, and is not in the error", async (...given) => {
    const [variable, wrong, reason] = given;
    const attempts = [
      create(inputs(variable, wrong)),
      update(variable, inputs(variable), inputs(variable, wrong)),
    ];
    for (const attempt of attempts) {
      const said = await failure(attempt);
      expect(said).toContain(`${reason} (secret_refused)\n  fix: `);
      expect(said).toContain("Set the right value with `pulumi config set -s <stack> --secret steward:");
      expect(said).not.toContain(wrong);
    }
  });

  test("while the platform is silent an update stops, and a first value goes out with a warning", async () => {
    openaiStatus = 503;
    const right = inputs("OPENAI_API_KEY");
    const former = inputs("OPENAI_API_KEY", "former");
    expect(await failure(update("OPENAI_API_KEY", former, right))).toContain(
      "The OpenAI endpoint did not answer for steward:openaiApiKey (secret_untried)",
    );

    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    await create(right);
    const printed = write.mock.calls.map(([text]) => String(text)).join("");
    write.mockRestore();
    expect(printed).toContain(
      "Warning: The OpenAI endpoint did not answer, so steward:openaiApiKey is deployed untested.",
    );
  });

  test("a key without the right to list models is taken", async () => {
    openaiStatus = 403;
    const right = inputs("OPENAI_API_KEY");
    expect(await update("OPENAI_API_KEY", inputs("OPENAI_API_KEY", "former"), right)).toEqual({
      outs: right,
    });
  });
});

describe("what is deployed with the secrets", () => {
  async function program(): Promise<Record<string, pulumi.Output<string>>> {
    const secrets = { ...RIGHT, SLACK_SIGNING_SECRET: "cannot-be-tried" };
    const values = Object.entries(secrets).map(([name, value]) => [name, pulumi.secret(value)] as const);
    const checks = new SecretChecks("secrets", { secrets: Object.fromEntries(values) });
    const service = new command.local.Command("service", { create: "echo deployed" }, { dependsOn: checks });
    return { service: service.id };
  }

  test("waits for a check of each but the signing secret, whose values are secrets", async () => {
    const resources = await registered(program);
    const checks = resources.filter(({ type }) => type.endsWith("SecretCheck"));
    expect(checks.map(({ inputs: { variable } }) => variable).sort()).toEqual(Object.keys(RIGHT).sort());
    expect(checks.map(({ inputs: { value } }) => value)).toEqual(checks.map(() => "[secret]"));
    const service = resources.find(({ name }) => name === "service");
    expect(service?.dependsOn.toSorted()).toEqual(checks.map(({ name }) => name).sort());
  });
});
