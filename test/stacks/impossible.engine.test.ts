import { expect, test } from "vitest";
import { recordedStack } from "../support/recorded-stack.ts";
import { UPDATE_MS } from "../support/stack.ts";

const opened = recordedStack({
  "steward:anthropicApiKey": { value: "sk-test", secret: true },
  // Each value is right by itself; together they are impossible.
  "steward:sleepAfter": { value: "never" },
  "steward:monthlyBudget": { value: "6" },
  "steward:telegramUpdates": { value: "polling" },
  "steward:slackBotToken": { value: "xoxb-0123456789", secret: true },
  "steward:teamDomain": { value: "steward.acme.workers.dev" },
  "steward:operators": { value: '["op@acme.dev"]' },
});

test(
  "a preview refuses impossible combinations in one report, each with its remedy, and asks nobody",
  async () => {
    const failure = await opened.subject.stack.preview().then(() => "", String);

    const report = [
      "Invalid stack configuration (stack_config_invalid), 4 problems:",
      "  steward:monthlyBudget: $6.00 is below the estimate of $6.74 a month for lite with steward:sleepAfter never",
      "    fix: pulumi config set steward:sleepAfter 10m (about $5.00 a month), or pulumi config set steward:monthlyBudget 7",
      "  steward:slackSigningSecret: missing: Slack is configured by half, by steward:slackBotToken alone",
      "    fix: set steward:slackSigningSecret, or remove steward:slackBotToken",
      "  steward:teamDomain: is the Worker's own host; it must be the identity gateway's",
      "    fix: pulumi config set steward:teamDomain <team>.cloudflareaccess.com",
      "  steward:telegramUpdates: polling needs a process that never sleeps, which a serverless stack does not have",
      "    fix: pulumi config rm steward:telegramUpdates (the stack sets the webhook), or deploy a host stack, which polls",
    ];
    for (const line of report) expect(failure).toContain(line);
    expect(opened.recorder.take()).toEqual([]);
  },
  UPDATE_MS,
);
