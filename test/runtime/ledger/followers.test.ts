import { backoffMs } from "../../../runtime/shared/backoff.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Dispatcher, type AttemptResult } from "../../../runtime/edge/ledger/dispatcher.ts";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { generator } from "../../support/random.ts";
import { handOver, turns } from "../support/handing-over.ts";
import { answered, failed, Gates, LedgerStage, silent } from "../support/ledger.ts";

/** The documented waits: one second after the first failure, five minutes at most. */
const RETRY = { firstMs: 1_000, longestMs: 300_000 };

let stage: LedgerStage;
beforeEach(() => {
  stage = new LedgerStage();
});
afterEach(() => stage.close());

describe("a conversation's followers", () => {
  /** Entries `a1` to `a<count>` of one conversation, and a dispatcher whose deliveries the test ends. */
  function burst(count: number) {
    const store = new LedgerStore(stage.sql);
    const add = (number: number): void => void store.record(stage.event(`a${number}`, "A"));
    for (let number = 1; number <= count; number += 1) add(number);
    const gates = new Gates();
    const run = stage.dispatcher(store, (delivery) => gates.wait(delivery.id), 64);
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

  it("come while an answer is made, and go along as soon as that has its place", async () => {
    const { add, seen, after, runner } = burst(1);
    add(2);
    runner.run();
    expect(seen).toEqual(["a1"]);
    await turns();
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
      stage.now += backoffMs(RETRY, attempt, 0) - 1;
      runner.run();
      expect([seen, wishes.at(-1)]).toEqual([[], stage.now + 1]);
      stage.now += 1;
      runner.run();
      expect([seen, after]).toEqual([ids(1, 3), [undefined, "a1", "a2"]]);
    }
    // Once the head is through, the others wait no longer than after a first failure.
    await gates.end("a1", answered());
    await gates.end("a2", failed);
    expect(wishes.at(-1)).toBe(stage.now + 500);
    expect(store.counts()).toMatchObject({ answered: 1, waiting: 1, delivering: 1 });
  });

  it("do not wait for a time of their own once the head has failed too", async () => {
    const { gates, seen, runner } = burst(2);
    await gates.end("a2", { ...failed, afterMs: 3_600_000 });
    await gates.end("a1", failed);
    seen.length = 0;
    stage.now += 500;
    runner.run();
    expect(seen).toEqual(ids(1, 2));
  });

  it("hold up those behind them where they fail alone, with a growing wait", async () => {
    const { gates, seen, wishes, add, runner } = burst(2);
    await gates.end("a2", failed);
    add(3);
    runner.run();
    expect([seen, wishes.at(-1)]).toEqual([ids(1, 2), stage.now + 500]);
    stage.now += 500;
    runner.run();
    await gates.end("a2", failed);
    await gates.end("a3", failed);
    expect([seen, wishes.at(-1)]).toEqual([["a1", "a2", "a2", "a3"], stage.now + 1_000]);
    await gates.end("a1", answered());
    expect(seen).toHaveLength(4);
  });

  it("are taken up in order after a crash, and after an end that could not be recorded", async () => {
    const { store, gates } = burst(3);
    await gates.end("a2", answered());
    const taken = new LedgerStore(stage.sql).take(stage.now, 10);
    expect(taken).toMatchObject([{ entries: [{ key: "slack:a1" }, { key: "slack:a3" }] }]);
    store.release(["slack:a3"]);
    expect(store.take(stage.now, 10)).toMatchObject([{ entries: [{ key: "slack:a1", attempt: 2 }] }]);
  });

  it("go along up to the size of one request, and the rest in the next one", async () => {
    const store = new LedgerStore(stage.sql);
    const text = "x".repeat(300 * 1024);
    for (const id of ["a1", "a2", "a3"]) store.record({ ...stage.event(id, "A"), payload: { text } });
    const gates = new Gates();
    const { runner, seen } = stage.dispatcher(store, ({ id }) => gates.wait(id), 64);
    runner.run();
    expect(seen).toEqual(["a1"]);
    await turns();
    expect(seen).toEqual(ids(1, 3));
  });

  it("are not held up by a head that is given up or cannot be read", async () => {
    const { gates, seen, after, add, runner } = burst(2);
    await gates.end("a1", { kind: "refused", note: "400" });
    add(3);
    stage.sql.all("UPDATE ledger SET delivery = '{}' WHERE key = 'slack:a3'");
    add(4);
    runner.run();
    expect([seen, after]).toEqual([
      ["a1", "a2", "a4"],
      [undefined, "a1", "a2"],
    ]);
  });
});

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "keeps its order and loses nothing whatever ends when: seed %i",
  async (seed) => {
    const random = generator(seed);
    const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
    const store = new LedgerStore(stage.sql);
    /** The ids of each conversation that are not settled, in order. */
    const open = new Map<string, string[]>(["A", "B", "C"].map((name) => [name, []]));
    const active = new Map<string, (result: AttemptResult) => void>();
    const wrong: string[] = [];
    const runner = new Dispatcher({
      store,
      notify: async () => false,
      deliver: handOver(({ id, conversation }, after) => {
        const all = open.get(conversation) ?? [];
        const before = all.slice(0, all.indexOf(id));
        if (active.has(id)) wrong.push(`${id} is under way twice`);
        if (before.some((one) => !active.has(one))) wrong.push(`${id} overtakes`);
        if (after !== before.at(-1)) wrong.push(`${id} comes after ${after}, not ${before.at(-1)}`);
        if (before.length >= 20) wrong.push(`${id} is one too many`);
        return new Promise((resolve) => active.set(id, resolve));
      }),
      wakeAt: () => {},
      clock: () => stage.now,
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
      await turns();
    };

    let added = 0;
    for (let step = 0; step < 1_500; step += 1) {
      const chance = random();
      if (chance < 0.3 && added < 300) {
        const conversation = pick([...open.keys()]) ?? "";
        const id = `${conversation}${(added += 1)}`;
        open.get(conversation)?.push(id);
        store.record(stage.event(id, conversation));
      } else if (chance < 0.6) {
        stage.now += Math.floor(random() * 1_500);
      } else {
        const id = pick([...active.keys()]);
        const result = pick<AttemptResult>([
          failed,
          { ...failed, afterMs: 5_000 },
          { kind: "refused", note: "400" },
          { kind: "settled", state: "answered", note: "answered" },
          { kind: "settled", state: "answered", note: "answered" },
        ]);
        if (id !== undefined && result !== undefined) await end(id, result);
      }
      if (random() < 0.05) store.release([...active.keys()].map((id) => `slack:${id}`));
      runner.run();
      await turns();
    }
    for (let round = 0; round < 2_000 && store.hasOpen(); round += 1) {
      stage.now += 6_000;
      runner.run();
      await turns();
      for (const id of active.keys()) await end(id, { kind: "settled", state: "answered", note: "answered" });
    }
    expect(wrong).toEqual([]);
    const { answered: ended, failed: lost, ignored, ...rest } = store.counts();
    expect([ended + lost + ignored, rest]).toEqual([added, { waiting: 0, delivering: 0 }]);
  },
);
