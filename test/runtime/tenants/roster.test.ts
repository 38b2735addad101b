import { expect, onTestFinished, test } from "vitest";
import { reason } from "../../../runtime/contract/errors.ts";
import type { TenantQuery, TenantReport } from "../../../runtime/edge/tenants/ports.ts";
import { TenantRoster } from "../../../runtime/edge/tenants/roster.ts";
import { LedgerStage } from "../support/ledger.ts";

const COUNTS = { waiting: 0, delivering: 0, answered: 4, ignored: 1, failed: 0 };
const USED = { usedAt: "2026-11-28T08:59:00.000Z" };
const WELL: TenantReport = { running: true, version: "0.1.0", counts: COUNTS, ...USED };
const CRASHED: TenantReport = { running: false, counts: COUNTS, ...USED, problem: reason("crash_looping") };

function roster() {
  const stage = new LedgerStage();
  onTestFinished(() => stage.close());
  stage.now = Date.parse("2026-11-28T09:00:00Z");
  const tenants = new TenantRoster(stage.sql, () => stage.now);
  const ids = (query: TenantQuery) => tenants.list(query).map(({ id }) => id);
  return { tenants, ids, wait: (ms: number) => void (stage.now += ms) };
}

test("a tenant is listed from its first message on, with its last report", () => {
  const { tenants, wait } = roster();
  tenants.meet("slack-C1");
  wait(60_000);
  tenants.report("slack-C1", WELL);
  tenants.meet("slack-C1");
  expect(tenants.list({ limit: 10 })).toEqual([
    {
      id: "slack-C1",
      firstSeenAt: "2026-11-28T09:00:00.000Z",
      lastSeenAt: "2026-11-28T09:01:00.000Z",
      report: WELL,
    },
  ]);
});

test("a later report replaces the one before", () => {
  const { tenants } = roster();
  tenants.meet("slack-C1");
  tenants.report("slack-C1", CRASHED);
  tenants.report("slack-C1", WELL);
  expect(tenants.list({ limit: 10 })[0]?.report?.problem).toBeUndefined();
});

test("tenants with a problem come first, and a list can be read in parts", () => {
  const { tenants, ids } = roster();
  const all = ["slack-A", "slack-B", "slack-C", "telegram-1", "web-x"];
  for (const id of all) tenants.meet(id);
  tenants.report("telegram-1", CRASHED);
  tenants.report("slack-B", CRASHED);

  const first = ids({ limit: 2 });
  expect(first).toEqual(["slack-B", "telegram-1"]);
  const second = ids({ limit: 2, after: first.at(-1) });
  expect(second).toEqual(["slack-A", "slack-C"]);
  expect(ids({ limit: 2, after: second.at(-1) })).toEqual(["web-x"]);
});

test("a report of a tenant that is not in the table adds none", () => {
  const { tenants, ids } = roster();
  tenants.report("slack-C1", WELL);
  tenants.meet("slack-C2");
  expect([tenants.has("slack-C2"), tenants.has("slack-C404")]).toEqual([true, false]);
  expect(ids({ limit: 10 })).toEqual(["slack-C2"]);
});

test("of the containers that run the one that was used longest ago comes first", () => {
  const { tenants } = roster();
  const report = (id: string, minute: string, running = true): void => {
    tenants.meet(id);
    tenants.report(id, { ...WELL, running, usedAt: `2026-11-28T09:${minute}:00.000Z` });
  };
  report("slack-A", "30");
  report("slack-B", "10");
  report("slack-C", "00", false);
  report("slack-D", "20");
  tenants.meet("slack-E");
  expect(tenants.running()).toEqual(["slack-B", "slack-D", "slack-A"]);
});

test("all tenants are summed up by their last reports", () => {
  const { tenants } = roster();
  expect(tenants.totals()).toMatchObject({ chats: 0, running: 0, failing: 0, counts: { answered: 0 } });
  for (const id of ["slack-A", "slack-B", "slack-C"]) tenants.meet(id);
  tenants.report("slack-A", WELL);
  tenants.report("slack-B", CRASHED);
  expect(tenants.totals()).toEqual({
    chats: 3,
    running: 1,
    failing: 1,
    counts: { waiting: 0, delivering: 0, answered: 8, ignored: 2, failed: 0 },
  });
});

test("the new id of a chat leads to its tenant", () => {
  const { tenants } = roster();
  tenants.move("telegram--7", "telegram--1001");
  expect(tenants.movedTo("telegram--1001")).toBeUndefined();
  tenants.meet("telegram--7");
  tenants.move("telegram--7", "telegram--1001");
  expect(tenants.movedTo("telegram--1001")).toBe("telegram--7");
  expect(tenants.movedTo("telegram--7")).toBeUndefined();
});
