import { expect, test } from "vitest";
import { durableObject } from "../../support/durable-object.ts";

/** The real object over a container that the platform cannot start. */
const SOURCE = `
  import { Sandbox as Real } from "./runtime/worker/sandbox.ts";
  const container = { running: false, start() { throw new Error("no room for a container"); } };
  export class Sandbox extends Real {
    constructor(ctx, env) {
      Object.defineProperty(ctx, "container", { value: container });
      super(ctx, env);
    }
    async run(event) {
      await this.admit(event).catch(() => {});
      await this.ctx.storage.deleteAlarm();
      let failed = "";
      await this.alarm().catch((error) => { failed = String(error); });
      const alarm = await this.ctx.storage.getAlarm();
      return { failed, alarmInMs: alarm === null ? null : alarm - Date.now(), counts: (await this.counts()).value };
    }
  }
  export default {
    fetch: async (request, env) => Response.json(await env.OBJECT.getByName("one").run(await request.json())),
  };
`;

test("a container that cannot be started leaves its events an alarm", async () => {
  const event = {
    id: "Ev1",
    platform: "slack",
    conversation: "C1",
    receivedAt: Date.now(),
    payload: {},
  };
  const run = await durableObject(SOURCE, "Sandbox");
  const result = (await run(event)) as { failed: string; alarmInMs: number | null };

  expect(result).toMatchObject({ failed: "", counts: { waiting: 1 } });
  expect(result.alarmInMs).toBeGreaterThan(0);
});
