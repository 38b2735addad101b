import { join } from "node:path";
import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { beforeAll, describe, expect, test } from "vitest";
import { engineCommand, ensureEngine } from "../../infra/rehearsal/engine/index.ts";
import { loadConfig } from "../../stacks/config.ts";
import { ENGINE_MS } from "../support/stack.ts";

const ROOT = join(import.meta.dirname, "../..");
const SECRETS = {
  "cloudflare:apiToken": "test-token_0123456789abcdefghijklmnopqrstuv",
  "steward:anthropicApiKey": "sk-test",
};

describe("the example stacks", () => {
  let workspace: LocalWorkspace;

  beforeAll(async () => {
    const engine = await ensureEngine({ log: (line) => void process.stderr.write(`${line}\n`) });
    // The folder of the settings files: reading them starts nothing.
    const workDir = join(ROOT, "stacks");
    workspace = await LocalWorkspace.create({ workDir, pulumiCommand: await engineCommand(engine) });
  }, ENGINE_MS);

  test.each(["dev", "prod", "host"])("%s is complete but for its secrets", async (name) => {
    const settings = await workspace.stackSettings(name);
    const values = Object.entries(settings.config ?? {}).map(([key, value]) => [key, asText(value)]);

    const config = loadConfig({
      values: { ...SECRETS, ...Object.fromEntries(values) },
      isSecret: (key) => key in SECRETS,
      environment: {},
    });

    expect(config.target).toBe(name === "host" ? "host" : "serverless");
  });
});

/** A value as Pulumi hands it to a program: lists as JSON. */
function asText(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
