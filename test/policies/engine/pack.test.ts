import * as cloudflare from "@pulumi/cloudflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPolicyPack } from "../../policies/build.ts";
import { cloudflareConfig, createTestStack, ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";

let type = "secret_text";

async function program() {
  const version = new cloudflare.WorkerVersion("version", {
    accountId: "0123456789abcdef0123456789abcdef",
    workerId: "a-worker",
    bindings: [{ name: "SLACK_BOT_TOKEN", type, text: "xoxb-test-0123456789" }],
  });
  return { id: version.id };
}

describe("the policy pack under the real engine", () => {
  let subject: TestStack;
  let pack: string;

  beforeAll(async () => {
    pack = await buildPolicyPack();
    const config = cloudflareConfig("http://127.0.0.1:9", "a-token-that-no-server-is-there-to-read-0000");
    subject = await createTestStack({ program, config, providers: ["cloudflare"] });
  }, ENGINE_MS);

  afterAll(() => subject?.close());

  test(
    "lets a preview pass that keeps secrets secret",
    async () => {
      const preview = await subject.stack.preview({ policyPacks: [pack] });

      expect(preview.changeSummary).toEqual({ create: 2 });
      expect(preview.stdout).toContain("steward@v");
    },
    UPDATE_MS,
  );

  test(
    "stops a preview with a secret in a plain binding",
    async () => {
      type = "plain_text";

      await expect(subject.stack.preview({ policyPacks: [pack] })).rejects.toThrow(
        "SLACK_BOT_TOKEN is a secret but bound as plain_text. Bind it as secret_text.",
      );
    },
    UPDATE_MS,
  );
});
