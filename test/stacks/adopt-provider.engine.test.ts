import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { urnsOf, withoutProvider } from "../support/former-gateway.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../support/stack.ts";
import { TOKEN } from "../rehearsal/support.ts";

describe("a serverless stack whose own resources were dynamic", () => {
  let world: ServerlessStage;
  let subject: TestStack;

  beforeAll(async () => {
    world = await startServerlessStage();
    subject = await world.stack();
    await subject.stack.up();
  }, ENGINE_MS);

  afterAll(() => world?.close(), UPDATE_MS);

  test(
    "is read as it is before the first update, which changes nothing and keeps the key, and every later one",
    async () => {
      const { stack } = subject;
      const deployed = await stack.exportStack();
      const former = withoutProvider(deployed.deployment);
      expect(urnsOf(former).filter((urn) => urn.includes("pulumi-nodejs:dynamic/")).length).toBeGreaterThan(
        8,
      );
      await stack.importStack({ ...deployed, deployment: former });

      expect(Object.keys((await stack.refresh()).summary.resourceChanges ?? {})).toEqual(["same"]);
      expect(Object.keys((await stack.preview()).changeSummary)).toEqual(["same"]);
      expect(Object.keys((await stack.up()).summary.resourceChanges ?? {})).toEqual(["same"]);
      const { deployment } = await stack.exportStack();
      expect(urnsOf(deployment).toSorted()).toEqual(urnsOf(deployed.deployment).toSorted());
      expect(keyOf(deployment)).toBe(keyOf(deployed.deployment));
      expect(Object.keys((await stack.preview({ refresh: true })).changeSummary)).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test("keeps its credentials in the state as secrets, and no configuration as the provider's", async () => {
    const text = await stateText(subject);
    expect(text).not.toContain(TOKEN);
    const { deployment } = await subject.stack.exportStack();
    const provider = resourcesOf(deployment).find(({ type }) => type === "pulumi:providers:steward");
    expect(Object.keys(provider?.inputs ?? {})).not.toContain("anthropicApiKey");
    expect(Object.keys(provider?.inputs ?? {})).not.toContain("endpoints");
  });

  test(
    "is destroyed without its program, also before the first update",
    async () => {
      const { stack } = subject;
      const deployed = await stack.exportStack();
      await stack.importStack({ ...deployed, deployment: withoutProvider(deployed.deployment) });
      expect((await stack.destroy()).summary.result).toBe("succeeded");
      expect(world.stage.cloudflare.account.state).toMatchObject({ workers: [], buckets: [] });
    },
    UPDATE_MS,
  );
});

interface Resource {
  type: string;
  inputs?: object;
  outputs?: Record<string, unknown>;
}

function resourcesOf(deployment: unknown): Resource[] {
  return (deployment as { resources: Resource[] }).resources;
}

function keyOf(deployment: unknown): string {
  const found = resourcesOf(deployment).find(({ type }) => type.endsWith("secrets:AttestationKey"));
  return JSON.stringify(found?.outputs?.["key"]);
}
