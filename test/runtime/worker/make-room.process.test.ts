import { expect, test } from "vitest";
import { durableObject } from "../../support/durable-object.ts";

/** The directory, over chats that take a moment to fall asleep. */
const SOURCE = `
  import { Directory as PlainDirectory } from "./runtime/worker/directory.ts";
  import { toResult } from "./runtime/worker/rpc.ts";
  const asked = [];
  const asleep = new Set();
  const SANDBOX = {
    getByName: (name) => ({
      sleepEarly: () => toResult(async () => {
        const isBusy = asked.includes(name) && !asleep.has(name);
        asked.push(name);
        if (isBusy) return false;
        await new Promise((resolve) => setTimeout(resolve, 300));
        asleep.add(name);
        return true;
      }),
    }),
  };
  export class Directory extends PlainDirectory {
    constructor(ctx, env) { super(ctx, { ...env, TENANCY: "chat", SANDBOX }); }
    async run({ reports, wanting }) {
      asked.length = 0;
      asleep.clear();
      for (const [tenant, report] of reports) {
        await this.meet(tenant);
        await this.report(tenant, report);
      }
      const made = await Promise.all(wanting.map((tenant) => this.makeRoom(tenant)));
      return { made: made.map(({ value }) => value), asked };
    }
  }
  export default {
    fetch: async (request, env) =>
      Response.json(await env.OBJECT.getByName("directory").run(await request.json())),
  };
`;

const COUNTS = { waiting: 0, delivering: 0, answered: 1, failed: 0, ignored: 0 };
const REPORTS = ["C1", "C2", "C3"].map((chat, index) => [
  `slack-${chat}`,
  { running: true, counts: COUNTS, usedAt: new Date(1_795_000_000_000 + index * 60_000).toISOString() },
]);

test("a chat that asks again while another goes to sleep for it gets one room", async () => {
  const ask = await durableObject(SOURCE, "Directory");
  const wanting = ["slack-C9", "slack-C9", "slack-C9"];
  expect(await ask({ reports: REPORTS, wanting })).toEqual({
    made: [true, true, true],
    asked: ["slack-C1"],
  });
});

test("two chats that ask at the same time get a room each", async () => {
  const ask = await durableObject(SOURCE, "Directory");
  expect(await ask({ reports: REPORTS, wanting: ["slack-C8", "slack-C9"] })).toEqual({
    made: [true, true],
    asked: ["slack-C1", "slack-C1", "slack-C2"],
  });
});
