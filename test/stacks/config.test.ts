import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../stacks/config.ts";
import type { ConfigSource } from "../../stacks/config/source.ts";

const SERVERLESS = {
  "cloudflare:apiToken": "test-token_0123456789abcdefghijklmnopqrstuv",
  "steward:target": "serverless",
  "steward:accountId": "0123456789abcdef0123456789abcdef",
  "steward:subdomain": "example",
  "steward:anthropicApiKey": "sk-test",
};
const HOST = { "steward:target": "host", "steward:anthropicApiKey": "sk-test" };
const SECRETS = [
  "cloudflare:apiToken",
  "steward:anthropicApiKey",
  "steward:slackBotToken",
  "steward:slackSigningSecret",
  "steward:telegramBotToken",
  "steward:telegramWebhookSecret",
  "steward:discordBotToken",
];

function source(values: Record<string, string | undefined>, secrets = SECRETS): ConfigSource {
  const given = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return { values: Object.fromEntries(given), isSecret: (key) => secrets.includes(key), environment: {} };
}

/** The problems that a configuration has, as they are shown. */
function problems(values: Record<string, string | undefined>, secrets = SECRETS): string[] {
  const error = failure(() => loadConfig(source(values, secrets)));
  const lines = (error?.message ?? "").split("\n  ").slice(1);
  return lines.filter((line) => !line.startsWith("  fix: "));
}

function failure(load: () => unknown): Error | undefined {
  try {
    load();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

describe("a serverless stack's configuration", () => {
  test("needs little, and has defaults for the rest", () => {
    expect(loadConfig(source(SERVERLESS))).toMatchObject({
      target: "serverless",
      workerName: "steward",
      host: "steward.example.workers.dev",
      sleepAfter: "10m",
      publicWebhooks: true,
      instanceType: "lite",
      protectState: false,
      migrations: [{ tag: "v1", newSqliteClasses: ["Sandbox"] }],
      runtime: {
        variables: { SANDBOX_SLEEP_AFTER: "10m", PUBLIC_WEBHOOKS: "true", LOG_LEVEL: "info" },
      },
    });
  });

  test("is taken with a budget that is enough", () => {
    const values = { "steward:sleepAfter": "never", "steward:instanceType": "standard-1" };
    expect(problems({ ...SERVERLESS, ...values, "steward:monthlyBudget": "33.34" })).toEqual([]);
    expect(problems({ ...SERVERLESS, "steward:expectedAwakeHours": "2.5" })).toEqual([]);
  });

  test("hands the config's recovery on where it is given", () => {
    const { runtime } = loadConfig(source({ ...SERVERLESS, "steward:configRecovery": "auto" }));
    expect(runtime.variables).toMatchObject({ CONFIG_RECOVERY: "auto" });
    expect(loadConfig(source(SERVERLESS)).runtime.variables).not.toHaveProperty("CONFIG_RECOVERY");
  });

  test("keeps secrets apart, as Pulumi secrets", async () => {
    const config = loadConfig(source(SERVERLESS));

    expect(config).not.toHaveProperty("anthropicApiKey");
    expect(Object.keys(config.runtime.secrets)).toEqual(["ANTHROPIC_API_KEY"]);
    expect(await pulumi.isSecret(config.runtime.secrets.ANTHROPIC_API_KEY ?? pulumi.output(""))).toBe(true);
  });

  test("derives the secret of Telegram's webhook from the bot's token, unless one is given", async () => {
    const derived = async (values: Record<string, string>) => {
      const { runtime } = loadConfig(source({ ...SERVERLESS, ...values }));
      const secret = runtime.secrets.TELEGRAM_WEBHOOK_SECRET ?? pulumi.output("");
      expect(await pulumi.isSecret(secret)).toBe(true);
      return new Promise<string>((resolve) => {
        secret.apply(resolve);
      });
    };
    const one = await derived({ "steward:telegramBotToken": "1:a" });

    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(await derived({ "steward:telegramBotToken": "1:a" })).toBe(one);
    expect(await derived({ "steward:telegramBotToken": "1:b" })).not.toBe(one);
    const own = { "steward:telegramBotToken": "1:a", "steward:telegramWebhookSecret": "my-own" };
    expect(await derived(own)).toBe("my-own");
  });

  test.each<[string, Record<string, string | undefined>, string]>([
    [
      "a webhook's secret without its bot",
      { "steward:telegramWebhookSecret": "my-own" },
      "steward:telegramBotToken: missing: Telegram is configured by half, by steward:telegramWebhookSecret alone",
    ],
    [
      "a webhook's secret that Telegram would refuse",
      { "steward:telegramBotToken": "1:a", "steward:telegramWebhookSecret": "my own" },
      "steward:telegramWebhookSecret: must be 1 to 256 letters, digits, _ and -",
    ],
    [
      "polling by a container that sleeps",
      { "steward:telegramBotToken": "1:a", "steward:telegramUpdates": "polling" },
      "steward:telegramUpdates: polling needs a process that never sleeps, which a serverless stack does not have",
    ],
    [
      "never asleep for less than it costs",
      { "steward:sleepAfter": "never", "steward:instanceType": "standard-1", "steward:monthlyBudget": "33" },
      "steward:monthlyBudget: $33.00 is below the estimate of $33.34 a month for standard-1 with steward:sleepAfter never",
    ],
    [
      "a budget below the plan",
      { "steward:monthlyBudget": "4.99" },
      "steward:monthlyBudget: $4.99 is below the estimate of $5.00 a month for lite with steward:sleepAfter 10m",
    ],
    [
      "a budget that is no amount",
      { "steward:monthlyBudget": "5 EUR" },
      "steward:monthlyBudget: must be US dollars from 0 to 100000, with at most two decimals",
    ],
    [
      "hours of sleep for what never sleeps",
      { "steward:sleepAfter": "never", "steward:expectedAwakeHours": "3" },
      "steward:expectedAwakeHours: a container with steward:sleepAfter never is awake for 24 hours a day",
    ],
    [
      "a day of 25 hours",
      { "steward:expectedAwakeHours": "25" },
      "steward:expectedAwakeHours: must be hours a day from 0 to 24, with at most two decimals",
    ],
    [
      "a public webhook whose signatures nothing verifies",
      { "steward:discordBotToken": "token", "steward:discordApplicationId": "1000000000000000001" },
      "steward:discordPublicKey: missing: Discord is configured by half, by steward:discordApplicationId and steward:discordBotToken alone",
    ],
    [
      "an unknown key",
      { "steward:slepAfter": "1h" },
      "steward:slepAfter: unknown key; did you mean steward:sleepAfter?",
    ],
    [
      "a key that is like none",
      { "steward:wholeUnrelatedThing": "1" },
      "steward:wholeUnrelatedThing: unknown key",
    ],
    [
      "a key of the other target",
      { "steward:hostPort": "80" },
      "steward:hostPort: belongs to a host stack, and steward:target is serverless",
    ],
    ["a missing secret", { "steward:anthropicApiKey": undefined }, "steward:anthropicApiKey: missing"],
    ["a missing account", { "steward:accountId": undefined }, "steward:accountId: missing"],
    [
      "an account that is none",
      { "steward:accountId": "mine" },
      "steward:accountId: must be the account's 32 hexadecimal digits",
    ],
    [
      "a number where a duration belongs",
      { "steward:sleepAfter": "10" },
      "steward:sleepAfter: must be never or a duration such as 30s, 10m, 1h or 1h30m",
    ],
    [
      "a recovery that is none",
      { "steward:configRecovery": "yes" },
      "steward:configRecovery: must be manual or auto",
    ],
    [
      "a flag that is none",
      { "steward:publicWebhooks": "yes" },
      "steward:publicWebhooks: must be true or false",
    ],
    [
      "a team domain that is the Worker's own",
      {
        "steward:teamDomain": "steward.example.workers.dev",
        "steward:operators": '["op@example.com"]',
      },
      "steward:teamDomain: is the Worker's own host; it must be the identity gateway's",
    ],
    [
      "a team domain with a scheme",
      { "steward:teamDomain": "https://x.cloudflareaccess.com", "steward:operators": '["op@example.com"]' },
      "steward:teamDomain: must be a host name such as example.cloudflareaccess.com, or a loopback origin",
    ],
    [
      "operators without a team domain",
      { "steward:operators": '["op@example.com"]' },
      "steward:teamDomain: missing: The identity gateway is configured by half, by steward:operators alone",
    ],
    [
      "an operator that is no address",
      { "steward:teamDomain": "x.cloudflareaccess.com", "steward:operators": '["op"]' },
      "steward:operators: 0: every operator must be an e-mail address",
    ],
    [
      "a channel configured by half",
      { "steward:slackBotToken": "xoxb-1" },
      "steward:slackSigningSecret: missing: Slack is configured by half, by steward:slackBotToken alone",
    ],
    [
      "no address",
      { "steward:subdomain": undefined },
      "steward:subdomain: missing: the Worker needs an address",
    ],
    [
      "two addresses",
      { "steward:hostname": "steward.example.com" },
      "steward:subdomain: given beside steward:hostname: the Worker has one address",
    ],
    [
      "a skipped migration",
      { "steward:migrations": '[{"tag":"v2","newSqliteClasses":["Sandbox"]}]' },
      'steward:migrations: entry 1 has the tag "v2", expected "v1"',
    ],
    [
      "a migration without the class",
      { "steward:migrations": '[{"tag":"v1","newSqliteClasses":["Other"]}]' },
      "steward:migrations: no entry creates the class Sandbox",
    ],
    [
      "an address for rehearsals that is public",
      { "steward:origin": "https://example.com" },
      "steward:origin: must be a loopback origin such as http://127.0.0.1:8787",
    ],
    [
      "a missing API token",
      { "cloudflare:apiToken": undefined },
      "cloudflare:apiToken: missing, and CLOUDFLARE_API_TOKEN is not set",
    ],
  ])("refuses %s", (_what, change, problem) => {
    expect(problems({ ...SERVERLESS, ...change })).toEqual([problem]);
  });

  test("refuses a secret that is stored in plain, without showing it", () => {
    expect(problems(SERVERLESS, ["cloudflare:apiToken"])).toEqual([
      "steward:anthropicApiKey: is a secret but stored in plain",
    ]);
  });

  test("reports everything at once, in the order of the keys, each with its fix", () => {
    const values = {
      ...SERVERLESS,
      "steward:sleepAfter": "soon",
      "steward:colour": "red",
      "steward:target": "host",
    };

    const error = failure(() => loadConfig(source(values)));

    expect(error).toMatchObject({ code: "stack_config_invalid" });
    expect(error?.message).toBe(
      [
        "Invalid stack configuration (stack_config_invalid), 4 problems:",
        "  steward:accountId: belongs to a serverless stack, and steward:target is host",
        "    fix: pulumi config rm steward:accountId",
        "  steward:colour: unknown key",
        "    fix: pulumi config rm steward:colour",
        "  steward:sleepAfter: belongs to a serverless stack, and steward:target is host",
        "    fix: pulumi config rm steward:sleepAfter",
        "  steward:subdomain: belongs to a serverless stack, and steward:target is host",
        "    fix: pulumi config rm steward:subdomain",
      ].join("\n"),
    );
  });
});

describe("a host stack's configuration", () => {
  test("needs the model's key alone", () => {
    expect(loadConfig(source(HOST))).toMatchObject({
      target: "host",
      hostPort: 8080,
      hostAddress: "0.0.0.0",
      memoryMiB: 512,
    });
  });

  test.each<[string, Record<string, string>, string]>([
    ["port 0", { "steward:hostPort": "0" }, "steward:hostPort: must be a whole number from 1 to 65535"],
    [
      "too little memory",
      { "steward:memoryMiB": "64" },
      "steward:memoryMiB: must be a whole number from 128 to 1048576",
    ],
    [
      "an engine by TCP",
      { "steward:docker": "tcp://host:2375" },
      "steward:docker: must be a unix:// or ssh:// address",
    ],
  ])("refuses %s", (_what, change, problem) => {
    expect(problems({ ...HOST, ...change })).toEqual([problem]);
  });

  test("hands the identity gateway on, which takes the place of the token", () => {
    const gateway = {
      "steward:teamDomain": "example.cloudflareaccess.com",
      "steward:audience": "0a".repeat(32),
    };
    const { runtime } = loadConfig(source({ ...HOST, ...gateway }));

    expect(runtime.variables).toMatchObject({
      EDGE_ACCESS_TEAM_DOMAIN: "example.cloudflareaccess.com",
      EDGE_ACCESS_AUD: "0a".repeat(32),
    });
    expect(problems({ ...HOST, ...gateway, "steward:audience": undefined })).toEqual([
      "steward:audience: missing: The identity gateway is configured by half, by steward:teamDomain alone",
    ]);
    const both = { ...HOST, ...gateway, "steward:adminToken": "a-token-of-sixteen" };
    expect(problems(both, [...SECRETS, "steward:adminToken"])).toEqual([
      "steward:adminToken: given beside steward:teamDomain: the identity gateway signs in, and the token nobody",
    ]);
  });

  test("polls Telegram with the bot's token alone", () => {
    expect(problems({ ...HOST, "steward:telegramBotToken": "1:a" })).toEqual([]);
  });
});

test("a stack without a target is told so, and what it has in plain", () => {
  expect(problems({ "steward:anthropicApiKey": "sk-test" }, [])).toEqual([
    "steward:anthropicApiKey: is a secret but stored in plain",
    "steward:target: missing",
  ]);
});

describe("what would leak or mislead", () => {
  test("a secret under a key that is deployed as plain text", () => {
    const values = { ...SERVERLESS, "steward:endpoints": '{"anthropic":"https://model.example.com"}' };
    expect(problems(values, [...SECRETS, "steward:endpoints"])).toEqual([
      "steward:endpoints: is stored as a secret, and would be deployed as plain text",
    ]);
  });

  test("a password in a server's address", () => {
    const values = {
      ...SERVERLESS,
      "steward:endpoints": '{"anthropic":"https://user:pw@model.example.com"}',
    };
    expect(problems(values)).toEqual(["steward:endpoints: anthropic: must not hold a user name or password"]);
  });

  test("a key that every object has", () => {
    expect(problems({ ...SERVERLESS, "steward:toString": "x" })).toEqual(["steward:toString: unknown key"]);
  });

  test("an identity gateway on this machine without a rehearsal", () => {
    const values = {
      ...SERVERLESS,
      "steward:teamDomain": "http://127.0.0.1:9000",
      "steward:operators": '["me@example.com"]',
    };
    expect(problems(values)).toEqual([
      "steward:teamDomain: is this machine's own address, which only a rehearsal can use",
    ]);
    expect(problems({ ...values, "steward:origin": "http://127.0.0.1:8787" })).toEqual([]);
  });

  test("secrets of spaces, a name that is no host's, and an administrator's token that can be guessed", () => {
    const blank = { ...SERVERLESS, "steward:slackBotToken": " ", "steward:slackSigningSecret": "\n" };
    expect(problems({ ...blank, "steward:subdomain": "-" })).toHaveLength(3);
    expect(problems({ ...HOST, "steward:adminToken": "1" }, [...SECRETS, "steward:adminToken"])).toEqual([
      "steward:adminToken: must have at least 16 characters",
    ]);
  });
});
