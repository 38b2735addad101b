import { describe, expect, test } from "vitest";
import { environmentOf } from "../../infra/gateway/environment.ts";
import { loadConfig } from "../../stacks/config.ts";
import { HOST, problems, SECRETS, source } from "../support/stack-config.ts";

describe("a host stack's configuration", () => {
  test("needs the model's key alone", () => {
    expect(loadConfig(source(HOST))).toMatchObject({
      target: "host",
      port: 8080,
      address: "0.0.0.0",
      memoryMiB: 512,
      cpus: 1,
    });
  });

  test.each<[string, Record<string, string>, string]>([
    ["port 0", { "steward:hostPort": "0" }, "steward:hostPort: must be a whole number from 1 to 65535"],
    [
      "out of memory",
      { "steward:memoryMiB": "64" },
      "steward:memoryMiB: must be a whole number from 128 to 1048576",
    ],
    [
      "no processors",
      { "steward:cpus": "0" },
      "steward:cpus: must be a number of processors such as 1 or 0.5",
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
      "steward:teamDomain": "acme.cloudflareaccess.com",
      "steward:audience": "0a".repeat(32),
    };
    const config = loadConfig(source({ ...HOST, ...gateway }));

    expect(environmentOf("host", config).variables).toMatchObject({
      EDGE_ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com",
      EDGE_ACCESS_AUD: "0a".repeat(32),
    });
    expect(problems({ ...HOST, ...gateway, "steward:audience": undefined })).toEqual([
      "steward:audience: missing: The identity gateway is only partly configured, with steward:teamDomain",
    ]);
    const both = { ...HOST, ...gateway, "steward:adminToken": "a-token-of-sixteen" };
    expect(problems(both, [...SECRETS, "steward:adminToken"])).toEqual([
      "steward:adminToken: set together with steward:teamDomain: the identity gateway handles sign-in; ADMIN_TOKEN is not accepted",
    ]);
  });

  test("has one sandbox for all chats, or one for each", () => {
    const chat = { ...HOST, "steward:tenancy": "chat" };
    const variables = (values: Record<string, string>) =>
      environmentOf("host", loadConfig(source(values))).variables;
    expect(variables(chat)).toMatchObject({ TENANCY: "chat", MAX_SANDBOXES: "10" });
    expect(variables({ ...chat, "steward:maxSandboxes": "3" })).toMatchObject({ MAX_SANDBOXES: "3" });
    for (const shared of [HOST, { ...HOST, "steward:tenancy": "shared" }])
      expect(Object.keys(variables(shared))).not.toContain("TENANCY");
    expect(problems({ ...HOST, "steward:maxSandboxes": "3" })).toEqual([
      "steward:maxSandboxes: has no effect: all chats share one sandbox unless steward:tenancy is chat",
    ]);
    expect(problems({ ...chat, "steward:canaryTenants": '["slack-C0123456789"]' })).toEqual([
      "steward:canaryTenants: belongs to a serverless stack, but steward:target is host",
    ]);
  });

  test("sends no e-mail", () => {
    const alerts = { "steward:alerts": '{"email":{"from":"steward@acme.dev","to":"ops@acme.dev"}}' };
    expect(problems({ ...HOST, ...alerts }, [...SECRETS, "steward:alerts"])).toEqual([
      "steward:alerts: email: a host cannot send e-mail",
    ]);
  });

  test("polls Telegram with the bot's token alone", () => {
    expect(problems({ ...HOST, "steward:telegramBotToken": "1:a" })).toEqual([]);
  });
});
