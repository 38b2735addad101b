import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { problem, problemResponse } from "../../../runtime/contract/problem.ts";
import { deliverTo } from "../../../runtime/edge/ledger/deliver.ts";
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
  concurrency = 4,
) {
  const seen: string[] = [];
  const after: (string | undefined)[] = [];
  const wishes: number[] = [];
  const runner = new Dispatcher({
    store,
    deliver: (delivery) => {
      seen.push(delivery.id);
      after.push(delivery.after);
      return results(delivery, seen.length);
    },
    wakeAt: (time) => void wishes.push(time),
    clock: () => now,
    random: () => 0,
    log: silent,
    concurrency,
  });
  return { runner, seen, after, wishes };
}

/** Deliveries that end when the test says so. */
class Gates {
  readonly #open = new Map<string, (result: AttemptResult) => void>();

  wait(id: string): Promise<AttemptResult> {
    return new Promise((resolve) => this.#open.set(id, resolve));
  }

  /** Ends one, and lets what follows from it happen. */
  async end(id: string, result: AttemptResult | Promise<AttemptResult>): Promise<void> {
    this.#open.get(id)?.(await result);
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  }
}

const failed: AttemptResult = { kind: "retry", note: "down" };

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

  it("takes up after a crash what was being delivered, which counts as no attempt", () => {
    new LedgerStore(sql).record(event("Ev1"));
    new LedgerStore(sql).take(now, 10);
    const afterwards = new LedgerStore(sql);
    expect(afterwards.take(now, 10)).toMatchObject([{ attempt: 1, delivery: { id: "Ev1" } }]);
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

describe("counts", () => {
  it("follow every change of a state", () => {
    const store = new LedgerStore(sql);
    for (const id of ["a", "b", "c", "d"]) store.record(event(id, id));
    store.take(now, 3);
    store.settle("slack:a", "answered", now, "");
    store.settle("slack:b", "dead", now, "");
    expect(store.counts()).toEqual({ received: 1, delivering: 1, answered: 1, dead: 1 });
    expect(store.replay("slack:b", now)).toBe("replayed");
    expect(store.counts()).toEqual({ received: 2, delivering: 1, answered: 1, dead: 0 });
    store.expire(now + 1, now);
    expect(store.counts()).toEqual({ received: 0, delivering: 1, answered: 1, dead: 2 });
    store.prune(now + 1, 2);
    expect(store.counts()).toMatchObject({ delivering: 1 });
    expect(store.counts().answered + store.counts().dead).toBe(1);
  });

  it("are right for a ledger that an older version filled", () => {
    const older = new LedgerStore(sql);
    for (const id of ["a", "b", "c"]) older.record(event(id, id));
    for (const trigger of ["ledger_state_changed", "ledger_deleted"]) sql.all(`DROP TRIGGER ${trigger}`);
    sql.all("DROP TABLE ledger_totals");
    sql.all("UPDATE ledger SET state = 'answered', settled_at = 1 WHERE key <> 'slack:c'");
    expect(new LedgerStore(sql).counts()).toEqual({ received: 1, delivering: 0, answered: 2, dead: 0 });
    expect(new LedgerStore(sql).counts()).toMatchObject({ answered: 2 });
    sql.all(
      `INSERT INTO ledger (key, conversation, delivery, state, received_at, next_at, settled_at)
       VALUES ('slack:x', 'slack:x', '{}', 'dead', 1, 1, 1)`,
    );
    expect(older.counts()).toMatchObject({ answered: 2, dead: 1 });
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
    let locked = false;
    const store = new LedgerStore({
      ...sql,
      transaction: (work) => {
        if (locked) throw new Error("database is locked");
        return sql.transaction(work);
      },
    });
    const { runner, wishes } = dispatcher(store, answered);
    locked = true;
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

  it("leaves half of its places to chats that nothing is under way for", async () => {
    const store = new LedgerStore(sql);
    for (const [id, conversation] of [
      ["a1", "A"],
      ["a2", "A"],
      ["a3", "A"],
      ["b1", "B"],
    ] as const) {
      store.record(event(id, conversation));
    }
    const gates = new Gates();
    const { runner, seen } = dispatcher(store, (delivery) => gates.wait(delivery.id));
    runner.run();
    expect(seen).toEqual(["a1", "b1"]);
    await gates.end("b1", answered());
    expect(seen).toEqual(["a1", "b1", "a2"]);
    store.record(event("c1", "C"));
    runner.run();
    expect(seen).toEqual(["a1", "b1", "a2", "c1"]);
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

  it.each([
    ["an hour, which is waited for", HOUR, HOUR],
    ["a day, and is tried once more before the end", 24 * HOUR, 24 * HOUR - 10 * 60_000],
  ])("is told to wait for %s", async (_name, afterMs, waited) => {
    const store = new LedgerStore(sql);
    store.record(event("Ev1"));
    const { runner, wishes } = dispatcher(store, async () => ({
      kind: "retry",
      note: "no requests are left today",
      afterMs,
    }));
    runner.run();
    await runner.idle();
    expect(wishes.at(-1)).toBe(now + waited);
  });

  it("goes on where the clock is set back, also over a restart", async () => {
    const store = new LedgerStore(sql);
    let up = false;
    const results = async (): Promise<AttemptResult> => (up ? answered() : failed);
    store.record(event("Ev1", "A"));
    const before = dispatcher(store, results);
    before.runner.run();
    await before.runner.idle();
    store.record(event("Ev2", "B"));
    up = true;

    now -= 3 * HOUR;
    before.runner.run();
    await before.runner.idle();
    expect(store.counts()).toMatchObject({ received: 0, answered: 2 });

    store.record(event("Ev3", "C"));
    now -= 3 * HOUR;
    const after = dispatcher(new LedgerStore(sql), results);
    after.runner.run();
    await after.runner.idle();
    expect(store.counts()).toMatchObject({ received: 0, answered: 3 });
  });

  it.each([
    { code: "gateway_unavailable", longest: 15_000 },
    { code: "model_no_answer", longest: 150_000 },
  ] as const)("waits $longest ms at most while it gets $code", async ({ code, longest }) => {
    const store = new LedgerStore(sql);
    store.record(event("Ev1"));
    const sandbox = { request: async () => problemResponse(problem(code)) };
    const { runner, wishes } = dispatcher(store, (delivery) => deliverTo(sandbox, delivery, now));
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 12; attempt += 1) {
      runner.run();
      await runner.idle();
      waits.push((wishes.at(-1) ?? 0) - now);
      now = wishes.at(-1) ?? now;
    }
    expect(waits.slice(0, 3)).toEqual([500, 1_000, 2_000]);
    expect(Math.max(...waits)).toBe(longest);
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

describe("a conversation's followers", () => {
  /** Entries `a1` to `a<count>` of one conversation, and a dispatcher whose deliveries the test ends. */
  function burst(count: number) {
    const store = new LedgerStore(sql);
    const add = (number: number): void => void store.record(event(`a${number}`, "A"));
    for (let number = 1; number <= count; number += 1) add(number);
    const gates = new Gates();
    const run = dispatcher(store, (delivery) => gates.wait(delivery.id), 64);
    run.runner.run();
    return { store, add, gates, ...run };
  }

  const ids = (from: number, to: number): string[] =>
    Array.from({ length: to - from + 1 }, (_, index) => `a${from + index}`);

  it("go along in order, each with the one before it, twenty at most", async () => {
    const { add, gates, seen, after, runner } = burst(22);
    expect(seen).toEqual(ids(1, 20));
    expect(after).toEqual([undefined, ...ids(1, 19)]);
    // Not the oldest one: the window moves with it.
    await gates.end("a2", answered());
    expect(seen).toEqual(ids(1, 21));
    add(23);
    runner.run();
    await gates.end("a1", answered());
    expect(seen).toEqual(ids(1, 22));
    expect(after.slice(20)).toEqual(["a20", "a21"]);
  });

  it("come while an answer is made, and go along at once", () => {
    const { add, seen, after, runner } = burst(1);
    add(2);
    runner.run();
    expect([seen, after]).toEqual([ids(1, 2), [undefined, "a1"]]);
  });

  it.each([
    ["the head first", ["a1", "a2", "a3"]],
    ["the head last", ["a3", "a2", "a1"]],
    ["the head in between", ["a2", "a1", "a3"]],
  ])("fail with the head and are tried again right behind it: %s", async (_, order) => {
    const { store, gates, seen, after, wishes, runner } = burst(3);
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      seen.length = after.length = 0;
      for (const id of order) await gates.end(id, failed);
      expect(seen).toEqual([]);
      now += retryDelay(attempt, 0) - 1;
      runner.run();
      expect([seen, wishes.at(-1)]).toEqual([[], now + 1]);
      now += 1;
      runner.run();
      expect([seen, after]).toEqual([ids(1, 3), [undefined, "a1", "a2"]]);
    }
    // Once the head is through, the others wait no longer than after a first failure.
    await gates.end("a1", answered());
    await gates.end("a2", failed);
    expect(wishes.at(-1)).toBe(now + 500);
    expect(store.counts()).toMatchObject({ answered: 1, received: 1, delivering: 1 });
  });

  it("do not wait for a time of their own once the head has failed too", async () => {
    const { gates, seen, runner } = burst(2);
    await gates.end("a2", { ...failed, afterMs: 3_600_000 });
    await gates.end("a1", failed);
    seen.length = 0;
    now += 500;
    runner.run();
    expect(seen).toEqual(ids(1, 2));
  });

  it("hold up those behind them where they fail alone, with a growing wait", async () => {
    const { gates, seen, wishes, add, runner } = burst(2);
    await gates.end("a2", failed);
    add(3);
    runner.run();
    expect([seen, wishes.at(-1)]).toEqual([ids(1, 2), now + 500]);
    now += 500;
    runner.run();
    await gates.end("a2", failed);
    await gates.end("a3", failed);
    expect([seen, wishes.at(-1)]).toEqual([["a1", "a2", "a2", "a3"], now + 1_000]);
    await gates.end("a1", answered());
    expect(seen).toHaveLength(4);
  });

  it("are taken up in order after a crash, and after an end that could not be recorded", async () => {
    const { store, gates } = burst(3);
    await gates.end("a2", answered());
    expect(new LedgerStore(sql).take(now, 10).map(({ delivery }) => [delivery.id, delivery.after])).toEqual([
      ["a1", undefined],
      ["a3", "a1"],
    ]);
    store.release(["slack:a3"]);
    expect(store.take(now, 10)).toMatchObject([{ key: "slack:a1", attempt: 2 }]);
  });

  it("are not held up by a head that is given up or cannot be read", async () => {
    const { gates, seen, after, add, runner } = burst(2);
    await gates.end("a1", { kind: "refused", note: "400" });
    add(3);
    sql.all("UPDATE ledger SET delivery = '{}' WHERE key = 'slack:a3'");
    add(4);
    runner.run();
    expect([seen, after]).toEqual([
      ["a1", "a2", "a4"],
      [undefined, "a1", "a2"],
    ]);
  });
});

/** Numbers from 0 up to 1 that a seed decides (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "keeps its order and loses nothing whatever ends when: seed %i",
  async (seed) => {
    const random = seeded(seed);
    const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
    const store = new LedgerStore(sql);
    /** The ids of each conversation that are not settled, in order. */
    const open = new Map<string, string[]>(["A", "B", "C"].map((name) => [name, []]));
    const active = new Map<string, (result: AttemptResult) => void>();
    const wrong: string[] = [];
    const runner = new Dispatcher({
      store,
      deliver: ({ id, conversation, after }) => {
        const all = open.get(conversation) ?? [];
        const before = all.slice(0, all.indexOf(id));
        if (active.has(id)) wrong.push(`${id} is under way twice`);
        if (before.some((one) => !active.has(one))) wrong.push(`${id} overtakes`);
        if (after !== before.at(-1)) wrong.push(`${id} comes after ${after}, not ${before.at(-1)}`);
        if (before.length >= 20) wrong.push(`${id} is one too many`);
        return new Promise((resolve) => active.set(id, resolve));
      },
      wakeAt: () => {},
      clock: () => now,
      random,
      log: silent,
      concurrency: 48,
    });
    const end = async (id: string, result: AttemptResult): Promise<void> => {
      if (result.kind !== "retry") {
        for (const [name, ids] of open)
          open.set(
            name,
            ids.filter((one) => one !== id),
          );
      }
      active.get(id)?.(result);
      active.delete(id);
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    };

    let added = 0;
    for (let step = 0; step < 1_500; step += 1) {
      const chance = random();
      if (chance < 0.3 && added < 300) {
        const conversation = pick([...open.keys()]) ?? "";
        const id = `${conversation}${(added += 1)}`;
        open.get(conversation)?.push(id);
        store.record(event(id, conversation));
      } else if (chance < 0.6) {
        now += Math.floor(random() * 1_500);
      } else {
        const id = pick([...active.keys()]);
        const result = pick<AttemptResult>([
          failed,
          { ...failed, afterMs: 5_000 },
          { kind: "refused", note: "400" },
          { kind: "settled", note: "answered" },
          { kind: "settled", note: "answered" },
        ]);
        if (id !== undefined && result !== undefined) await end(id, result);
      }
      if (random() < 0.05) store.release([...active.keys()].map((id) => `slack:${id}`));
      runner.run();
    }
    for (let round = 0; round < 2_000 && store.hasOpen(); round += 1) {
      now += 6_000;
      runner.run();
      for (const id of active.keys()) await end(id, { kind: "settled", note: "answered" });
    }
    expect(wrong).toEqual([]);
    const { answered: ended, dead, ...rest } = store.counts();
    expect([ended + dead, rest]).toEqual([added, { received: 0, delivering: 0 }]);
  },
);

it("finds whose turn it is by an index alone, however many entries are settled or wait", () => {
  const plans: string[] = [];
  let watching = false;
  const store = new LedgerStore({
    ...sql,
    all: (statement, ...values) => {
      if (watching && /^\s*(SELECT|UPDATE|INSERT INTO ledger_turns|DELETE)/.test(statement)) {
        plans.push(
          ...sql.all(`EXPLAIN QUERY PLAN ${statement}`, ...values).map((row) => String(row["detail"])),
        );
      }
      return sql.all(statement, ...values);
    },
  });
  for (const id of ["a1", "a2", "a3"]) store.record(event(id, "A"));
  watching = true;
  store.take(now, 10);
  store.postpone("slack:a2", now + 1, "down");
  store.settle("slack:a1", "answered", now, "");
  store.nextDue(now);
  store.hasOpen();
  store.prune(now - 1, 10);
  expect(store.counts()).toEqual({ received: 1, delivering: 1, answered: 1, dead: 0 });
  expect(plans.length).toBeGreaterThan(10);
  // An index over the open entries may be read from its start; the table itself may not.
  const scans = plans.filter((plan) => /^SCAN (ledger|ledger_turns)\b/.test(plan));
  const allowed = /ledger_open/;
  expect(scans.filter((plan) => !allowed.test(plan))).toEqual([]);
});
