import { expect, test } from "vitest";
import { durableObject } from "../../support/durable-object.ts";
import { sandboxObjects, type Seen } from "../../support/sandbox-object.ts";

/** A Durable Object that does to a ledger what the body of a request says. */
const SOURCE = `
  import { DurableObject } from "cloudflare:workers";
  import { LedgerStore } from "./runtime/edge/ledger/store.ts";
  import { durableSql } from "./runtime/worker/durable-sql.ts";
  export class Ledger extends DurableObject {
    store = new LedgerStore(durableSql(this.ctx.storage));
    async fetch(request) {
      const steps = await request.json();
      return Response.json(steps.map(([method, ...args]) => this.store[method](...args) ?? null));
    }
  }
  export default { fetch: (request, env) => env.OBJECT.getByName("one").fetch(request) };
`;

async function durableLedger() {
  const ask = await durableObject(SOURCE, "Ledger");
  return async (...steps: [string, ...unknown[]][]) => (await ask(steps)) as unknown[];
}

test("a Durable Object's SQLite lists and replays as the host's does", async () => {
  const run = await durableLedger();
  const event = (id: string, platform = "slack") => ({
    id,
    platform,
    conversation: "C1",
    receivedAt: 1_000,
    payload: {},
  });
  await run(
    ["record", event("Ev1")],
    ["record", event("Ev2", "telegram")],
    ["take", 2_000, 10],
    ["settle", "slack:Ev1", { state: "failed", note: "refused" }, 3_000],
    ["settle", "telegram:Ev2", { state: "answered", note: "answered" }, 3_000],
  );
  const [dead, all, counts] = await run(
    ["list", { state: "failed", limit: 5 }],
    ["list", { limit: 1 }],
    ["counts"],
  );
  expect(dead).toMatchObject({ entries: [{ key: "slack:Ev1", note: "refused" }] });
  expect(all).toMatchObject({ entries: [{ key: "telegram:Ev2" }], next: 2 });
  expect(counts).toEqual({ waiting: 0, delivering: 0, answered: 1, ignored: 0, failed: 1 });

  const [unknown, answered, replayed, taken, after] = await run(
    ["replay", "slack:Ev9", 9_000],
    ["replay", "telegram:Ev2", 9_000],
    ["replay", "slack:Ev1", 9_000],
    ["take", 9_000, 10],
    ["counts"],
  );
  expect([unknown, answered, replayed]).toEqual(["unknown", "not_replayable", "replayed"]);
  expect(taken).toMatchObject([
    { entries: [{ key: "slack:Ev1", attempt: 1, delivery: { receivedAt: 9_000 } }] },
  ]);
  expect(after).toEqual({ waiting: 0, delivering: 1, answered: 1, ignored: 0, failed: 0 });
});

test("an edit is recorded after its message alone, and one of an unknown message starts no container", async () => {
  const run = await durableLedger();
  const event = (id: string, kind: string, text: string) => ({
    id,
    platform: "telegram",
    conversation: "1",
    receivedAt: 1_000,
    payload: { update_id: 1, [kind]: { message_id: 7, chat: { id: 1 }, text } },
  });
  const edit = event("2", "edited_message", "hello you");
  expect(await run(["record", edit], ["record", event("1", "message", "hello")], ["record", edit])).toEqual([
    "left",
    "recorded",
    "recorded",
  ]);

  const { one } = await sandboxObjects();
  expect(await one.do("admit", edit)).toEqual({ duplicate: true, ready: true });
  expect(await one.do<Seen>("seen")).toMatchObject({ starts: 0, running: false });
});
