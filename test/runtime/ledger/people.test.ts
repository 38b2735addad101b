import type { LedgerQuery } from "../../../runtime/edge/ports.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { Dispatcher } from "../../../runtime/edge/ledger/dispatcher.ts";
import { answered, LedgerStage, silent } from "../support/ledger.ts";

let stage: LedgerStage;
let store: LedgerStore;
beforeEach(() => {
  stage = new LedgerStage();
  store = new LedgerStore(stage.sql);
});
afterEach(() => stage.close());

function message(id: string, name: string, chat = 42): Delivery {
  const from = { id: 42, first_name: name };
  const kind = chat < 0 ? { type: "group", title: "Engines" } : { type: "private" };
  const payload = { message: { message_id: Number(id), from, chat: { id: chat, ...kind }, text: "hello" } };
  return { id, platform: "telegram", conversation: String(chat), receivedAt: stage.now, payload };
}

const iso = (after: number): string => new Date(stage.now + after).toISOString();
const entry = () => store.list({ limit: 1 }).entries[0];

describe("an event", () => {
  it("has its sender and its place, whose names follow the events", () => {
    store.record(message("1", "Ada", -100));
    expect(entry()).toMatchObject({ sender: "telegram:42", place: "telegram:-100" });
    store.record(message("2", "Ada King", -100));
    const names = store.names.names(["telegram:42", "telegram:-100"]);
    expect([...names.values()].map(({ kind, name }) => [kind, name])).toEqual([
      ["person", "Ada King"],
      ["group", "Engines"],
    ]);
  });

  it("has a timeline from its receipt to its end", async () => {
    store.record(message("1", "Ada"), stage.now + 5);
    expect(entry()?.timeline).toEqual({ received: iso(0), recorded: iso(5) });
    const start = stage.now;
    stage.now += 9_000;
    store.take(stage.now, 1, 1, [], start + 8_000);
    store.settle(
      "telegram:1",
      { state: "answered", note: "answered", firstWordMs: 1_000, admitted: "approval" },
      stage.now + 3_000,
    );
    stage.now = start;
    expect(entry()?.timeline).toEqual({
      received: iso(0),
      recorded: iso(5),
      started: iso(8_000),
      attempted: iso(9_000),
      firstWord: iso(11_000),
      reply: iso(12_000),
      settled: iso(12_000),
    });
    expect(store.names.names(["telegram:42"]).get("telegram:42")).toMatchObject({ admitted: "approval" });
  });

  it("has not waited for a container that was ready before, and no reply if it was ignored", () => {
    store.record(message("1", "Ada"));
    store.take(stage.now + 1, 1, 1, [], stage.now - 1);
    store.settle("telegram:1", { state: "ignored", note: "" }, stage.now + 2);
    expect(entry()?.timeline).toEqual({
      received: iso(0),
      recorded: iso(0),
      attempted: iso(1),
      settled: iso(2),
    });
  });

  it("has its last ten attempts with times and reasons", () => {
    store.record(message("1", "Ada"));
    for (let attempt = 0; attempt < 12; attempt += 1) {
      store.take(stage.now + attempt * 10, 1);
      store.postpone(
        "telegram:1",
        stage.now + attempt * 10 + 10,
        `503 no. ${attempt} ${"x".repeat(300)}`,
        stage.now + attempt * 10 + 5,
      );
    }
    expect(store.details("telegram:1")?.attempts).toHaveLength(10);
    store.take(stage.now + 120, 1);
    store.settle("telegram:1", { state: "failed", note: "given up" }, stage.now + 121);
    const { entry: shown, attempts = [] } = store.details("telegram:1") ?? {};
    expect(shown).toMatchObject({ key: "telegram:1", attempts: 13, state: "failed" });
    expect(attempts).toHaveLength(10);
    expect(attempts[0]).toEqual({ at: iso(30), endedAt: iso(35), note: `503 no. 3 ${"x".repeat(190)}` });
    expect(attempts.at(-1)).toEqual({ at: iso(120), endedAt: iso(121), note: "given up" });
    expect(JSON.stringify(store.list({ limit: 9 }))).not.toContain("no. 3");
    expect(store.details("telegram:9")).toBeUndefined();
  });

  it("begins anew with its replay", () => {
    store.record(message("1", "Ada"));
    store.take(stage.now, 1);
    store.postpone("telegram:1", stage.now, "503");
    store.take(stage.now, 1);
    store.settle("telegram:1", { state: "failed", note: "no" }, stage.now);
    store.replay("telegram:1", stage.now + 7);
    expect(entry()?.timeline).toEqual({ received: iso(7), recorded: iso(7) });
    expect(store.details("telegram:1")?.attempts).toEqual([]);
  });

  it("shows the beginning of its text on request, and never in the list", () => {
    store.record(message("1", "Ada"));
    expect(store.excerpt("telegram:1")).toBe("hello");
    expect(store.excerpt("telegram:9")).toBeUndefined();
    expect(JSON.stringify([store.list({ limit: 9 }), store.details("telegram:1")])).not.toContain("hello");
  });

  it("of an older version has no people and a timeline of what was known", () => {
    store.record(message("1", "Ada"));
    stage.sql.all("UPDATE ledger SET sender = NULL, place = NULL, times = NULL, attempt_log = NULL");
    store.take(stage.now, 1);
    store.postpone("telegram:1", stage.now, "503");
    expect(entry()).not.toHaveProperty("sender");
    expect(entry()?.timeline).toEqual({ received: iso(0), attempted: iso(0) });
    expect(store.details("telegram:1")?.attempts).toEqual([{ at: iso(0), endedAt: iso(0), note: "503" }]);
  });
});

it("a search finds events by the names of their person and place", () => {
  store.record(message("1", "Ada"));
  store.record(message("2", "Ada", -100));
  store.record(stage.event("Ev1"));
  const found = (query: object) => store.list({ limit: 9, ...query }).entries.map(({ key }) => key);
  expect(found({ q: "ada" })).toEqual(["telegram:2", "telegram:1"]);
  expect(found({ q: "ENGINES" })).toEqual(["telegram:2"]);
  expect(found({ sender: "telegram:42", place: "telegram:42" })).toEqual(["telegram:1"]);
  expect(found({ place: "telegram:7" })).toEqual([]);
});

it("lists events in any order of its columns, page by page", () => {
  const write = (key: string, from: string, chat?: number) => {
    store.record(message(key, from, chat));
  };
  write("1", "Zoë");
  write("2", "Zoë", -100);
  store.record(stage.event("Ev1"));
  const keys = (sort: LedgerQuery["sort"], before?: number) =>
    store.list({ limit: 2, sort, before }).entries.map(({ key }) => key);
  expect(keys("received")).toEqual(["telegram:1", "telegram:2"]);
  expect(keys("-received")).toEqual(["slack:Ev1", "telegram:2"]);
  expect(keys("-person")).toEqual(["telegram:2", "telegram:1"]);
  expect(keys("person")[0]).toBe("slack:Ev1");
  const { next } = store.list({ limit: 2, sort: "person" });
  expect(keys("person", next)).toEqual(["telegram:1"]);
  expect(store.list({ limit: 2, sort: "person", before: next }).next).toBeUndefined();
  store.settle("telegram:1", { state: "answered", note: "" }, stage.now);
  expect(keys("outcome")).toEqual(["telegram:1", "slack:Ev1"]);
  expect(keys("-outcome")).toEqual(["slack:Ev1", "telegram:2"]);
  expect(keys("place").length).toBe(2);
});

it("a ledger of the version before gets the columns, and its entries stay", () => {
  store.record(message("1", "Ada"));
  for (const column of ["sender", "place", "times", "attempt_log"])
    stage.sql.all(`ALTER TABLE ledger DROP COLUMN ${column}`);
  stage.sql.all("DROP TABLE ledger_names");
  store = new LedgerStore(stage.sql);
  store.record(message("2", "Ada"));
  expect(store.list({ limit: 9 }).entries.map(({ key, sender }) => [key, sender])).toEqual([
    ["telegram:2", "telegram:42"],
    ["telegram:1", undefined],
  ]);
});

it("asks the gateway for the names that it lacks, once, and keeps what it learns", async () => {
  const asked: unknown[] = [];
  const runner = new Dispatcher({
    store,
    deliver: async ({ deliveries, names }, { ended, named }) => {
      asked.push(names);
      named?.([{ key: "slack:C1", name: "general" }, { key: "slack:U1" }]);
      for (const { id } of deliveries) ended(id, await answered());
      return { kind: "retry", note: "" };
    },
    notify: async () => false,
    wakeAt: () => {},
    clock: () => stage.now,
    random: () => 0,
    log: silent,
    concurrency: 1,
  });
  for (const id of ["Ev1", "Ev2"]) {
    store.record({ ...stage.event(id), payload: { event: { channel: "C1", user: "U1" } } });
    runner.run();
    await runner.idle();
  }
  expect(asked).toEqual([
    [
      { key: "slack:C1", kind: "channel" },
      { key: "slack:U1", kind: "person" },
    ],
    undefined,
  ]);
  expect(store.names.names(["slack:C1"]).get("slack:C1")).toMatchObject({ kind: "channel", name: "general" });
});
