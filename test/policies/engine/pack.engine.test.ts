import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPolicyPack } from "../../../policies/build.ts";
import { stewardPolicies } from "../../../policies/rules.ts";
import { startStage, TOKEN, type Stage } from "../../rehearsal/support.ts";
import { startAnyProvider, type AnyProvider } from "../../support/any-provider.ts";
import {
  cloudflareConfig,
  createTestStack,
  ENGINE_MS,
  UPDATE_MS,
  type TestStack,
} from "../../support/stack.ts";
import { AFTER_UPDATE, BEFORE_UPDATE, type Broken } from "./breaks.ts";
import { type Breaks, program } from "./program.ts";

describe("the policy pack under the real engine", () => {
  let subject: TestStack;
  let stage: Stage;
  let pack: string;
  let provider: AnyProvider;
  let breaks: Breaks = {};

  beforeAll(async () => {
    pack = await buildPolicyPack();
    stage = await startStage();
    provider = await startAnyProvider();
    subject = await createTestStack({
      program: () => program(breaks),
      config: cloudflareConfig(stage.cloudflare.url, TOKEN),
      name: "prod",
      environment: provider.environment,
    });
  }, ENGINE_MS);

  afterAll(async () => {
    await subject?.close();
    await stage?.close();
    provider?.close();
  });

  /** What the engine says of the rules, and which of the expected ones did not stop the preview. */
  async function stopped({ breaks: broken, config, stops }: Broken) {
    breaks = broken;
    const file = join(subject.folder, "policies.json");
    await writeFile(file, JSON.stringify(config));
    const preview = subject.stack.preview({ policyPacks: [pack], policyPackConfigs: [file] });
    const said = await preview.then(
      ({ stdout }) => `it was let pass\n${stdout}`,
      ({ message }: Error) => message,
    );
    const [, policies = said] = /^Policies:\n([\s\S]*?)\n\n/m.exec(said) ?? [];
    const missing = Object.entries(stops).filter(([rule, message]) => {
      const level = new RegExp(`\\[mandatory\\] \\[severity: \\w+\\] +${rule} `);
      return !level.test(policies) || !policies.includes(message);
    });
    return { missing, policies };
  }

  test(
    "stops a first preview",
    async () => {
      const { missing, policies } = await stopped(BEFORE_UPDATE);

      expect(missing, policies).toEqual([]);
      expect(policies).not.toContain("can't run");
    },
    UPDATE_MS,
  );

  test(
    "lets a stack pass that is as it should be, and says what it would rather have",
    async () => {
      breaks = { application: true };
      const preview = await subject.stack.preview({ policyPacks: [pack] });

      expect(preview.stdout).toContain("steward@v");
      expect(preview.stdout).toMatch(/\[advisory\] \[severity: low\] +bucket-lifecycle /);
      expect(preview.stdout).not.toContain("[mandatory]");
      expect(preview.stdout).not.toContain("can't run");
    },
    UPDATE_MS,
  );

  test(
    "lets it be deployed, and unchanged it passes again",
    async () => {
      breaks = {};
      await subject.stack.up({ policyPacks: [pack] });
      const preview = await subject.stack.preview({ policyPacks: [pack] });

      expect(Object.keys(preview.changeSummary)).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test.each(AFTER_UPDATE)(
    "stops a preview of what is deployed: $what",
    async (broken) => {
      const { missing, policies } = await stopped(broken);

      expect(missing, policies).toEqual([]);
      expect(policies).not.toContain("can't run");
      expect(policies).not.toContain("xoxb-the-bot-token");
    },
    UPDATE_MS,
  );

  test("was seen to stop a preview by each of its rules", () => {
    const seen = [BEFORE_UPDATE, ...AFTER_UPDATE].flatMap(({ stops }) => Object.keys(stops));

    expect(seen.sort()).toEqual(stewardPolicies.map(({ name }) => name).sort());
  });
});
