import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { problem, problemResponse } from "../../../runtime/contract/problem.ts";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import type { LedgerCounts, LedgerPage } from "../../../runtime/edge/ports.ts";
import { gatewayOf } from "../support/handing-over.ts";
import { readyHost, silent } from "../support/ledger.ts";
import { createLedger, openSqlite } from "../../../runtime/host/ledger.ts";
import { edgeFixture, signedIn } from "../../support/edge.ts";
import { eventually, temporaryDirectory } from "../support/processes.ts";

const HOUR = 3_600_000;
const operator = signedIn();

async function database() {
  const sql = openSqlite(join(await temporaryDirectory(), "state.db"));
  onTestFinished(() => sql.close());
  return sql;
}

/** The edge over a ledger on disk, whose gateway refuses every delivery until it is mended. */
async function edgeOverLedger() {
  const sql = await database();
  let now = 1_795_000_000_000;
  let answer = () => problemResponse(problem("delivery_invalid", "not understood"));
  const got: Delivery[] = [];
  const ledger = createLedger({
    record: () => {},
    sql,
    ...readyHost,
    sandbox: gatewayOf(async (delivery) => {
      got.push(delivery);
      return answer();
    }),
    clock: () => now,
    log: silent,
  });
  onTestFinished(() => ledger.close());
  const { jwk, headers } = await operator;
  const { app } = edgeFixture({ jwk, ledger });
  const list = async (query = "") => {
    const response = await app.request(`/debug/ledger${query}`, { headers });
    return (await response.json()) as LedgerPage & { counts: LedgerCounts };
  };
  const replay = (key: string) =>
    app.request("/_admin/api/ledger/replay", {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", "sec-fetch-site": "none" },
      body: JSON.stringify({ key }),
    });
  const admit = (id: string, platform: Delivery["platform"] = "slack", conversation = id) =>
    ledger.admit({ id, platform, conversation, receivedAt: now, payload: { text: "what somebody wrote" } });
  return {
    got,
    list,
    replay,
    admit,
    mend: () => (answer = () => Response.json({ outcome: "answered" })),
    breakDown: () => (answer = () => problemResponse(problem("model_overloaded"))),
    passes: (milliseconds: number) => (now += milliseconds),
  };
}

test("an event that was given up is delivered again when somebody asks for it, also days later", async () => {
  const { got, list, replay, admit, mend, passes } = await edgeOverLedger();
  await admit("Ev1");
  await eventually(async () => (await list()).counts.failed === 1);
  expect((await list("?state=failed")).entries).toMatchObject([
    {
      key: "slack:Ev1",
      state: "failed",
      attempts: 1,
      note: expect.stringContaining("400 delivery_invalid not understood"),
    },
  ]);

  passes(72 * HOUR);
  mend();
  expect((await replay("slack:Ev1")).status).toBe(200);
  const answered = await eventually(async () => {
    const page = await list("?state=answered");
    return page.entries.length === 1 && page;
  });
  expect(got.map(({ id }) => id)).toEqual(["Ev1", "Ev1"]);
  const replayedAt = new Date(1_795_000_000_000 + 72 * HOUR).toISOString();
  expect(answered.entries).toEqual([
    {
      key: "slack:Ev1",
      platform: "slack",
      conversation: "slack:Ev1",
      state: "answered",
      attempts: 1,
      receivedAt: new Date(1_795_000_000_000 + 72 * HOUR).toISOString(),
      settledAt: new Date(1_795_000_000_000 + 72 * HOUR).toISOString(),
      note: "answered",
      timeline: {
        received: replayedAt,
        recorded: replayedAt,
        attempted: replayedAt,
        reply: replayedAt,
        settled: replayedAt,
      },
    },
  ]);
  expect(await (await replay("slack:Ev1")).json()).toMatchObject({ code: "ledger_entry_not_replayable" });
  expect(await (await replay("slack:Ev2")).json()).toMatchObject({ code: "ledger_entry_unknown" });
});

test("a replayed event that still cannot be delivered is dead again, with its reason", async () => {
  const { got, list, replay, admit } = await edgeOverLedger();
  await admit("Ev1");
  await eventually(async () => (await list()).counts.failed === 1);
  await replay("slack:Ev1");
  await eventually(() => got.length === 2);
  await eventually(async () => (await list()).counts.failed === 1);
  expect((await list()).entries[0]?.note).toContain("delivery_invalid");
});

test("a replayed event has its 24 hours anew, however old it is", async () => {
  const { got, list, replay, admit, breakDown, passes } = await edgeOverLedger();
  await admit("Ev1");
  await eventually(async () => (await list()).counts.failed === 1);
  passes(72 * HOUR);
  breakDown();
  await replay("slack:Ev1");
  await eventually(() => got.length === 2);
  const [entry] = await eventually(async () => {
    const { entries } = await list();
    return entries[0]?.state !== "delivering" && entries;
  });
  expect(entry).toMatchObject({ state: "waiting", attempts: 1, nextAt: expect.any(String) });
});

test("pages hold every entry once, newest first, and never what somebody wrote", async () => {
  const { list, admit, mend } = await edgeOverLedger();
  mend();
  for (let index = 0; index < 12; index += 1) {
    await admit(`Ev${index}`, (["slack", "telegram", "discord"] as const)[index % 3]);
  }
  await eventually(async () => (await list()).counts.answered === 12);
  const keys = async (query: string) => {
    const found: string[] = [];
    for (let before = ""; ;) {
      const page = await list(`?limit=2&${query}${before}`);
      found.push(...page.entries.map(({ key }) => key));
      if (page.next === undefined) return found;
      before = `&before=${page.next}`;
    }
  };
  const numbers = (found: string[]) => found.map((key) => Number(key.split(":Ev")[1]));
  expect(numbers(await keys(""))).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  expect(numbers(await keys("state=answered"))).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  expect(await keys("platform=telegram")).toEqual([
    "telegram:Ev10",
    "telegram:Ev7",
    "telegram:Ev4",
    "telegram:Ev1",
  ]);
  expect(await keys("platform=discord&state=failed")).toEqual([]);
  expect(JSON.stringify(await list())).not.toContain("what somebody wrote");
});

test("a page is found by indexes alone, however many entries are settled", async () => {
  const sql = await database();
  const plans: string[] = [];
  const store = new LedgerStore({
    ...sql,
    all: (statement, ...values) => {
      if (/^\s*SELECT/.test(statement)) {
        const plan = sql.all(`EXPLAIN QUERY PLAN ${statement}`, ...values);
        plans.push(...plan.map((row) => String(row["detail"])));
      }
      return sql.all(statement, ...values);
    },
  });
  store.list({ limit: 50 });
  store.list({ limit: 50, state: "failed" });
  store.list({ limit: 50, platform: "slack", before: 1_000 });
  store.list({ limit: 50, platform: "slack", state: "answered" });
  expect(plans.length).toBeGreaterThan(10);
  expect(plans.filter((plan) => /SCAN ledger|TEMP B-TREE FOR ORDER/.test(plan))).toEqual([]);
  expect(plans.some((plan) => plan.includes("COVERING INDEX ledger_listing"))).toBe(true);
});
