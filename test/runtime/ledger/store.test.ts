import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { answered, HOUR, LedgerStage } from "../support/ledger.ts";

let stage: LedgerStage;
beforeEach(() => {
  stage = new LedgerStage();
});
afterEach(() => stage.close());

describe("ledger", () => {
  it("stores an event once, whatever the platform repeats", async () => {
    const store = new LedgerStore(stage.sql);
    const twice = [store.record(stage.event("Ev1")), store.record(stage.event("Ev1"))];
    expect(twice).toEqual(["recorded", "known"]);
    const { runner, seen } = stage.dispatcher(store, answered);
    runner.run();
    await runner.idle();
    expect(store.record(stage.event("Ev1"))).toBe("known");
    runner.run();
    expect(seen).toEqual(["Ev1"]);
    expect(store.counts()).toEqual({ waiting: 0, delivering: 0, answered: 1, ignored: 0, failed: 0 });
  });

  it("takes up after a crash what was being delivered, which counts as no attempt", () => {
    new LedgerStore(stage.sql).record(stage.event("Ev1"));
    new LedgerStore(stage.sql).take(stage.now, 10);
    const afterwards = new LedgerStore(stage.sql);
    expect(afterwards.take(stage.now, 10)).toMatchObject([
      { entries: [{ attempt: 1, delivery: { id: "Ev1" } }] },
    ]);
  });

  it("keeps what was ignored with its reason and its group, and delivers it again when asked", async () => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("Ev1"));
    const ignored = { kind: "settled", state: "ignored", note: "not listed", group: "C1" } as const;
    const { runner, seen } = stage.dispatcher(store, async (_, call) => (call === 1 ? ignored : answered()));
    runner.run();
    await runner.idle();
    expect(store.list({ limit: 5, state: "ignored" }).entries).toMatchObject([
      { key: "slack:Ev1", state: "ignored", note: "not listed", group: "C1" },
    ]);
    expect(store.counts()).toMatchObject({ answered: 0, ignored: 1 });
    expect(store.replay("slack:Ev1", stage.now)).toBe("replayed");
    runner.run();
    await runner.idle();
    expect(seen).toEqual(["Ev1", "Ev1"]);
    const [entry] = store.list({ limit: 5 }).entries;
    expect(entry).toMatchObject({ state: "answered" });
    expect(entry).not.toHaveProperty("group");
  });

  it("gives the newest events, as many as are asked for and fit, and in place of a long one nothing", () => {
    const store = new LedgerStore(stage.sql);
    const record = (id: string, text: string) =>
      store.record({ ...stage.event(id), payload: { text, event_id: id } });
    const ids = (limit: number) =>
      store.recent(limit).map((text) => text && (JSON.parse(text) as { id: string }).id);
    for (let at = 0; at < 20; at += 1) record(`old${at}`, "x".repeat(100_000));
    record("long", "x".repeat(200_000));
    record("new", "hello");
    expect(ids(3)).toEqual(["new", undefined, "old19"]);
    const all = ids(500);
    expect(all.slice(0, 3)).toEqual(["new", undefined, "old19"]);
    expect(all).toHaveLength(17);
    expect(JSON.parse(store.recent(1)[0] ?? "")).toMatchObject({ id: "new", payload: { text: "hello" } });
  });

  it("prunes what was settled more than seven days ago, and nothing that is open", async () => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("old"));
    const { runner } = stage.dispatcher(store, answered);
    runner.run();
    await runner.idle();
    stage.now += 8 * 24 * HOUR;
    store.record(stage.event("new"));
    const later = stage.dispatcher(store, async () => ({ kind: "retry", note: "down" }));
    later.runner.run();
    await later.runner.idle();
    expect(store.counts()).toEqual({ waiting: 1, delivering: 0, answered: 0, ignored: 0, failed: 0 });
  });
});

describe("a search", () => {
  it("finds by a part of the id or the conversation and by time, in pages, and reads a part of a long ledger at a time", () => {
    const store = new LedgerStore(stage.sql);
    stage.sql.transaction(() => {
      for (let index = 0; index < 45_000; index += 1) {
        stage.now += 1;
        store.record(stage.event(`Ev${index}`, index % 15_000 === 0 ? "Rare" : "common"));
      }
    });
    const found = [];
    let before: number | undefined;
    let pages = 0;
    do {
      const page = store.list({ limit: 50, q: "RARE", before });
      found.push(...page.entries.map(({ key }) => key));
      before = page.next;
      pages += 1;
    } while (before !== undefined && pages < 10);
    expect(found).toEqual(["slack:Ev30000", "slack:Ev15000", "slack:Ev0"]);
    expect(pages).toBe(3);

    const keys = (query: object) => store.list({ limit: 3, ...query }).entries.map(({ key }) => key);
    expect(keys({ q: "ev4499" })).toEqual(["slack:Ev44999", "slack:Ev44998", "slack:Ev44997"]);
    expect(keys({ q: "ev4499", before: store.list({ limit: 3, q: "ev4499" }).next })[0]).toBe(
      "slack:Ev44996",
    );
    expect(keys({ q: "%" })).toEqual([]);
    expect(keys({ since: stage.now - 1 })).toEqual(["slack:Ev44999", "slack:Ev44998"]);
    expect(store.list({ limit: 3, since: stage.now - 1 })).not.toHaveProperty("next");
    expect(keys({ since: 0, state: "waiting", platform: "slack" })).toHaveLength(3);
    expect(keys({ since: 0, state: "failed" })).toEqual([]);
    expect(keys({ since: 0, platform: "discord" })).toEqual([]);
  });
});

describe("counts", () => {
  it("follow every change of a state", () => {
    const store = new LedgerStore(stage.sql);
    for (const id of ["a", "b", "c", "d"]) store.record(stage.event(id, id));
    store.take(stage.now, 3);
    store.settle("slack:a", { state: "answered", note: "" }, stage.now);
    store.settle("slack:b", { state: "failed", note: "" }, stage.now);
    expect(store.counts()).toEqual({ waiting: 1, delivering: 1, answered: 1, ignored: 0, failed: 1 });
    expect(store.replay("slack:b", stage.now)).toBe("replayed");
    expect(store.counts()).toEqual({ waiting: 2, delivering: 1, answered: 1, ignored: 0, failed: 0 });
    store.expire(stage.now + 1, stage.now);
    expect(store.counts()).toEqual({ waiting: 0, delivering: 1, answered: 1, ignored: 0, failed: 2 });
    store.prune(stage.now + 1, 2);
    expect(store.counts()).toMatchObject({ delivering: 1 });
    expect(store.counts().answered + store.counts().failed).toBe(1);
  });
});

describe("what goes wrong", () => {
  it("does not hold up the others for an entry that it cannot read", async () => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("bad"));
    store.record(stage.event("good"));
    stage.sql.all(
      "UPDATE ledger SET delivery = ? WHERE key = 'slack:bad'",
      JSON.stringify({ ...stage.event("bad"), extra: 1 }),
    );
    const { runner, seen } = stage.dispatcher(store, answered);
    runner.run();
    await runner.idle();
    runner.run();
    await runner.idle();
    expect(seen).toEqual(["good"]);
    expect(store.counts()).toMatchObject({ answered: 1, failed: 1, waiting: 0 });
  });

  it("takes an entry up again whose end could not be recorded", async () => {
    let failing = true;
    const store = new LedgerStore({
      ...stage.sql,
      all: (statement, ...values) => {
        if (failing && statement.includes("settled_at = ?") && statement.includes("key = ?"))
          throw new Error("disk full");
        return stage.sql.all(statement, ...values);
      },
    });
    store.record(stage.event("Ev1"));
    const { runner, seen } = stage.dispatcher(store, answered);
    runner.run();
    failing = false;
    await runner.idle();
    await runner.idle();
    runner.run();
    await runner.idle();
    expect(seen[0]).toBe("Ev1");
    expect(store.counts()).toEqual({ waiting: 0, delivering: 0, answered: 1, ignored: 0, failed: 0 });
  });

  it("asks to be run again where the store is locked, and ends nothing", () => {
    let locked = false;
    const store = new LedgerStore({
      ...stage.sql,
      transaction: (work) => {
        if (locked) throw new Error("database is locked");
        return stage.sql.transaction(work);
      },
    });
    const { runner, wishes } = stage.dispatcher(store, answered);
    locked = true;
    runner.run();
    expect(wishes).toEqual([stage.now + 5_000]);
  });

  it("gives up after a day what was never tried", () => {
    const store = new LedgerStore(stage.sql);
    store.record(stage.event("Ev1"));
    stage.now += 25 * HOUR;
    stage.dispatcher(store, answered).runner.tidy();
    expect(store.counts()).toMatchObject({ waiting: 0, failed: 1 });
  });
});

it("finds whose turn it is by an index alone, however many entries are settled or wait", () => {
  const plans: string[] = [];
  let watching = false;
  const store = new LedgerStore({
    ...stage.sql,
    all: (statement, ...values) => {
      if (watching && /^\s*(SELECT|UPDATE|INSERT INTO ledger_turns|DELETE)/.test(statement)) {
        plans.push(
          ...stage.sql.all(`EXPLAIN QUERY PLAN ${statement}`, ...values).map((row) => String(row["detail"])),
        );
      }
      return stage.sql.all(statement, ...values);
    },
  });
  for (const id of ["a1", "a2", "a3"]) store.record(stage.event(id, "A"));
  watching = true;
  store.take(stage.now, 10);
  store.postpone("slack:a2", stage.now + 1, "down");
  store.settle("slack:a1", { state: "answered", note: "" }, stage.now);
  store.nextDue(stage.now);
  store.hasOpen();
  store.prune(stage.now - 1, 10);
  expect(store.counts()).toEqual({ waiting: 1, delivering: 1, answered: 1, ignored: 0, failed: 0 });
  expect(plans.length).toBeGreaterThan(10);
  // An index over the open entries may be read from its start; the table itself may not.
  const scans = plans.filter((plan) => /^SCAN (ledger|ledger_turns)\b/.test(plan));
  const allowed = /ledger_open/;
  expect(scans.filter((plan) => !allowed.test(plan))).toEqual([]);
});
