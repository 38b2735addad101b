import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { configJsonSchema } from "../../../runtime/contract/config/json-schema.ts";

const slack = { botToken: { env: "A" }, signingSecret: { env: "B" } };

test.each([
  [{}, true],
  [{ channels: { slack } }, true],
  [{ channels: { slack: { ...slack, allowFrom: ["*"], dmPolicy: "open" } } }, true],
  [{ models: { primary: "openai/x", providers: { openai: { baseUrl: "https://a.example/v1" } } } }, true],
  [{ channels: { slack: { ...slack, dm: {} } } }, false],
  [{ channels: { slack: {} } }, false],
  [{ channels: { slack: { ...slack, botToken: { env: "lower" } } } }, false],
  [
    {
      models: {
        transcription: { baseUrl: "https://a.example/v1", model: "whisper-1", apiKey: { env: "K" } },
      },
    },
    true,
  ],
  [{ models: { transcription: { baseUrl: "https://a.example/v1" } } }, false],
  [{ models: { primary: "gpt" } }, false],
  [{ extra: 1 }, false],
])("the JSON Schema agrees with the check: %j", (config, valid) => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(configJsonSchema());
  expect(validate(config)).toBe(valid);
  expect(checkConfig(config).ok).toBe(valid);
});

const chat = { platform: "slack", chat: "C024BE91L" };
const NO_CHAT = "is not a chat id: Slack's chat ids look like C024BE91L";
const NOT_GUESTS =
  '"guest" cannot have this, because it means everyone whom "*" admits. List people by id instead';

test.each<[object, string[]]>([
  [{ channels: { slack: { ...slack, channels: { C1: { sendElsewhere: [chat] } } } } }, []],
  [{ schedules: { s: { every: "1h", prompt: "hi", to: chat, sendElsewhere: [chat] } } }, []],
  [{ agent: { heartbeat: { every: "1h", to: chat, sendElsewhere: [{ ...chat, thread: "1.2" }] } } }, []],
  [
    {
      channels: { slack: { ...slack, channels: { C1: { sendElsewhere: [{ ...chat, chat: "general" }] } } } },
    },
    [`channels.slack.channels.C1.sendElsewhere.0.chat: "general" ${NO_CHAT}`],
  ],
  [
    { schedules: { s: { every: "1h", prompt: "hi", to: chat, sendElsewhere: [{ ...chat, chat: "*" }] } } },
    [`schedules.s.sendElsewhere.0.chat: "*" ${NO_CHAT}`],
  ],
  [
    {
      agent: { heartbeat: { every: "1h", to: chat, sendElsewhere: [{ platform: "telegram", chat: "C1" }] } },
    },
    [
      'agent.heartbeat.sendElsewhere.0.chat: "C1" is not a chat id: Telegram\'s chat ids are numbers, such as -1001234567890',
    ],
  ],
  [{ agent: { may: { writeWorkspace: ["guest"] } } }, [`agent.may.writeWorkspace: ${NOT_GUESTS}`]],
  [{ agent: { may: { seeDeployment: ["operator", "guest"] } } }, [`agent.may.seeDeployment: ${NOT_GUESTS}`]],
  [{ agent: { may: { useMcp: ["operator", "person", "group", "guest"] } } }, []],
])("who may what, and where messages may go: %j", (config, problems) => {
  const result = checkConfig(config);
  expect(result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`)).toEqual(
    problems,
  );
});

test("all problems come in one report: rules over several keys beside unknown ones", () => {
  const result = checkConfig({
    channels: { slack: { ...slack, dmPolicy: "open", dm: {}, historyLimit: "x" } },
    tools: { mcp: { a: { y: 1 } } },
    schedules: { s: {} },
    models: { primary: "foo/bar", z: 1 },
  });
  if (result.ok) throw new Error("accepted");
  expect(result.problems.map(({ path, message }) => `${path}: ${message}`).toSorted()).toEqual([
    'channels.slack.allowFrom: dmPolicy "open" requires allowFrom to include "*"',
    "channels.slack.historyLimit: Invalid input: expected number, received string",
    'channels.slack: Unrecognized key: "dm" (deprecated: use channels.slack.dmPolicy and allowFrom)',
    'models.primary: no provider "foo": add models.providers.foo',
    'models: Unrecognized key: "z"',
    "schedules.s.to: Invalid input: expected object, received undefined",
    "schedules.s: needs exactly one of at, every, cron",
    "schedules.s: needs exactly one of text, prompt",
    'tools.mcp.a: Unrecognized key: "y"',
    "tools.mcp.a: needs exactly one of command, url",
  ]);
});

test.each(["daily", "0 9 * *", "0 0 9 * * *", ""])(
  "the cron expression %j is refused with the form it needs",
  (cron) => {
    const to = { platform: "slack", chat: "C1" };
    const result = checkConfig({ schedules: { s: { cron, text: "hi", to } } });
    expect(result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      "schedules.s.cron: must be five fields, such as `0 9 * * 1-5` for weekdays at nine",
    ]);
  },
);
