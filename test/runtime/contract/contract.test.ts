import { glob, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { checkConfig, formatConfigProblems } from "../../../runtime/contract/config/index.ts";
import { parseDuration } from "../../../runtime/contract/duration.ts";
import { attest } from "../../../runtime/contract/attestation.ts";
import { gatewayVariables, readEdgeSettings } from "../../../runtime/contract/environment.ts";
import { DEPLOYMENT_ERRORS } from "../../../runtime/contract/error-texts/deployment.ts";
import { type ErrorCode, ERRORS, fixOf } from "../../../runtime/contract/errors.ts";
import { CHANGELOG, VERSION } from "../../../runtime/contract/names.ts";
import { createRedactor, redactValue } from "../../../runtime/shared/redact.ts";

it("reports the package's own version", () => {
  expect(VERSION).toBe(packageJson.version);
  const repository = packageJson.repository.url.replace(/^git\+|\.git$/g, "");
  expect(CHANGELOG).toBe(`${repository}/blob/HEAD/CHANGELOG.md`);
});

describe("durations", () => {
  it.each([
    ["30s", 30_000],
    ["10m", 600_000],
    ["1h", 3_600_000],
    ["1h30m", 5_400_000],
    ["never", Number.POSITIVE_INFINITY],
  ])("reads %s", (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    "",
    "10",
    "10 m",
    "1.5h",
    "-1h",
    "0s",
    "30m1h",
    "1d",
    "10M",
    "1h foo 2m",
    "ever",
    "1h ",
    "99999h",
  ])("refuses %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe("the edge's environment", () => {
  it("has the documented defaults", () => {
    const expected = {
      ok: true,
      settings: {
        sleepAfterMs: 600_000,
        publicWebhooks: true,
        configRecovery: "manual",
        replayEvents: 0,
        tenancy: "shared",
        maxSandboxes: 10,
        canaryTenants: [],
      },
    };
    expect(readEdgeSettings({})).toEqual(expected);
    const empty = { EDGE_ACCESS_AUD: "", SANDBOX_SLEEP_AFTER: "", PUBLIC_WEBHOOKS: "", CONFIG_RECOVERY: "" };
    expect(readEdgeSettings(empty)).toEqual(expected);
    expect(readEdgeSettings({ CONFIG_RECOVERY: "auto" })).toMatchObject({
      settings: { configRecovery: "auto" },
    });
    expect(readEdgeSettings({ REPLAY_EVENTS: "500" })).toMatchObject({ settings: { replayEvents: 500 } });
  });

  it("names every wrong variable at once", () => {
    const result = readEdgeSettings({
      SANDBOX_SLEEP_AFTER: "soon",
      PUBLIC_WEBHOOKS: "yes",
      CONFIG_RECOVERY: "Auto",
      REPLAY_EVENTS: "501",
    });
    expect(result).toMatchObject({ ok: false });
    expect(JSON.stringify(result)).toContain("SANDBOX_SLEEP_AFTER");
    expect(JSON.stringify(result)).toContain("PUBLIC_WEBHOOKS");
    expect(JSON.stringify(result)).toContain("CONFIG_RECOVERY");
    expect(JSON.stringify(result)).toContain('REPLAY_EVENTS: \\"501\\" is not a whole number from 0 to 500');
  });

  it("gives the container only what its gateway reads", () => {
    const environment = {
      SLACK_BOT_TOKEN: "xoxb",
      ADMIN_TOKEN: "a",
      EDGE_ACCESS_AUD: "b",
      LOG_LEVEL: "",
      PATH: "/bin",
    };
    expect(gatewayVariables(environment)).toEqual({ SLACK_BOT_TOKEN: "xoxb" });
  });

  it("gives it the operator's own variables, hides the secret ones, and attests them", async () => {
    const environment = {
      STEWARD_OWN_SECRETS: "MISTRAL_API_KEY,PATH,ADMIN_TOKEN,constructor",
      STEWARD_OWN_VARIABLES: "REGION",
      MISTRAL_API_KEY: "mistral-key-0123456789",
      REGION: "europe-west",
      OTHER: "of somebody else",
      ADMIN_TOKEN: "the-admin-token",
      PATH: "/bin",
    };
    const { STEWARD_OWN_SECRETS, STEWARD_OWN_VARIABLES, MISTRAL_API_KEY, REGION } = environment;
    expect(gatewayVariables(environment)).toEqual({
      STEWARD_OWN_SECRETS,
      STEWARD_OWN_VARIABLES,
      MISTRAL_API_KEY,
      REGION,
    });
    const redact = createRedactor(environment);
    expect(redact(`${MISTRAL_API_KEY} in ${REGION}`)).toBe("[redacted] in europe-west");
    const { secrets } = await attest("a key", environment);
    expect(Object.keys(secrets).sort()).toEqual(["ADMIN_TOKEN", "MISTRAL_API_KEY"]);
  });
});

describe("the config file", () => {
  it("reports all problems in the wording that operators look for", () => {
    const result = checkConfig({
      channels: {
        telegram: { botToken: { env: "TELEGRAM_BOT_TOKEN" }, dm: {} },
        slack: { dmPolicy: "some" },
      },
      extra: 1,
    });
    if (result.ok) throw new Error("accepted");
    const report = formatConfigProblems("/root/.steward/steward.json", result.problems).split("\n");
    expect(report[0]).toBe("Invalid config at /root/.steward/steward.json:");
    expect(report).toContain(
      '- channels.telegram: Unrecognized key: "dm" (deprecated: use channels.telegram.dmPolicy and allowFrom)',
    );
    expect(report).toContain('- (root): Unrecognized key: "extra"');
    expect(report.join("\n")).toContain("channels.slack.dmPolicy");
    expect(report.join("\n")).toContain("channels.slack.botToken");
  });

  it('refuses an open channel that does not list "*"', () => {
    const slack = { botToken: { env: "A" }, signingSecret: { env: "B" }, dmPolicy: "open" };
    expect(checkConfig({ channels: { slack } })).toMatchObject({
      ok: false,
      problems: [{ path: "channels.slack.allowFrom" }],
    });
    expect(checkConfig({ channels: { slack: { ...slack, allowFrom: ["*"] } } }).ok).toBe(true);
  });
});

describe("redaction", () => {
  const redact = createRedactor({ SLACK_SIGNING_SECRET: "0123456789abcdef", LOG_LEVEL: "information" });

  it("masks the environment's secrets, and tokens by their form", () => {
    const text = redact(
      "0123456789abcdef xoxb-123456789-abc sk-ant-api03-abcdefghijkl Bearer abcdefgh12 123456789:AAabcdefghijklmnopqrstuvwxyz012345 information",
    );
    expect(text.replaceAll("[redacted]", "").trim().split(/\s+/)).toEqual(["Bearer", "information"]);
  });

  it("masks what was pasted where a reference belongs", () => {
    const config = {
      botToken: { env: "hunter2hunter2" },
      tools: { env: { K: "sk-ant-zyxwvutsrqponmlkj" } },
    };
    expect(redactValue(config, redact)).toEqual({
      botToken: { env: "[redacted]" },
      tools: { env: { K: "[redacted]" } },
    });
  });

  it("masks what an MCP server gets, and the values in an address's query", () => {
    const server = {
      command: "npx",
      args: ["-y", "some-server", "--api-key", "hunter2", "--token=hunter2", "--port", "8080", "--verbose"],
      env: { PLAIN: "hunter2", NAMED: { env: "MISTRAL_API_KEY" } },
      headers: { "x-whatever": "hunter2" },
      url: "https://user:hunter2@mcp.acme.dev/sse?key=hunter2&other=hunter2#part",
    };
    expect(redactValue({ tools: { mcp: { one: server } } }, redact)).toEqual({
      tools: {
        mcp: {
          one: {
            command: "npx",
            args: [
              "-y",
              "some-server",
              "--api-key",
              "[redacted]",
              "--token=[redacted]",
              "--port",
              "8080",
              "--verbose",
            ],
            env: { PLAIN: "[redacted]", NAMED: { env: "MISTRAL_API_KEY" } },
            headers: { "x-whatever": "[redacted]" },
            url: "https://[redacted]@mcp.acme.dev/sse?key=[redacted]&other=[redacted]#part",
          },
        },
      },
    });
  });

  it("masks values under secret keys and leaves references alone", () => {
    const config = {
      botToken: "plain",
      signingSecret: { env: "SLACK_SIGNING_SECRET" },
      list: ["xoxb-123456789-abc"],
      n: 1,
    };
    expect(redactValue(config, redact)).toEqual({
      botToken: "[redacted]",
      signingSecret: { env: "SLACK_SIGNING_SECRET" },
      list: ["[redacted]"],
      n: 1,
    });
  });
});

it("gives every error code a cause and a fix", () => {
  for (const [code, { cause, status }] of Object.entries(ERRORS)) {
    const fix = fixOf(code as ErrorCode);
    expect([code, cause.endsWith("."), fix.endsWith("."), status >= 400]).toEqual([code, true, true, true]);
  }
});

it("names no error in what runs whose text its bundles leave out", async () => {
  const named: string[] = [];
  for await (const file of glob("runtime/**/*.ts")) {
    if (file.includes("error-texts")) continue;
    const source = await readFile(file, "utf8");
    const codes = Object.keys(DEPLOYMENT_ERRORS).filter((code) => source.includes(`"${code}"`));
    named.push(...codes.map((code) => `${file}: ${code}`));
  }
  expect(named).toEqual([]);
});
