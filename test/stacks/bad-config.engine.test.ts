import { expect, test } from "vitest";
import { recordedStack } from "../support/recorded-stack.ts";
import { UPDATE_MS } from "../support/stack.ts";

const PLAIN_SECRET = "xoxb-a-token-that-was-set-in-plain";

const opened = recordedStack({
  "steward:operators": { value: '["op@acme.dev"]' },
  // Five things that are wrong: a key, a duration, a team domain, a secret in plain, a missing one.
  "steward:sleepsAfter": { value: "1h" },
  "steward:sleepAfter": { value: "10" },
  "steward:teamDomain": { value: "steward.acme.workers.dev" },
  "steward:slackSigningSecret": { value: "set-as-it-should-be", secret: true },
  "steward:slackBotToken": { value: PLAIN_SECRET },
});

test.each(["preview", "up"] as const)(
  "%s reports every mistake at once, with key and fix, and creates nothing",
  async (operation) => {
    const failure = await opened.subject.stack[operation]().then(
      () => "",
      (error: unknown) => String(error),
    );

    const report = [
      "Invalid stack configuration (stack_config_invalid), 5 problems:",
      "  steward:anthropicApiKey: missing",
      "    fix: pulumi config set --secret steward:anthropicApiKey <value>",
      "  steward:slackBotToken: is a secret but stored in plain",
      "    fix: pulumi config set --secret steward:slackBotToken <value>, and replace the value where it was issued",
      "  steward:sleepAfter: must be never or a duration such as 30s, 10m, 1h or 1h30m",
      "    fix: pulumi config set steward:sleepAfter <value>",
      "  steward:sleepsAfter: unknown key",
      "    fix: pulumi config rm steward:sleepsAfter",
      "  steward:teamDomain: is the Worker's own host; it must be the identity gateway's",
      "    fix: pulumi config set steward:teamDomain <team>.cloudflareaccess.com",
    ];
    for (const line of report) expect(failure).toContain(line);
    expect(failure).not.toContain(PLAIN_SECRET);
    expect(failure).not.toContain("stacks/config");
    expect(opened.recorder.take()).toEqual([]);
    const { deployment } = await opened.subject.stack.exportStack();
    const created = (deployment.resources ?? []).filter(
      ({ type }: { type: string }) => type !== "pulumi:pulumi:Stack",
    );
    expect(created).toEqual([]);
  },
  UPDATE_MS,
);
