import type { ConfigMap } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRecorder, type Recorder } from "../rehearsal/providers/recorder.ts";
import { program } from "../../stacks/program.ts";
import { registered, type RegisteredResource } from "../support/registered.ts";
import { cloudflareConfig } from "../support/stack.ts";

const PLAIN_SECRET = "xoxb-a-token-that-was-set-in-plain";

/** Each wrong: a key, a duration, a team domain, a secret in plain, a missing one. */
const WRONG: ConfigMap = {
  "steward:operators": { value: '["op@acme.dev"]' },
  "steward:sleepsAfter": { value: "1h" },
  "steward:sleepAfter": { value: "10" },
  "steward:teamDomain": { value: "steward.acme.workers.dev" },
  "steward:slackSigningSecret": { value: "set-as-it-should-be", secret: true },
  "steward:slackBotToken": { value: PLAIN_SECRET },
};
/** Each right alone; together they are impossible. */
const IMPOSSIBLE: ConfigMap = {
  "steward:anthropicApiKey": { value: "sk-test", secret: true },
  "steward:sleepAfter": { value: "never" },
  "steward:monthlyBudget": { value: "6" },
  "steward:telegramUpdates": { value: "polling" },
  "steward:slackBotToken": { value: "xoxb-0123456789", secret: true },
  "steward:teamDomain": { value: "steward.acme.workers.dev" },
  "steward:operators": { value: '["op@acme.dev"]' },
};

let recorder: Recorder;
beforeAll(async () => {
  recorder = await startRecorder();
});
afterAll(() => recorder?.close());

// How the engine prints such a report is shown by test/journeys/refusals.engine.test.ts.
test.each([
  {
    what: "every mistake",
    config: WRONG,
    report: [
      "Invalid stack configuration (stack_config_invalid), 5 problems:",
      "  steward:anthropicApiKey: missing",
      "    fix: pulumi config set -s test --secret steward:anthropicApiKey <value>",
      "  steward:slackBotToken: is a secret but stored as plain text",
      "    fix: `pulumi config set -s test --secret steward:slackBotToken <value>`, and replace the value where it was issued",
      "  steward:sleepAfter: must be never or a duration such as 30s, 10m, 1h or 1h30m",
      "    fix: pulumi config set -s test steward:sleepAfter <value>",
      "  steward:sleepsAfter: unknown key",
      "    fix: pulumi config rm -s test steward:sleepsAfter",
      "  steward:teamDomain: is the Worker's own host; it must be the identity gateway's",
      "    fix: pulumi config set -s test steward:teamDomain <team>.cloudflareaccess.com",
    ],
  },
  {
    what: "every impossible combination",
    config: IMPOSSIBLE,
    report: [
      "Invalid stack configuration (stack_config_invalid), 4 problems:",
      "  steward:monthlyBudget: $6.00 is below the estimate of $6.74 a month for lite with steward:sleepAfter never",
      "    fix: `pulumi config set -s test steward:sleepAfter 10m` (about $5.00 a month), or `pulumi config set -s test steward:monthlyBudget 7`",
      "  steward:slackSigningSecret: missing: Slack is only partly configured, with steward:slackBotToken",
      "    fix: `pulumi config set -s test --secret steward:slackSigningSecret <value>`, or `pulumi config rm -s test steward:slackBotToken`",
      "  steward:teamDomain: is the Worker's own host; it must be the identity gateway's",
      "    fix: pulumi config set -s test steward:teamDomain <team>.cloudflareaccess.com",
      "  steward:telegramUpdates: polling needs a process that never sleeps, which a serverless stack does not have",
      "    fix: `pulumi config rm -s test steward:telegramUpdates` (the stack sets the webhook), or deploy a host stack, which polls",
    ],
  },
])(
  "the program reports $what at once, with key and fix, asks nobody and registers nothing",
  async (given) => {
    const found: RegisteredResource[] = [];
    const failure = await registered(program, {
      config: {
        ...cloudflareConfig(recorder.url, "test-token_0123456789abcdefghijklmnopqrstuv"),
        "steward:target": { value: "serverless" },
        "steward:accountId": { value: "00112233445566778899aabbccddeeff" },
        "steward:subdomain": { value: "acme" },
        ...given.config,
      },
      found,
    }).then(() => "", String);

    for (const line of given.report) expect(failure).toContain(line);
    expect(failure).not.toContain(PLAIN_SECRET);
    expect(failure).not.toContain("    at ");
    expect(recorder.take()).toEqual([]);
    expect(found).toEqual([]);
  },
);
