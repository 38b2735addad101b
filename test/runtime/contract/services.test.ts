import { describe, expect, it, test } from "vitest";
import { readConfigText } from "../../../runtime/contract/config/text.ts";
import { BROKER_VARIABLE, serviceAddress, withPasses } from "../../../runtime/contract/services.ts";

const KEYS = {
  ANTHROPIC_API_KEY: "sk-ant-0123456789",
  OPENAI_API_KEY: "sk-0123456789",
  SLACK_BOT_TOKEN: "xoxb-0123456789",
  SLACK_SIGNING_SECRET: "signing-0123456789",
  TELEGRAM_BOT_TOKEN: "123456789:AA-0123456789",
  TELEGRAM_WEBHOOK_SECRET: "webhook-0123456789",
  DISCORD_BOT_TOKEN: "discord-0123456789",
  STEWARD_OWN_SECRETS: "OWN_KEY",
  OWN_KEY: "own-0123456789",
};
const BROKER = "http://127.0.0.1:8080/broker";

test("a gateway with a broker has passes in place of keys, and the operator's own secrets", () => {
  const environment = withPasses({ ...KEYS, [BROKER_VARIABLE]: BROKER }, "pass");
  expect(environment).toEqual({
    ANTHROPIC_API_KEY: "pass",
    OPENAI_API_KEY: "pass",
    SLACK_BOT_TOKEN: "pass",
    SLACK_SIGNING_SECRET: "pass",
    // The bot knows its own id by it.
    TELEGRAM_BOT_TOKEN: "123456789:pass",
    TELEGRAM_WEBHOOK_SECRET: "pass",
    DISCORD_BOT_TOKEN: "pass",
    STEWARD_OWN_SECRETS: "OWN_KEY",
    OWN_KEY: KEYS.OWN_KEY,
    [BROKER_VARIABLE]: BROKER,
  });
});

test("one without a broker keeps its keys", () => {
  expect(withPasses(KEYS, "pass")).toEqual(KEYS);
});

test("a pass is taken to the broker, a key that the config holds itself to the service", () => {
  const environment = withPasses({ ...KEYS, [BROKER_VARIABLE]: BROKER }, "pass");
  expect(serviceAddress("slack", "pass", environment)).toBe(`${BROKER}/slack`);
  expect(serviceAddress("slack", "xoxb-in-the-config", environment)).toBe("https://slack.com/api");
  expect(serviceAddress("slack", "", { [BROKER_VARIABLE]: BROKER, SLACK_BOT_TOKEN: "" })).toBe(
    "https://slack.com/api",
  );
  const elsewhere = { ...KEYS, ANTHROPIC_BASE_URL: "http://127.0.0.1:1/v1/" };
  expect(serviceAddress("anthropic", KEYS.ANTHROPIC_API_KEY, elsewhere)).toBe("http://127.0.0.1:1");
});

describe("a key that the deployment has for a service, in a config", () => {
  const problems = (config: object, environment = {}) => {
    const { result } = readConfigText(JSON.stringify(config), { ...KEYS, ...environment });
    return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  const openai = (baseUrl: string) => ({
    models: { providers: { other: { baseUrl, apiKey: { env: "OPENAI_API_KEY" } } } },
  });

  const transcription = (baseUrl: string) => ({
    models: { transcription: { baseUrl, model: "whisper-1", apiKey: { env: "OPENAI_API_KEY" } } },
  });

  it("stands in its own place", () => {
    const telegram = {
      botToken: { env: "TELEGRAM_BOT_TOKEN" },
      webhookUrl: "https://bot.example/telegram-webhook",
      webhookSecret: { env: "TELEGRAM_WEBHOOK_SECRET" },
    };
    expect(problems({ channels: { telegram }, ...openai("https://api.openai.com/v1/") })).toEqual([]);
    const address = "https://proxy.example/v1";
    expect(problems(openai(address), { OPENAI_BASE_URL: address })).toEqual([]);
    expect(problems(transcription("https://api.openai.com/v1"))).toEqual([]);
  });

  it.each([
    [
      "an MCP server's variable",
      { tools: { mcp: { own: { command: "x", env: { KEY: { env: "SLACK_BOT_TOKEN" } } } } } },
      "tools.mcp.own.env.KEY: SLACK_BOT_TOKEN is only sent to its own service",
    ],
    [
      "an MCP server's header",
      { tools: { mcp: { own: { url: "https://x.example", headers: { a: { env: "ANTHROPIC_API_KEY" } } } } } },
      "tools.mcp.own.headers.a: ANTHROPIC_API_KEY is only sent to its own service",
    ],
    [
      "another channel",
      { channels: { slack: { botToken: { env: "DISCORD_BOT_TOKEN" } } } },
      "channels.slack.botToken: DISCORD_BOT_TOKEN is only sent to its own service",
    ],
    [
      "another provider",
      openai("https://attacker.example/v1"),
      "models.providers.other.apiKey: OPENAI_API_KEY is only sent to https://api.openai.com/v1",
    ],
    [
      "a server that transcribes",
      transcription("https://attacker.example/v1"),
      "models.transcription.apiKey: OPENAI_API_KEY is only sent to https://api.openai.com/v1",
    ],
  ])("is refused at %s", (_, config, problem) => {
    expect(problems(config)).toEqual([
      `${problem}: store another service's key under another name, with steward:secrets`,
    ]);
  });
});
