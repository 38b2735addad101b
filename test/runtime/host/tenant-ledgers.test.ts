import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import type { Ledger } from "../../../runtime/edge/ports.ts";
import { openSqlite } from "../../../runtime/host/ledger.ts";
import { TenantLedgers } from "../../../runtime/host/tenants/ledgers.ts";
import { temporaryDirectory } from "../support/processes.ts";

/** A ledger with events of two chats, of which the first has two threads. */
async function ledgers() {
  const sql = openSqlite(join(await temporaryDirectory(), "state.db"));
  onTestFinished(() => sql.close());
  const store = new LedgerStore(sql);
  const tenants = new TenantLedgers(sql);
  tenants.prepare();
  const record = (tenant: string, id: string, conversation: string): void => {
    const event: Delivery = { id, platform: "slack", conversation, receivedAt: 1, payload: {} };
    tenants.arrives(tenant, event);
    store.record(event);
  };
  record("slack-C1", "a", "T1:C1:1.1");
  record("slack-C1", "b", "T1:C1:2.2");
  record("slack-C2", "c", "T1:C2:3.3");
  record("slack-C1", "d", "T1:C1:1.1");
  const keys = async (tenant: string, query: Partial<Parameters<Ledger["list"]>[0]> = {}) => {
    const whole = { list: async (asked) => store.list(asked) } as Ledger;
    const { entries, next } = await tenants.of(tenant, whole).list({ limit: 10, ...query });
    return { keys: entries.map(({ key }) => key), next };
  };
  return { sql, store, tenants, record, keys };
}

test("a chat's events are those of its own conversations, newest first", async () => {
  const { keys } = await ledgers();
  expect((await keys("slack-C1")).keys).toEqual(["slack:d", "slack:b", "slack:a"]);
  expect((await keys("slack-C2")).keys).toEqual(["slack:c"]);
  expect((await keys("slack-C3")).keys).toEqual([]);
  expect((await keys("slack-C1", { q: "2.2" })).keys).toEqual(["slack:b"]);
  expect((await keys("slack-C1", { state: "failed" })).keys).toEqual([]);
});

test("they are read page by page", async () => {
  const { keys } = await ledgers();
  const first = await keys("slack-C1", { limit: 2 });
  expect(first.keys).toEqual(["slack:d", "slack:b"]);
  expect((await keys("slack-C1", { limit: 2, before: first.next })).keys).toEqual(["slack:a"]);
});

test("they are counted by state", async () => {
  const { store, tenants } = await ledgers();
  store.settle("slack:a", { state: "answered", note: "" }, 2);
  expect(tenants.counts("slack-C1")).toEqual({
    waiting: 2,
    delivering: 0,
    answered: 1,
    ignored: 0,
    failed: 0,
  });
  expect(tenants.counts("slack-C2")).toMatchObject({ waiting: 1, answered: 0 });
});

test("a conversation without events is forgotten, and known again with its next one", async () => {
  const { sql, store, tenants, record, keys } = await ledgers();
  store.settle("slack:c", { state: "answered", note: "" }, 2);
  store.prune(3, 10);
  tenants.prune();
  expect(sql.all("SELECT count(*) AS n FROM ledger_tenants")).toEqual([{ n: 2 }]);
  record("slack-C2", "e", "T1:C2:3.3");
  expect((await keys("slack-C2")).keys).toEqual(["slack:e"]);
});
