import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readSettings } from "../../../stacks/commands/settings.ts";
import { ACCOUNT, startStage, TOKEN, type Stage } from "../../rehearsal/support.ts";
import { engine } from "../../support/docker.ts";
import { freePort } from "../../support/ports.ts";
import { stackCommand } from "../../support/stack-command.ts";
import {
  cloudflareConfig,
  createTestStack,
  ENGINE_MS,
  UPDATE_MS,
  type TestStack,
} from "../../support/stack.ts";

const NEVER = "SANDBOX_SLEEP_AFTER is never, at the container's full price.";

const policies = (subject: TestStack, ...words: string[]) => stackCommand(subject, "policies.ts", ...words);

describe("npm run policies", () => {
  let subject: TestStack;
  let stage: Stage;

  beforeAll(async () => {
    stage = await startStage();
    subject = await createTestStack({
      name: "prod",
      program: () => Promise.resolve({}),
      config: {
        ...cloudflareConfig(stage.cloudflare.url, TOKEN),
        "steward:target": { value: "serverless" },
        "steward:accountId": { value: ACCOUNT },
        "steward:subdomain": { value: "acme" },
        "steward:image": { value: `registry.example.com/steward@sha256:${"0".repeat(64)}` },
        "steward:anthropicApiKey": { value: "sk-test-0123456789", secret: true },
        "steward:sleepAfter": { value: "never" },
        "steward:protectState": { value: "true" },
      },
    });
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    await stage?.close();
  });

  test(
    "ends with 1 where a rule stops the preview of a stack",
    async () => {
      const { code, said } = await policies(subject, "prod");

      expect(said).toContain(NEVER);
      expect(code).toBe(1);
    },
    UPDATE_MS,
  );

  test(
    "takes a policy configuration, and ends with 0",
    async () => {
      const file = join(subject.folder, "policies.json");
      await writeFile(file, '{"never-with-reason": {"reason": "answers within seconds"}}');
      const { code, said } = await policies(subject, "prod", "--config", file);

      expect(said).not.toContain(NEVER);
      expect(said).toContain("[advisory] [severity: low]  bucket-lifecycle ");
      expect(said).toContain("No mandatory rule is broken.");
      expect(code).toBe(0);
    },
    UPDATE_MS,
  );

  test.each([
    { words: [], cause: "give either a stack's name or --publish-dir", ends: 2 },
    { words: ["prod", "--backup", "yesterday"], cause: "--backup is not a time;", ends: 2 },
    { words: ["prod", "--config", "none.json"], cause: "none.json cannot be read as JSON", ends: 2 },
    { words: ["nowhere"], cause: "there is no stack nowhere; existing stacks: prod", ends: 1 },
  ])("says what is wrong with $words", async ({ words, cause, ends }) => {
    const { code, said } = await policies(subject, ...words);

    expect(said).toContain(cause);
    expect(code).toBe(ends);
  });
});

test.skipIf(!engine.ok)(
  "the example of a host breaks no mandatory rule, with the secrets that it asks for",
  async () => {
    const { values } = await readSettings(resolve("stacks"), "host");
    const given = Object.entries(values).map(([key, value]) => [key, { value }] as const);
    const subject = await createTestStack({
      name: "host",
      program: () => Promise.resolve({}),
      config: {
        ...Object.fromEntries(given),
        "steward:hostPort": { value: String(await freePort()) },
        "steward:anthropicApiKey": { value: "sk-test-0123456789", secret: true },
        "steward:adminToken": { value: "the-token-of-an-administrator", secret: true },
      },
    });
    onTestFinished(subject.close);
    const { code, said } = await policies(subject, "host");

    expect(said).toContain("No mandatory rule is broken.");
    expect(code).toBe(0);
  },
  ENGINE_MS,
);
