import { createHmac } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { LEDGER_FORMAT } from "../../../runtime/contract/names.ts";
import { mention } from "../../../rehearsal/standins/slack.ts";
import { durableObject } from "../../support/durable-object.ts";
import { startModule } from "../../support/module-worker.ts";
import { sandboxObjects, type Seen } from "../../support/sandbox-object.ts";
import { temporaryDirectory } from "../support/processes.ts";

/** A Durable Object that does to a ledger what the body of a request says. */
const SOURCE = `
  import { DurableObject } from "cloudflare:workers";
  import { LedgerStore } from "./runtime/edge/ledger/store.ts";
  import { durableSql } from "./runtime/worker/durable-sql.ts";
  export class Ledger extends DurableObject {
    store = new LedgerStore(durableSql(this.ctx.storage));
    async fetch(request) {
      const steps = await request.json();
      const plain = (value) => (value instanceof Map ? Object.fromEntries(value) : value ?? null);
      return Response.json(steps.map(([name, ...args]) => {
        const [method, part] = name.split(".").reverse();
        return plain((part === undefined ? this.store : this.store[part])[method](...args));
      }));
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

test("a Durable Object's SQLite keeps people, attempts and times as the host's does", async () => {
  const run = await durableLedger();
  const from = { id: 42, first_name: "Ada" };
  const message = { message_id: 7, chat: { id: -1, type: "group", title: "Engines" }, from, text: "hello" };
  await run(
    [
      "record",
      { id: "1", platform: "telegram", conversation: "-1", receivedAt: 1_000, payload: { message } },
    ],
    ["take", 2_000, 10, 10, [], 1_500],
    ["postpone", "telegram:1", 2_500, "503", 2_200],
    ["take", 3_000, 10],
    [
      "settle",
      "telegram:1",
      { state: "answered", note: "answered", firstWordMs: 500, admitted: "group" },
      4_000,
    ],
    ["names.record", [{ key: "slack:U1", kind: "person" }], 1_000],
    ["names.storeFound", [{ key: "slack:U1", name: "Eve" }], 1_000],
  );
  const iso = (time: number): string => new Date(time).toISOString();
  const [found, details, excerpt, names, wanted, people] = await run(
    ["list", { limit: 5, q: "engines" }],
    ["details", "telegram:1"],
    ["excerpt", "telegram:1"],
    ["names.names", ["telegram:42", "telegram:-1", "slack:U1"]],
    ["names.dueKeys", ["slack:U1"], 1_000 + 24 * 3_600_000],
    ["names.entries", { limit: 1, q: "a" }],
  );
  expect(found).toMatchObject({
    entries: [
      {
        sender: "telegram:42",
        place: "telegram:-1",
        timeline: { started: iso(1_500), attempted: iso(3_000), firstWord: iso(3_500), reply: iso(4_000) },
      },
    ],
  });
  expect(details).toMatchObject({
    attempts: [
      { at: iso(2_000), endedAt: iso(2_200), note: "503" },
      { at: iso(3_000), endedAt: iso(4_000), note: "answered" },
    ],
  });
  expect(excerpt).toBe("hello");
  expect(names).toMatchObject({
    "telegram:42": { name: "Ada", admitted: "group" },
    "telegram:-1": { name: "Engines", kind: "group" },
    "slack:U1": { name: "Eve" },
  });
  expect(wanted).toEqual([{ key: "slack:U1", kind: "person" }]);
  expect(people).toMatchObject({ entries: [{ key: "telegram:42" }], next: expect.any(String) });
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

/** The whole Worker, whose object can be given a ledger of a newer version. */
const WORKER = `
  import worker from "./runtime/worker/worker.ts";
  import { Sandbox as Plain } from "./test/support/workerd/sandbox-object.ts";
  const VARIABLES = { SLACK_BOT_TOKEN: "xoxb-1", SLACK_SIGNING_SECRET: "secret", PUBLIC_WEBHOOKS: "true" };
  export class Sandbox extends Plain {
    constructor(ctx, env) { super(ctx, { ...env, ...VARIABLES }); }
    change(statement) { return this.ctx.storage.sql.exec(statement).toArray(); }
    evict() { this.ctx.abort("evicted"); }
  }
  export default {
    async fetch(request, env) {
      const path = new URL(request.url).pathname;
      const object = env.OBJECT.getByName("steward");
      if (path === "/change") return Response.json(await object.change(await request.text()));
      if (path === "/evict") return new Response(await object.evict().catch(String));
      return worker.fetch(request, { ...env, SANDBOX: env.OBJECT, ...VARIABLES });
    },
  };
`;

test("a Worker on the ledger of a newer version says so on each route that needs it", async () => {
  const { url, close } = await startModule(WORKER, "Sandbox", await temporaryDirectory());
  onTestFinished(close);
  const post = (path: string, body: string, headers = {}) =>
    fetch(new URL(path, url), { method: "POST", body, headers });
  await post("/change", "UPDATE ledger_format SET format = format + 1");
  await post("/evict", "");
  const body = JSON.stringify(mention("hello"));
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = `v0=${createHmac("sha256", "secret").update(`v0:${timestamp}:${body}`).digest("hex")}`;

  const answers = [
    await post("/slack/events", body, {
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": signature,
    }),
    await fetch(new URL("/readyz", url)),
    await fetch(url, { headers: { accept: "application/json" } }),
  ];

  for (const answer of answers) {
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({
      code: "data_newer",
      detail: `The ledger has format ${LEDGER_FORMAT + 1}, this version reads up to ${LEDGER_FORMAT}.`,
    });
  }
});
