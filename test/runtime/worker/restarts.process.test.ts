import { expect, test } from "vitest";
import { durableObject } from "../../support/durable-object.ts";

/** The real object over a container whose supervisor falls silent before the container ends. */
const SOURCE = `
  import { Sandbox as Real } from "./runtime/worker/sandbox.ts";
  let now = Date.now();
  Date.now = () => now;
  let crash, answers = true;
  const container = {
    running: true,
    monitor: () => new Promise((_resolve, reject) => { crash = reject; }),
    setInactivityTimeout: async () => {},
    getTcpPort: () => ({
      fetch: async () => {
        if (answers) return Response.json({ state: "ready", since: "", restarts: 1 });
        throw new Error("connection refused");
      },
    }),
  };
  export class Sandbox extends Real {
    constructor(ctx, env) {
      Object.defineProperty(ctx, "container", { value: container });
      super(ctx, env);
    }
    async restarts() {
      now += 60_000;
      return (await this.status()).value.restarts;
    }
    async run() {
      const counts = [await this.restarts()];
      answers = false;
      counts.push(await this.restarts());
      container.running = false;
      crash(new Error("Container exited with unexpected exit code: 137"));
      await new Promise((resolve) => setTimeout(resolve, 10));
      counts.push(await this.restarts());
      return counts;
    }
  }
  export default {
    fetch: async (request, env) => Response.json(await env.OBJECT.getByName("one").run()),
  };
`;

test("the restarts of a run count on while its supervisor is silent, and beyond its end", async () => {
  const run = await durableObject(SOURCE, "Sandbox");

  expect(await run({})).toEqual([1, 1, 2]);
});
