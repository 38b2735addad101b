import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { commandsFor } from "../../infra/shell/package.ts";
import { judgeConfigText, runningConfigProblem } from "../../infra/gateway/running-config.ts";

const RUNTIME = {
  variables: { OPENAI_BASE_URL: "https://proxy.example/v1" },
  secrets: { OPENAI_API_KEY: pulumi.secret("sk-0123"), SLACK_BOT_TOKEN: pulumi.secret("xoxb-0123") },
};

test("a config that names what is set, each key at its place, is no problem", () => {
  const slack = { path: "channels.slack.botToken", name: "SLACK_BOT_TOKEN" };
  const openai = {
    path: "models.providers.openai.apiKey",
    name: "OPENAI_API_KEY",
    baseUrl: "https://proxy.example/v1/",
  };
  const config = { references: [slack, openai], problems: [] };
  expect(runningConfigProblem(config, RUNTIME, commandsFor("dev"))).toBeUndefined();
});

test("missing variables and misplaced keys are in one report, each with its fix", () => {
  const problem = runningConfigProblem(
    {
      problems: [{ path: "agent.model", message: "Is told once the variables are there" }],
      references: [
        { path: "channels.discord.token", name: "DISCORD_BOT_TOKEN" },
        { path: "tools.mcp.own.env.TOKEN", name: "SLACK_BOT_TOKEN" },
        { path: "models.providers.a.apiKey", name: "OPENAI_API_KEY", baseUrl: "https://other.example/v1" },
      ],
    },
    RUNTIME,
    commandsFor("dev"),
  );
  expect(problem?.detail).toBe(
    "The running config refers to variables that this deployment does not set: channels.discord.token names DISCORD_BOT_TOKEN. " +
      "tools.mcp.own.env.TOKEN: SLACK_BOT_TOKEN is only sent to its own service: store another service's key " +
      "under another name, with steward:secrets. " +
      "models.providers.a.apiKey: OPENAI_API_KEY is only sent to https://proxy.example/v1: store another service's " +
      "key under another name, with steward:secrets. (config_variables_missing)",
  );
  expect(problem?.fix).toContain("pulumi config set -s dev --secret steward:discordBotToken <value>");
  expect(problem?.fix).toContain("pulumi config set -s dev --path --secret steward:secrets.<NAME> <value>");
});

test.each([
  ["an unknown key", '{"agent":{"modell":"anthropic/a"}}', /agent: .*modell/],
  ["a key that stands there twice", '{"agent":{},"agent":{}}', /agent.* twice/],
  ["no JSON", '{"agent":', /Not valid JSON/],
])("a running config with %s is reported with the place and the repair", async (_, text, told) => {
  const problem = await judgeConfigText(text, RUNTIME, commandsFor("dev"));
  expect(problem).toMatchObject({
    code: "running_config_invalid",
    detail: expect.stringMatching(told) as string,
    fix: expect.stringContaining("/_admin/config") as string,
  });
});

test("the report of a problem does not print a token that is written in the config", async () => {
  const text = JSON.stringify({
    channels: { discord: { token: "the-token-of-somebody-0123456789", oops: 1 } },
  });
  const problem = await judgeConfigText(text, RUNTIME, commandsFor("dev"));
  expect(problem?.detail).toContain("oops");
  expect(problem?.detail).not.toContain("the-token-of-somebody");
});

test("a running config that is valid with what is deployed is no problem", async () => {
  const text = JSON.stringify({ channels: { slack: { botToken: { env: "SLACK_BOT_TOKEN" } } } });
  const runtime = {
    ...RUNTIME,
    secrets: { ...RUNTIME.secrets, SLACK_SIGNING_SECRET: pulumi.secret("0123") },
  };
  expect(await judgeConfigText(text, runtime, commandsFor("dev"))).toBeUndefined();
});
