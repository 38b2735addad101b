import { afterAll, beforeAll, expect, test } from "vitest";
import { intoFormerShape } from "../support/former-deployment.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";

let world: ServerlessStage;
let subject: TestStack;

beforeAll(async () => {
  world = await startServerlessStage();
  subject = await world.stack({ config: { "steward:image": { value: "steward:one" } } });
}, ENGINE_MS);

afterAll(() => world?.close(), UPDATE_MS);

test(
  "a stack that was deployed by the official resource keeps what serves: one is taken over, the component is created, nothing else changes",
  async () => {
    await subject.stack.up();
    const { deployments, versions, workers } = world.stage.cloudflare.account.state;
    await intoFormerShape(subject);

    const { summary } = await subject.stack.up();
    const { create, delete: deleted, same, ...changes } = summary.resourceChanges ?? {};
    expect({ create, deleted, changes }).toEqual({ create: 2, deleted: 1, changes: {} });
    expect(same).toBeGreaterThan(15);
    const after = world.stage.cloudflare.account.state;
    expect(after.deployments).toEqual(deployments);
    expect(after.versions).toEqual(versions);
    expect(after.workers).toEqual(workers);
    expect(Object.keys((await subject.stack.preview({ refresh: true })).changeSummary)).toEqual(["same"]);
  },
  UPDATE_MS * 2,
);
