import { expect, test } from "vitest";
import { commandsFor } from "../../infra/shell/package.ts";
import { loadConfig } from "../../stacks/config.ts";
import { EXAMPLES, exampleSettings } from "../support/example-stack.ts";
import { problems } from "../support/stack-config.ts";

const SECRETS = {
  "cloudflare:apiToken": "test-token_0123456789abcdefghijklmnopqrstuv",
  "steward:anthropicApiKey": "sk-test",
};

test.each(EXAMPLES)(
  "the example stack %s is complete but for its secrets, once it is somebody's own",
  async (name) => {
    const config = loadConfig({
      values: { ...SECRETS, ...(await exampleSettings(name)) },
      isSecret: (key) => key in SECRETS,
      environment: {},
      commands: commandsFor("dev"),
    });

    expect(config.target).toBe(name === "host" ? "host" : "serverless");
  },
);

test.each([
  ["dev", ["accountId", "operators", "subdomain", "teamDomain"]],
  ["prod", ["accountId", "hostname", "operators", "teamDomain"]],
] as const)(
  "the example stack %s is refused as it is shipped, by every value that is nobody's",
  async (name, keys) => {
    const values = { ...SECRETS, ...(await exampleSettings(name, (text) => text)) };

    expect(problems(values, Object.keys(SECRETS))).toEqual(
      keys.map((key) => `steward:${key}: still has the example's value`),
    );
  },
);
