import { afterAll, beforeAll, expect, test } from "vitest";
import { ACCOUNT } from "../../rehearsal/support.ts";
import { startServerlessStage, type ServerlessStage } from "../../support/serverless-stack.ts";
import { stackCommand } from "../../support/stack-command.ts";
import { ENGINE_MS, UPDATE_MS, type TestStack } from "../../support/stack.ts";

let world: ServerlessStage;
let subject: TestStack;

beforeAll(async () => {
  world = await startServerlessStage();
  subject = await world.stack();
  await subject.stack.up();
}, ENGINE_MS);

afterAll(() => world?.close(), UPDATE_MS);

const drift = (...words: string[]) => stackCommand(subject, "drift.ts", "test", ...words);

test(
  "finds nothing in what was just deployed",
  async () => {
    const { code, said } = await drift();
    expect(said).toContain("No drift.");
    expect(code).toBe(0);
  },
  UPDATE_MS,
);

test(
  "tells what somebody changed, and leaves the state as it is",
  async () => {
    const { applications } = world.stage.client.containers;
    const { result } = await applications.list({ account_id: ACCOUNT });
    await applications.edit(String(result[0]?.id), { account_id: ACCOUNT, max_instances: 5 });
    const before = await subject.stack.exportStack();

    const { code, said, report } = await drift("--json");
    expect(report, said).toMatchObject({
      ok: true,
      drift: [{ type: "pulumi-nodejs:dynamic/serverless:ContainerApplication", what: "changed" }],
    });
    expect(said).toContain("To put it back: pulumi up -s test --refresh");
    expect(code).toBe(2);
    expect(await subject.stack.exportStack()).toEqual(before);
  },
  UPDATE_MS,
);

test(
  "tells what is gone",
  async () => {
    const { applications } = world.stage.client.containers;
    const { result } = await applications.list({ account_id: ACCOUNT });
    await applications.delete(String(result[0]?.id), { account_id: ACCOUNT });

    const { code, said } = await drift();
    expect(said).toMatch(/^gone: \S+ \(pulumi-nodejs:dynamic\/serverless:ContainerApplication\)$/m);
    expect(code).toBe(2);
  },
  UPDATE_MS,
);

test("says what is wrong with an unknown stack", async () => {
  const { code, report } = await stackCommand(subject, "drift.ts", "nowhere", "--json");
  expect(report).toMatchObject({ ok: false, cause: expect.stringContaining("nowhere") });
  expect(code).toBe(1);
});
