import { readFile } from "node:fs/promises";
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { environmentOf } from "../../infra/gateway/environment.ts";
import { loadConfig } from "../../stacks/config.ts";
import { TARGET_KEYS } from "../../stacks/config/keys.ts";
import { failure, HOST, problems, SECRETS, SERVERLESS, source } from "../support/stack-config.ts";

/** What the runtime gets of a serverless stack with these values. */
const environment = (values: Record<string, string>) =>
  environmentOf("serverless", loadConfig(source(values)));

describe("a serverless stack's configuration", () => {
  test("needs little, and has defaults for the rest", () => {
    expect(loadConfig(source(SERVERLESS))).toMatchObject({
      target: "serverless",
      workerName: "steward",
      sleepAfter: "10m",
      publicWebhooks: true,
      instanceType: "lite",
      protectState: false,
      migrations: [{ tag: "v1", newSqliteClasses: ["Sandbox"] }],
    });
    expect(environment(SERVERLESS).variables).toMatchObject({
      SANDBOX_SLEEP_AFTER: "10m",
      PUBLIC_WEBHOOKS: "true",
      LOG_LEVEL: "info",
    });
  });

  test("is taken with a budget that is enough", () => {
    const values = { "steward:sleepAfter": "never", "steward:instanceType": "standard-1" };
    expect(problems({ ...SERVERLESS, ...values, "steward:monthlyBudget": "33.34" })).toEqual([]);
    expect(problems({ ...SERVERLESS, "steward:expectedAwakeHours": "2.5" })).toEqual([]);
  });

  test("hands the config's recovery on where it is given", () => {
    const { variables } = environment({ ...SERVERLESS, "steward:configRecovery": "auto" });
    expect(variables).toMatchObject({ CONFIG_RECOVERY: "auto" });
    expect(environment(SERVERLESS).variables).not.toHaveProperty("CONFIG_RECOVERY");
    const replayed = environment({ ...SERVERLESS, "steward:replayEvents": "100" });
    expect(replayed.variables).toMatchObject({ REPLAY_EVENTS: "100" });
    expect(environment(SERVERLESS).variables).not.toHaveProperty("REPLAY_EVENTS");
  });

  test("gives each chat a sandbox of its own where that is wished, and needs nothing beside", () => {
    const chat = { ...SERVERLESS, "steward:tenancy": "chat" };
    expect(loadConfig(source(chat))).toMatchObject({
      tenancy: "chat",
      maxSandboxes: 10,
      migrations: [
        { tag: "v1", newSqliteClasses: ["Sandbox"] },
        { tag: "v2", newSqliteClasses: ["Directory"] },
      ],
    });
    const named = (values: Record<string, string>) =>
      Object.entries(environment(values).variables).filter(([name]) => /TENAN|SANDBOXES/.test(name));
    expect(named(chat)).toEqual([
      ["TENANCY", "chat"],
      ["MAX_SANDBOXES", "10"],
    ]);
    const more = {
      ...chat,
      "steward:maxSandboxes": "3",
      "steward:canaryTenants": '["slack-C0123456789","telegram--100123"]',
    };
    expect(named(more)).toEqual([
      ["TENANCY", "chat"],
      ["MAX_SANDBOXES", "3"],
      ["CANARY_TENANTS", "slack-C0123456789,telegram--100123"],
    ]);
    expect(named(SERVERLESS)).toEqual([]);
    expect(named({ ...SERVERLESS, "steward:tenancy": "shared" })).toEqual([]);
  });

  test("is told everything that is wrong with its tenancy at once", () => {
    const values = {
      ...SERVERLESS,
      "steward:tenancy": "chat",
      "steward:telegramUpdates": "polling",
      "steward:maxSandboxes": "501",
      "steward:canaryTenants": '["slack-C0123456789","everybody"]',
      "steward:migrations": '[{"tag":"v1","newSqliteClasses":["Sandbox"]}]',
    };
    expect(failure(() => loadConfig(source(values)))?.message).toBe(
      [
        "Invalid stack configuration (stack_config_invalid), 4 problems:",
        "  steward:canaryTenants: 1: must be a tenant's id such as slack-C0123456789",
        "    fix: pulumi config set -s dev steward:canaryTenants <value>",
        "  steward:maxSandboxes: must be a whole number from 1 to 500",
        "    fix: pulumi config set -s dev steward:maxSandboxes <value>",
        `  steward:migrations: no entry creates the class Directory, which steward:tenancy chat needs: add {"tag":"v2","newSqliteClasses":["Directory"]}`,
        `    fix: pulumi config set -s dev steward:migrations '[{"tag":"v1","newSqliteClasses":["Sandbox"]},{"tag":"v2","newSqliteClasses":["Directory"]}]'`,
        "  steward:telegramUpdates: polling needs a process that never sleeps, which a serverless stack does not have",
        "    fix: `pulumi config rm -s dev steward:telegramUpdates` (the stack sets the webhook), or deploy a host stack, which polls",
      ].join("\n"),
    );
  });

  test("keeps secrets apart, as Pulumi secrets", async () => {
    const { variables, secrets } = environment(SERVERLESS);

    expect(JSON.stringify(variables)).not.toContain("sk-test");
    expect(Object.keys(secrets)).toEqual(["ANTHROPIC_API_KEY"]);
    expect(await pulumi.isSecret(secrets.ANTHROPIC_API_KEY ?? pulumi.output(""))).toBe(true);
  });

  test("derives the secret of Telegram's webhook from the bot's token, unless one is given", async () => {
    const derived = async (values: Record<string, string>) => {
      const { secrets } = environment({ ...SERVERLESS, ...values });
      const secret = secrets.TELEGRAM_WEBHOOK_SECRET ?? pulumi.output("");
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

  test("refuses a secret that is stored in plain, without showing it", () => {
    expect(problems(SERVERLESS, ["cloudflare:apiToken"])).toEqual([
      "steward:anthropicApiKey: is a secret but stored as plain text",
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
        "  steward:accountId: belongs to a serverless stack, but steward:target is host",
        "    fix: pulumi config rm -s dev steward:accountId",
        "  steward:colour: unknown key",
        "    fix: pulumi config rm -s dev steward:colour",
        "  steward:sleepAfter: belongs to a serverless stack, but steward:target is host",
        "    fix: pulumi config rm -s dev steward:sleepAfter",
        "  steward:subdomain: belongs to a serverless stack, but steward:target is host",
        "    fix: pulumi config rm -s dev steward:subdomain",
      ].join("\n"),
    );
  });
});

test("a stack without a target is told so, and what it has in plain", () => {
  expect(problems({ "steward:anthropicApiKey": "sk-test" }, [])).toEqual([
    "steward:anthropicApiKey: is a secret but stored as plain text",
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
      "steward:operators": '["me@acme.dev"]',
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

test("each key is in the table of stacks/README.md, with its targets", async () => {
  const table = (await readFile("stacks/README.md", "utf8"))
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const named = table.flatMap((row) => {
    const [, keys = "", target = ""] = row.split("|");
    const targets = target.trim() === "both" ? ["serverless", "host"] : [target.trim()];
    return targets.flatMap((one) => [...keys.matchAll(/`(\w+)`/g)].map(([, key]) => `${one} ${key}`));
  });
  const missing = Object.entries(TARGET_KEYS).flatMap(([target, keys]) =>
    keys.filter((key) => !named.includes(`${target} ${key}`)).map((key) => `${key} (${target})`),
  );

  expect(missing.map((key) => `stacks/README.md has no row for ${key}`)).toEqual([]);
});
