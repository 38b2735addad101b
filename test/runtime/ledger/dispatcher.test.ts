import { backoffMs } from "../../../runtime/shared/backoff.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { problem, problemResponse } from "../../../runtime/contract/problem.ts";
import { deliverTo } from "../../../runtime/edge/ledger/deliver.ts";
import { Dispatcher, type AttemptResult } from "../../../runtime/edge/ledger/dispatcher.ts";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { gatewayOf, turns } from "../support/handing-over.ts";
import { answered, failed, Gates, HOUR, LedgerStage, silent } from "../support/ledger.ts";

/** The documented waits: one second after the first failure, five minutes at most. */
const RETRY = { firstMs: 1_000, longestMs: 300_000 };

let stage: LedgerStage;
beforeEach(() => {
  stage = new LedgerStage();
});
afterEach(() => stage.close());

describe("dispatcher", () => {
  it("asks to be run again although the time moves on while it runs", async () => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("Ev1"));
    const wishes: number[] = [];
    const runner = new Dispatcher({
      store,
      notify: async () => false,
      deliver: async () => ({ kind: "retry", note: "down", afterMs: 3 }),
      wakeAt: (time) => void wishes.push(time),
      clock: () => stage.now++,
      random: () => 0,
      log: silent,
      concurrency: 4,
    });
    runner.run();
    await runner.idle();
    const due = store.nextDue() ?? 0;
    expect(wishes.at(-1)).toBe(due);
    // The timer is early by a millisecond: the entry is not due yet, and is by the end of the run.
    stage.now = due - 1;
    wishes.length = 0;
    runner.run();
    expect(wishes).toEqual([due]);
  });

  it("leaves half of its places to chats that nothing is under way for", async () => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("a1", "A"));
    store.record(stage.event("b1", "B"));
    const gates = new Gates();
    const { runner, seen } = stage.dispatcher(store, (delivery) => gates.wait(delivery.id));
    runner.run();
    await turns();
    store.record(stage.event("a2", "A"));
    runner.run();
    expect(seen).toEqual(["a1", "b1"]);
    await gates.end("b1", answered());
    expect(seen).toEqual(["a1", "b1", "a2"]);
    store.record(stage.event("a3", "A"));
    runner.run();
    store.record(stage.event("c1", "C"));
    runner.run();
    expect(seen).toEqual(["a1", "b1", "a2", "c1"]);
  });

  it("honours the wait that the other side asks for", async () => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("Ev1"));
    const { runner, wishes } = stage.dispatcher(store, async () => ({
      kind: "retry",
      note: "limit",
      afterMs: 90_000,
    }));
    runner.run();
    await runner.idle();
    expect(wishes.at(-1)).toBe(stage.now + 90_000);
  });

  it.each([
    ["an hour, which is waited for", HOUR, HOUR],
    ["a day, and is tried once more before the end", 24 * HOUR, 24 * HOUR - 10 * 60_000],
  ])("is told to wait for %s", async (_name, afterMs, waited) => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("Ev1"));
    const { runner, wishes } = stage.dispatcher(store, async () => ({
      kind: "retry",
      note: "no requests are left today",
      afterMs,
    }));
    runner.run();
    await runner.idle();
    expect(wishes.at(-1)).toBe(stage.now + waited);
  });

  it("goes on where the clock is set back, also over a restart", async () => {
    const store = new LedgerStore(stage.sql);
    let up = false;
    const results = async (): Promise<AttemptResult> => (up ? answered() : failed);
    store.record(stage.event("Ev1", "A"));
    const before = stage.dispatcher(store, results);
    before.runner.run();
    await before.runner.idle();
    store.record(stage.event("Ev2", "B"));
    up = true;

    stage.now -= 3 * HOUR;
    before.runner.run();
    await before.runner.idle();
    expect(store.counts()).toMatchObject({ waiting: 0, answered: 2 });

    store.record(stage.event("Ev3", "C"));
    stage.now -= 3 * HOUR;
    const after = stage.dispatcher(new LedgerStore(stage.sql), results);
    after.runner.run();
    await after.runner.idle();
    expect(store.counts()).toMatchObject({ waiting: 0, answered: 3 });
  });

  it.each([
    { code: "gateway_unavailable", longest: 15_000 },
    { code: "model_no_answer", longest: 150_000 },
  ] as const)("waits $longest ms at most while it gets $code", async ({ code, longest }) => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("Ev1"));
    const sandbox = gatewayOf(async () => problemResponse(problem(code)));
    const { runner, wishes } = stage.dispatcher(store, async (delivery) => {
      const ends: AttemptResult[] = [];
      const on = { placed: () => {}, ended: (_id: string, end: AttemptResult) => void ends.push(end) };
      const rest = await deliverTo(
        { sandbox, record: () => {}, clock: () => stage.now },
        { deliveries: [delivery] },
        on,
      );
      return ends[0] ?? rest;
    });
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 12; attempt += 1) {
      runner.run();
      await runner.idle();
      waits.push((wishes.at(-1) ?? 0) - stage.now);
      stage.now = wishes.at(-1) ?? stage.now;
    }
    expect(waits.slice(0, 3)).toEqual([500, 1_000, 2_000]);
    expect(Math.max(...waits)).toBe(longest);
  });

  it("gives up after a day, and at once on what can never succeed", async () => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("slow", "A"));
    store.record(stage.event("wrong", "B"));
    const { runner } = stage.dispatcher(store, async (delivery) =>
      delivery.id === "wrong" ? { kind: "refused", note: "400" } : { kind: "retry", note: "down" },
    );
    runner.run();
    await runner.idle();
    expect(store.counts()).toMatchObject({ waiting: 1, failed: 1 });
    stage.now += 25 * HOUR;
    runner.run();
    await runner.idle();
    expect(store.counts()).toMatchObject({ waiting: 0, failed: 2 });
  });

  it("counts a delivery that throws as one to try again", async () => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("Ev1"));
    const { runner } = stage.dispatcher(store, async () => Promise.reject(new Error("connection refused")));
    runner.run();
    await runner.idle();
    expect(store.counts()).toMatchObject({ waiting: 1, delivering: 0 });
  });

  it("waits longer each time, with jitter, and never beyond five minutes", () => {
    expect([1, 2, 3, 30].map((attempt) => backoffMs(RETRY, attempt, 0))).toEqual([
      500, 1_000, 2_000, 150_000,
    ]);
    expect(backoffMs(RETRY, 30, 0.999)).toBeLessThanOrEqual(300_000);
  });
});
