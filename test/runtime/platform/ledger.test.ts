import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Delivery } from "../../../runtime/contract/control.ts";
import { Dispatcher, retryDelay, type AttemptResult } from "../../../runtime/edge/ledger/dispatcher.ts";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { openSqlite, type NodeSql } from "../../../runtime/platform/node/sqlite.ts";

const HOUR = 3_600_000;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let dir: string;
let sql: NodeSql;
let now: number;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), "steward-ledger-"));
  sql = openSqlite(path.join(dir, "state.db"));
  now = 1_795_000_000_000;
});
afterEach(() => {
  sql.close();
  rmSync(dir, { recursive: true });
});

function event(id: string, conversation = "C1"): Delivery {
  return { id, platform: "slack", conversation, receivedAt: now, payload: { id } };
}

/** A dispatcher over a script of results; `seen` lists the deliveries in their order. */
function dispatcher(
  store: LedgerStore,
  results: (delivery: Delivery, call: number) => Promise<AttemptResult>,
) {
  const seen: string[] = [];
  const wishes: number[] = [];
  const runner = new Dispatcher({
    store,
    deliver: (delivery) => {
      seen.push(delivery.id);
      return results(delivery, seen.length);
    },
    wakeAt: (time) => void wishes.push(time),
    clock: () => now,
    random: () => 0,
    log: silent,
    concurrency: 4,
  });
  return { runner, seen, wishes };
}

const answered = async (): Promise<AttemptResult> => ({ kind: "settled", note: "answered" });

describe("ledger", () => {
  it("stores an event once, whatever the platform repeats", async () => {
    const store = new LedgerStore(sql);
    expect([store.record(event("Ev1")), store.record(event("Ev1"))]).toEqual([true, false]);
    const { runner, seen } = dispatcher(store, answered);
    runner.run();
    await runner.idle();
    expect(store.record(event("Ev1"))).toBe(false);
    runner.run();
    expect(seen).toEqual(["Ev1"]);
    expect(store.counts()).toEqual({ received: 0, delivering: 0, answered: 1, dead: 0 });
  });

  it("takes up after a crash what was being delivered", () => {
    new LedgerStore(sql).record(event("Ev1"));
    new LedgerStore(sql).take(now, 10);
    const afterwards = new LedgerStore(sql);
    expect(afterwards.take(now, 10)).toMatchObject([{ attempt: 2, delivery: { id: "Ev1" } }]);
  });

  it("prunes what was settled more than seven days ago, and nothing that is open", async () => {
    const store = new LedgerStore(sql);
    store.record(event("old"));
    const { runner } = dispatcher(store, answered);
    runner.run();
    await runner.idle();
    now += 8 * 24 * HOUR;
    store.record(event("new"));
    const later = dispatcher(store, async () => ({ kind: "retry", note: "down" }));
    later.runner.run();
    await later.runner.idle();
    expect(store.counts()).toEqual({ received: 1, delivering: 0, answered: 0, dead: 0 });
  });
});

describe("what goes wrong", () => {
  it("does not hold up the others for an entry that it cannot read", async () => {
    const store = new LedgerStore(sql);
    store.record(event("bad"));
    store.record(event("good"));
    sql.all(
      "UPDATE ledger SET delivery = ? WHERE key = 'slack:bad'",
      JSON.stringify({ ...event("bad"), extra: 1 }),
    );
    const { runner, seen } = dispatcher(store, answered);
    runner.run();
    await runner.idle();
    runner.run();
    await runner.idle();
    expect(seen).toEqual(["good"]);
    expect(store.counts()).toMatchObject({ answered: 1, dead: 1, received: 0 });
  });

  it("takes an entry up again whose end could not be recorded", async () => {
    let failing = true;
    const store = new LedgerStore({
      ...sql,
      all: (statement, ...values) => {
        if (failing && statement.includes("settled_at = ?") && statement.includes("key = ?"))
          throw new Error("disk full");
        return sql.all(statement, ...values);
      },
    });
    store.record(event("Ev1"));
    const { runner, seen } = dispatcher(store, answered);
    runner.run();
    failing = false;
    await runner.idle();
    await runner.idle();
    runner.run();
    await runner.idle();
    expect(seen[0]).toBe("Ev1");
    expect(store.counts()).toEqual({ received: 0, delivering: 0, answered: 1, dead: 0 });
  });

  it("asks to be run again where the store is locked, and ends nothing", () => {
    const locked = {
      ...sql,
      transaction: () => {
        throw new Error("database is locked");
      },
    };
    const { runner, wishes } = dispatcher(new LedgerStore(locked), answered);
    runner.run();
    expect(wishes).toEqual([now + 5_000]);
  });

  it("gives up after a day what was never tried", () => {
    const store = new LedgerStore(sql);
    store.record(event("Ev1"));
    now += 25 * HOUR;
    dispatcher(store, answered).runner.tidy();
    expect(store.counts()).toMatchObject({ received: 0, dead: 1 });
  });
});

describe("dispatcher", () => {
  it("asks to be run again although the time moves on while it runs", async () => {
    const store = new LedgerStore(sql);
    store.record(event("Ev1"));
    const wishes: number[] = [];
    const runner = new Dispatcher({
      store,
      deliver: async () => ({ kind: "retry", note: "down", afterMs: 3 }),
      wakeAt: (time) => void wishes.push(time),
      clock: () => now++,
      random: () => 0,
      log: silent,
      concurrency: 4,
    });
    runner.run();
    await runner.idle();
    const due = store.nextDue() ?? 0;
    expect(wishes.at(-1)).toBe(due);
    // The timer is early by a millisecond: the entry is not due yet, and is by the end of the run.
    now = due - 1;
    wishes.length = 0;
    runner.run();
    expect(wishes).toEqual([due]);
  });

  it("keeps a conversation in order and serves others side by side", async () => {
    const store = new LedgerStore(sql);
    for (const [id, conversation] of [
      ["a1", "A"],
      ["a2", "A"],
      ["b1", "B"],
    ] as const) {
      store.record(event(id, conversation));
    }
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { runner, seen } = dispatcher(store, async (delivery) => {
      if (delivery.id === "a1") await gate;
      return answered();
    });
    runner.run();
    await Promise.resolve();
    expect(seen).toEqual(["a1", "b1"]);
    release();
    await runner.idle();
    expect(seen).toEqual(["a1", "b1", "a2"]);
  });

  it("tries again after a growing wait and holds the conversation back meanwhile", async () => {
    const store = new LedgerStore(sql);
    store.record(event("a1", "A"));
    store.record(event("a2", "A"));
    const { runner, seen, wishes } = dispatcher(store, async (_delivery, call) =>
      call < 3 ? { kind: "retry", note: "down" } : answered(),
    );
    runner.run();
    await runner.idle();
    expect([seen, wishes.at(-1)]).toEqual([["a1"], now + 500]);
    now += 500;
    runner.run();
    await runner.idle();
    expect([seen, wishes.at(-1)]).toEqual([["a1", "a1"], now + 1_000]);
    now += 1_000;
    runner.run();
    await runner.idle();
    expect(seen).toEqual(["a1", "a1", "a1", "a2"]);
  });

  it("honours the wait that the other side asks for", async () => {
    const store = new LedgerStore(sql);
    store.record(event("Ev1"));
    const { runner, wishes } = dispatcher(store, async () => ({
      kind: "retry",
      note: "limit",
      afterMs: 90_000,
    }));
    runner.run();
    await runner.idle();
    expect(wishes.at(-1)).toBe(now + 90_000);
  });

  it("gives up after a day, and at once on what can never succeed", async () => {
    const store = new LedgerStore(sql);
    store.record(event("slow", "A"));
    store.record(event("wrong", "B"));
    const { runner } = dispatcher(store, async (delivery) =>
      delivery.id === "wrong" ? { kind: "refused", note: "400" } : { kind: "retry", note: "down" },
    );
    runner.run();
    await runner.idle();
    expect(store.counts()).toMatchObject({ received: 1, dead: 1 });
    now += 25 * HOUR;
    runner.run();
    await runner.idle();
    expect(store.counts()).toMatchObject({ received: 0, dead: 2 });
  });

  it("counts a delivery that throws as one to try again", async () => {
    const store = new LedgerStore(sql);
    store.record(event("Ev1"));
    const { runner } = dispatcher(store, async () => Promise.reject(new Error("connection refused")));
    runner.run();
    await runner.idle();
    expect(store.counts()).toMatchObject({ received: 1, delivering: 0 });
  });

  it("waits longer each time, with jitter, and never beyond five minutes", () => {
    expect([1, 2, 3, 30].map((attempt) => retryDelay(attempt, 0))).toEqual([500, 1_000, 2_000, 150_000]);
    expect(retryDelay(30, 0.999)).toBeLessThanOrEqual(300_000);
  });
});
