import { expect, test } from "vitest";
import { formatConfigProblems } from "../../../runtime/contract/config/index.ts";
import { readConfigText } from "../../../runtime/contract/config/text.ts";
import { readEdgeSettings, VARIABLES } from "../../../runtime/contract/environment.ts";

const ENVIRONMENT = {
  TELEGRAM_BOT_TOKEN: "1:t",
  SLACK_BOT_TOKEN: "x",
  SLACK_SIGNING_SECRET: "y",
  DISCORD_BOT_TOKEN: "z",
};
const TELEGRAM = { botToken: { env: "TELEGRAM_BOT_TOKEN" } };
const SLACK = { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: { env: "SLACK_SIGNING_SECRET" } };
const DISCORD = { token: { env: "DISCORD_BOT_TOKEN" } };
const WHOLE = {
  agent: { noticeAfter: "30s", timeout: "10m" },
  channels: {
    telegram: {
      ...TELEGRAM,
      dmPolicy: "allowlist",
      allowFrom: ["42"],
      groups: { "-100": { requireMention: false } },
    },
    slack: { ...SLACK, allowFrom: ["U024BE7LH"], channels: { C024BE91L: {}, "*": { enabled: false } } },
    discord: { ...DISCORD, allowFrom: ["290926798626357999"], guilds: { "290926798626357999": {} } },
  },
  models: { providers: { local: { baseUrl: "http://127.0.0.1:1/v1" } }, primary: "local/m" },
  logging: { level: "debug" },
};

/** The report of a config that is refused; empty for one that works. */
function report(text: string): string {
  const { result } = readConfigText(text, ENVIRONMENT);
  return result.ok ? "" : formatConfigProblems("steward.json", result.problems);
}

const TEXT = JSON.stringify(WHOLE, undefined, 2);

test("a config that names people and groups by their ids works", () => {
  expect(report(TEXT)).toBe("");
});

test("a key that stands twice is refused with both lines, also where the last one would open the bot to everyone", () => {
  const text = `{
  "channels": {
    "telegram": { "botToken": { "env": "TELEGRAM_BOT_TOKEN" }, "allowFrom": ["42"] },
    "slack": { "botToken": { "env": "SLACK_BOT_TOKEN" }, "signingSecret": { "env": "SLACK_SIGNING_SECRET" } },
    "telegram": { "botToken": { "env": "TELEGRAM_BOT_TOKEN" }, "dmPolicy": "open", "allowFrom": ["*"] }
  }
}`;

  expect(report(text)).toBe(
    `Invalid config at steward.json:\n- channels.telegram: "telegram" occurs twice, on lines 3 and 5: JSON uses only the last one, so merge them`,
  );
});

test.each([
  ["a byte order mark", `\ufeff${TEXT}`, "byte order mark"],
  ["UTF-16", Buffer.from(TEXT, "utf16le").toString("utf8"), "not UTF-8"],
  ["UTF-16 with a byte order mark", Buffer.from(`\ufeff${TEXT}`, "utf16le").toString("utf8"), "not UTF-8"],
])("%s is named, and what to do", (_, text, words) => {
  expect(report(text)).toContain(words);
  expect(report(text)).toContain("save it as UTF-8");
});

const WRONG_IDS: [path: string, id: string, accepted: string][] = [
  ...["@name", "Ann", "telegram:42", "-100", " 42", "U1"].map((id): [string, string, string] => [
    "channels.telegram.allowFrom",
    id,
    "Telegram's user ids are numbers",
  ]),
  ...["My Group", "@group", "42", "t.me/group"].map((id): [string, string, string] => [
    "channels.telegram.groups",
    id,
    "Telegram's group ids are negative",
  ]),
  ...["@ann", "ann", "slack:U1", "42", "u024be7lh"].map((id): [string, string, string] => [
    "channels.slack.allowFrom",
    id,
    "Slack's user ids look like",
  ]),
  ...["#general", "general", "slack:C1"].map((id): [string, string, string] => [
    "channels.slack.channels",
    id,
    "Slack's channel ids look like",
  ]),
  ...["ann#1234", "@ann", "<@42>"].map((id): [string, string, string] => [
    "channels.discord.groupAllowFrom",
    id,
    "Discord's ids are numbers",
  ]),
  ...["My Server"].map((id): [string, string, string] => [
    "channels.discord.guilds",
    id,
    "Discord's ids are numbers",
  ]),
];

test.each(WRONG_IDS)("%s: %s can match nobody, and the form that does is named", (path, id, accepted) => {
  const [, channel = "", key = ""] = path.split(".") as [string, "telegram" | "slack" | "discord", string];
  const channels: Record<string, object> = { telegram: TELEGRAM, slack: SLACK, discord: DISCORD };
  const value = key.endsWith("From") ? [id] : { [id]: {} };
  const said = report(JSON.stringify({ channels: { [channel]: { ...channels[channel], [key]: value } } }));

  expect(said).toContain(`- ${path}`);
  expect(said).toContain(`${JSON.stringify(id)} matches nobody: ${accepted}`);
});

test.each(["ann", "telegram:@ann", "slack:42", "discord:ann#1234", "web:ann", "matrix:42", "telegram:*"])(
  "agent.operators: %s can name nobody, and the form that does is shown",
  (id) => {
    const said = report(JSON.stringify({ channels: {}, agent: { operators: [id] } }));

    expect(said).toContain("- agent.operators");
    expect(said).toContain(`${JSON.stringify(id)} names nobody: write <platform>:<user id>`);
  },
);

/** Every path to an object of a config. */
function objectsOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return [path, ...Object.entries(value).flatMap(([key, below]) => objectsOf(below, [...path, key]))];
}

/** The config with a line that is added behind the opening of the object at a path. */
function withLine(path: readonly string[], line: (keys: string[]) => string | undefined): string | undefined {
  const marked = structuredClone(WHOLE) as Record<string, unknown>;
  let at = marked;
  for (const key of path) at = at[key] as Record<string, unknown>;
  const keys = Object.keys(at);
  const added = line(keys);
  if (added === undefined) return undefined;
  at["__here"] = 0;
  return JSON.stringify(marked, undefined, 2).replace('"__here": 0', added);
}

const PATHS = objectsOf(WHOLE).filter((path) => path.length > 0);
const REPEATED = PATHS.flatMap((path) =>
  [0, 1, 2].flatMap((index) => {
    const text = withLine(path, (keys) => keys[index] && `"${keys[index]}": null`);
    return text === undefined ? [] : [[path.join("."), text] as const];
  }),
);

test.each(REPEATED)("a key of %s that stands twice is refused, with its lines", (path, text) => {
  expect(report(text)).toMatch(
    new RegExp(`- ${path.replaceAll(".", "\\.")}\\.\\S+: "[^"]+" occurs twice, on lines \\d+ and \\d+`),
  );
});

test.each([
  ['{"a": tru}', "Unexpected character at line 1, column 10"],
  ['{"a": 1,\n  "b": secret\n}', "Unexpected character at line 2, column 8"],
  ['{"a": 1', "Expected ',' or '}' after property value at line 1, column 8"],
  ["", "Unexpected end of JSON input at line 1, column 1"],
  ['{"a": 1} {', "Unexpected non-whitespace character at line 1, column 10"],
])("of %j the place is told that is no JSON, and nothing that stands there", (text, told) => {
  expect(report(text)).toBe(`Invalid config at steward.json:\n- (root): Not valid JSON: ${told}`);
});

test("the place is the parser's own, wherever that tells one", () => {
  const text = JSON.stringify({ a: [1, -2.5e3, true, null, 'x\n"q'], b: { c: "\u0001" } }, null, 1);
  const edits = ["", "x", ",", '"', "}", "]", "{", ":", "\n", "\\", "1", "-", "t"].flatMap((piece) =>
    Array.from({ length: text.length }, (_, at) => text.slice(0, at) + piece + text.slice(at + 1)),
  );
  const placed = edits.flatMap((edited) => {
    try {
      JSON.parse(edited);
      return [];
    } catch (error) {
      const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(String(error)) ?? [];
      return line === undefined ? [] : [[edited, `line ${line}, column ${column}`] as const];
    }
  });
  expect(placed.length).toBeGreaterThan(500);
  for (const [edited, place] of placed)
    expect([edited, report(edited)]).toEqual([edited, expect.stringContaining(place)]);
});

const SCHEMA_PATHS = [
  ["agent"],
  ["channels"],
  ["channels", "telegram"],
  ["channels", "slack"],
  ["models"],
  ["logging"],
];
/** One letter less, one more, two changed places, other capitals. */
const MISSES: ((word: string) => string)[] = [
  (word) => word.slice(0, 1) + word.slice(2),
  (word) => `${word}x`,
  (word) => word.slice(0, 1) + word.slice(2, 3) + word.slice(1, 2) + word.slice(3),
  (word) => word.toUpperCase(),
];
const NEAR = SCHEMA_PATHS.flatMap((path) => {
  const keys = Object.keys(
    path.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, WHOLE),
  );
  return keys.flatMap((key) => {
    const wrong = MISSES.map((miss) => miss(key)).filter((one) => one !== key && one.length > 3);
    return wrong.map((one) => [path.join("."), one, key] as const);
  });
});

test.each(NEAR)("in %s, %s is refused, and %s was meant", (path, wrong, meant) => {
  const text = withLine(path.split("."), () => `"${wrong}": {}`) ?? "";

  expect(report(text)).toContain(`- ${path}: Unrecognized key: "${wrong}"; did you mean "${meant}"?`);
});

const NAMES = Object.keys(VARIABLES);
const FORMS: [what: string, change: (value: string) => string, words: string][] = [
  ["in double quotes", (value) => `"${value}"`, "quotation marks"],
  ["in single quotes", (value) => `'${value}'`, "quotation marks"],
  ["with a line end", (value) => `${value}\n`, "line break"],
  ["with a carriage return", (value) => `${value}\r`, "line break"],
  ["with a blank before it", (value) => ` ${value}`, "white space"],
  ["with a tab behind it", (value) => `${value}\t`, "white space"],
  ["with an invisible character", (value) => `${value.slice(0, 2)}\u200b${value.slice(2)}`, "invisible"],
];

test.each(
  NAMES.flatMap((name) => FORMS.map(([what, change, words]) => [name, what, change, words] as const)),
)("%s %s is refused by its name, without its value", (name, _, change, words) => {
  const result = readEdgeSettings({ [name]: change("sk-a-value-0123456789") });

  const problem = result.ok ? "" : result.problems.find((one) => one.startsWith(`${name}: `));
  expect(problem).toContain(words);
  expect(problem).not.toContain("sk-a-value");
});

test("these are more than 300", () => {
  expect(REPEATED.length + NEAR.length + WRONG_IDS.length + NAMES.length * FORMS.length).toBeGreaterThan(300);
});
