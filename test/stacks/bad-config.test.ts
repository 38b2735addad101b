import { afterAll, beforeAll, expect, test } from "vitest";
import { startRecorder, type Recorder } from "../infra/providers/recorder.ts";
import { stackProgram } from "../support/program.ts";
import { cloudflareConfig, createTestStack, ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";

const PLAIN_SECRET = "xoxb-a-token-that-was-set-in-plain";

let recorder: Recorder;
let subject: TestStack;

beforeAll(async () => {
  recorder = await startRecorder();
  subject = await createTestStack({
    program: stackProgram(),
    config: {
      ...cloudflareConfig(recorder.url, "test-token_0123456789abcdefghijklmnopqrstuv"),
      "steward:target": { value: "serverless" },
      "steward:accountId": { value: "0123456789abcdef0123456789abcdef" },
      "steward:subdomain": { value: "example" },
      "steward:operators": { value: '["op@example.com"]' },
      // Five things that are wrong: a key, a duration, a team domain, a secret in plain, a missing one.
      "steward:sleepsAfter": { value: "1h" },
      "steward:sleepAfter": { value: "10" },
      "steward:teamDomain": { value: "steward.example.workers.dev" },
      "steward:slackSigningSecret": { value: "set-as-it-should-be", secret: true },
      "steward:slackBotToken": { value: PLAIN_SECRET },
    },
  });
}, ENGINE_MS);

afterAll(async () => {
  await subject?.close();
  await recorder?.close();
}, UPDATE_MS);

test.each(["preview", "up"] as const)(
  "%s reports every mistake at once, with key and fix, and creates nothing",
  async (operation) => {
    const failure = await subject.stack[operation]().then(
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
    expect(recorder.take()).toEqual([]);
    const { deployment } = await subject.stack.exportStack();
    const created = (deployment.resources ?? []).filter(
      ({ type }: { type: string }) => type !== "pulumi:pulumi:Stack",
    );
    expect(created).toEqual([]);
  },
  UPDATE_MS,
);
