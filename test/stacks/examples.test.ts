import { expect, test } from "vitest";
import { loadConfig } from "../../stacks/config.ts";
import { EXAMPLES, exampleSettings } from "../support/example-stack.ts";

const SECRETS = {
  "cloudflare:apiToken": "test-token_0123456789abcdefghijklmnopqrstuv",
  "steward:anthropicApiKey": "sk-test",
};

test.each(EXAMPLES)("the example stack %s is complete but for its secrets", async (name) => {
  const config = loadConfig({
    values: { ...SECRETS, ...(await exampleSettings(name)) },
    isSecret: (key) => key in SECRETS,
    environment: {},
  });

  expect(config.target).toBe(name === "host" ? "host" : "serverless");
});
