import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { gatewayOf } from "../support/handing-over.ts";
import { readyHost, silent } from "../support/ledger.ts";
import { message, update } from "../support/telegram.ts";
import { createLedger, openSqlite } from "../../../runtime/host/ledger.ts";
import { eventually, temporaryDirectory } from "../support/processes.ts";

/** A ledger whose gateway is ready and answers when the test says so. */
async function ledgerOverGateway() {
  const sql = openSqlite(join(await temporaryDirectory(), "state.db"));
  const open = new Map<string, (response: Response) => void>();
  const got: Delivery[] = [];
  const ledger = createLedger({
    record: () => {},
    sql,
    ...readyHost,
    sandbox: gatewayOf((delivery, after) => {
      got.push({ ...delivery, ...(after !== undefined && { after }) });
      return new Promise((resolve) => open.set(delivery.id, resolve));
    }),
    clock: Date.now,
    log: silent,
  });
  const end = (id: string): void => {
    open.get(id)?.(Response.json({ outcome: "answered" }));
    open.delete(id);
  };
  onTestFinished(async () => {
    const ending = setInterval(() => [...open.keys()].forEach(end), 10);
    await ledger.close();
    clearInterval(ending);
    sql.close();
  });
  const admit = (id: string, conversation: string) =>
    ledger.admit({ id, platform: "slack", conversation, receivedAt: Date.now(), payload: {} });
  return { ledger, sql, got, end, admit };
}

test("a message that comes while the one before is answered reaches the gateway with its place", async () => {
  const { ledger, got, end, admit } = await ledgerOverGateway();
  await admit("a1", "A");
  await eventually(() => got.length === 1);
  await admit("a2", "A");
  await eventually(() => got.length === 2);
  expect(got.map(({ id, after }) => [id, after])).toEqual([
    ["a1", undefined],
    ["a2", "a1"],
  ]);
  end("a2");
  end("a1");
  await eventually(async () => (await ledger.counts()).answered === 2);
});

test("fifty chats with bursts are all under way at once", async () => {
  const { got, admit } = await ledgerOverGateway();
  for (let message = 1; message <= 4; message += 1) {
    for (let chat = 1; chat <= 50; chat += 1) await admit(`${chat}-${message}`, `C${chat}`);
  }
  await eventually(() => new Set(got.map(({ conversation }) => conversation)).size === 50);
  // None of them has ended, and followers took only places that no chat needed.
  expect(got.filter(({ after }) => after === undefined)).toHaveLength(50);
});

test("events that arrive together are all recorded, and a known one among them is told", async () => {
  const { ledger, admit, got } = await ledgerOverGateway();
  const admissions = await Promise.all([admit("a", "A"), admit("b", "B"), admit("a", "A"), admit("c", "C")]);
  expect(admissions.map(({ duplicate }) => duplicate)).toEqual([false, false, true, false]);
  const { waiting, delivering } = await ledger.counts();
  expect(waiting + delivering).toBe(3);
  await eventually(() => got.length === 3);
});

test("an edit of an unknown message is taken, and starts no gateway", async () => {
  const sql = openSqlite(join(await temporaryDirectory(), "state.db"));
  const needed = vi.fn<() => void>();
  const ledger = createLedger({
    record: () => {},
    sql,
    ...readyHost,
    supervisor: { ...readyHost.supervisor, status: () => ({ state: "stopped" as const }), needed },
    sandbox: gatewayOf(() => Promise.reject(new Error("no gateway"))),
    clock: Date.now,
    log: silent,
  });
  onTestFinished(async () => {
    await ledger.close();
    sql.close();
  });
  const admit = (id: string, payload: Delivery["payload"]) =>
    ledger.admit({ id, platform: "telegram", conversation: "1", receivedAt: Date.now(), payload });
  const edit = update(message({ text: "hello you" }), "edited_message");

  expect(await admit("1", edit)).toEqual({ duplicate: true, ready: true });
  expect(needed).not.toHaveBeenCalled();
  // In one turn with its message it is known.
  const both = await Promise.all([admit("2", update(message())), admit("3", edit)]);
  for (const one of both) expect(one).toEqual({ duplicate: false, ready: false });
  expect(needed).toHaveBeenCalledTimes(2);
});

test("where the store takes nothing, every event that arrived is refused and none is kept", async () => {
  const { ledger, admit, sql } = await ledgerOverGateway();
  sql.all(
    "CREATE TRIGGER refuse BEFORE INSERT ON ledger WHEN new.key = 'slack:b' BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  const admissions = await Promise.allSettled([admit("a", "A"), admit("b", "B")]);
  expect(admissions.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await ledger.counts()).toEqual({ waiting: 0, delivering: 0, answered: 0, ignored: 0, failed: 0 });
});

test("a transaction waits for the disk, a light one does not, and one that fails leaves nothing behind", async () => {
  const sql = openSqlite(join(await temporaryDirectory(), "state.db"));
  onTestFinished(() => sql.close());
  const waits = () => sql.all("PRAGMA synchronous")[0]?.["synchronous"];
  const [normal, full] = [1, 2];
  sql.all("CREATE TABLE marks (name TEXT)");
  expect(waits()).toBe(full);
  expect(sql.transaction(waits)).toBe(full);
  expect(sql.lightTransaction(waits)).toBe(normal);
  expect(waits()).toBe(full);

  const fails = (): never => {
    sql.all("INSERT INTO marks VALUES ('one')");
    throw new Error("no");
  };
  expect(() => sql.lightTransaction(fails)).toThrow("no");
  expect(waits()).toBe(full);
  expect(sql.all("SELECT * FROM marks")).toEqual([]);
  // Inside of a transaction it is a part of that one, which waits.
  expect(sql.transaction(() => sql.lightTransaction(waits))).toBe(full);
});

test("what waits for a reason in a chat is delivered at once when that is over", async () => {
  const sql = openSqlite(join(await temporaryDirectory(), "state.db"));
  const got: string[] = [];
  let isFull = true;
  const ledger = createLedger({
    record: () => {},
    sql,
    ...readyHost,
    sandbox: gatewayOf(() => Promise.reject(new Error("not asked"))),
    tenancy: {
      arrives: async () => {},
      isReady: () => true,
      deliver: async ({ deliveries: [{ id }] }) => {
        if (id.startsWith("other")) return { kind: "retry", note: "another reason", afterMs: 60_000 };
        if (isFull) return { kind: "retry", note: "no room", afterMs: 60_000 };
        got.push(id);
        return { kind: "settled", state: "answered", note: "" };
      },
    },
    clock: Date.now,
    log: silent,
  });
  onTestFinished(async () => {
    await ledger.close();
    sql.close();
  });
  for (const [id, conversation] of [
    ["a", "A"],
    ["b", "B"],
    ["other", "O"],
  ] as const)
    await ledger.admit({ id, platform: "slack", conversation, receivedAt: Date.now(), payload: {} });
  const notes = () => sql.all("SELECT count(note) AS n FROM ledger WHERE state = 'waiting'")[0]?.["n"];
  await eventually(() => notes() === 3);
  isFull = false;
  const conversations = sql.all("SELECT conversation FROM ledger WHERE key <> 'slack:b'");
  ledger.makeDue(
    conversations.map(({ conversation }) => String(conversation)),
    "no room",
  );
  await eventually(() => got.length > 0);
  expect(got).toEqual(["a"]);
  expect(notes()).toBe(2);
});
