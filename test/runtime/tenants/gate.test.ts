import { expect, test } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { forgetDecision, TenantGate } from "../../../runtime/edge/tenants/gate.ts";
import type { AdmissionDecision } from "../../../runtime/edge/tenants/ports.ts";

const EVENT: Delivery = { id: "1", platform: "telegram", conversation: "42", receivedAt: 0, payload: {} };
const REFUSED: AdmissionDecision = { admitted: false, note: "the sender is not approved" };

/** A gate, and the directory that it asks. `again` is the gate of an object that was evicted. */
function stage(...answers: (AdmissionDecision | Error)[]) {
  const notes = new Map<string, string>();
  const asked: string[] = [];
  const moves: unknown[] = [];
  const time = { now: 0 };
  const run: { id: string; backedUpAt: number | undefined } = { id: "1", backedUpAt: undefined };
  const again = () =>
    new TenantGate({
      tenant: "telegram-42",
      directory: {
        introduce: async (tenant) => {
          asked.push(tenant);
          const answer = answers.shift();
          if (answer === undefined || answer instanceof Error) throw answer ?? new Error("not asked before");
          return answer;
        },
        moved: async (...move) => void moves.push(move),
      },
      notes: { read: (name) => notes.get(name), write: (name, value) => void notes.set(name, value) },
      run: () => run,
      clock: () => time.now,
    });
  return { gate: again(), again, asked, moves, notes, time, run };
}

test("a chat is asked about once, and an admitted one never again", async () => {
  const { gate, again, asked } = stage({ admitted: true });
  expect(gate.isOpen).toBe(false);
  expect(await gate.ask(EVENT)).toEqual({ admitted: true });
  expect(again().isOpen).toBe(true);
  expect(asked).toEqual(["telegram-42"]);
});

test("a flood of a stranger asks once in ten seconds", async () => {
  const { gate, asked, time } = stage(REFUSED, { admitted: true });
  for (let count = 0; count < 1_000; count += 1) expect(await gate.ask(EVENT)).toEqual(REFUSED);
  expect(asked).toHaveLength(1);
  time.now = 10_000;
  expect(await gate.ask(EVENT)).toEqual({ admitted: true });
});

/** A message of somebody in a group. */
const from = (id: number): Delivery => ({
  ...EVENT,
  payload: { message: { chat: { id: -7, type: "group" }, from: { id } } },
});

test("events that arrive while the directory is asked wait for the same answer", async () => {
  const { gate, asked } = stage({ admitted: true });
  const standings = await Promise.all(Array.from({ length: 32 }, () => gate.ask(EVENT)));
  expect(new Set(standings.map(({ admitted }) => admitted))).toEqual(new Set([true]));
  expect(asked).toHaveLength(1);
});

test("a refusal of one person in a group says nothing about another", async () => {
  const { gate, asked } = stage(REFUSED, { admitted: true });
  expect(await gate.ask(from(1))).toEqual(REFUSED);
  expect(await gate.ask(from(1))).toEqual(REFUSED);
  expect(await gate.ask(from(2))).toEqual({ admitted: true });
  expect(asked).toHaveLength(2);
});

test("a group of thousands does not fill the object's memory", async () => {
  const { gate, asked } = stage(...Array.from({ length: 1_002 }, () => REFUSED));
  for (let id = 1; id <= 1_001; id += 1) await gate.ask(from(id));
  await gate.ask(from(1_001));
  expect(asked).toHaveLength(1_001);
  await gate.ask(from(1));
  expect(asked).toHaveLength(1_002);
});

test("an answer from before a change of rights is not used", async () => {
  const { gate, asked } = stage({ admitted: true }, REFUSED);
  const standing = gate.ask(EVENT);
  await gate.change({ channel: "telegram", sender: "42" }, container().sandbox);
  expect(await standing).toEqual(REFUSED);
  expect(gate.isOpen).toBe(false);
  expect(asked).toHaveLength(2);
});

test("nobody is admitted while the directory does not answer", async () => {
  const { gate } = stage(new Error("down"), { admitted: true });
  await expect(gate.ask(EVENT)).rejects.toThrow("down");
  expect(gate.isOpen).toBe(false);
  expect(await gate.ask(EVENT)).toEqual({ admitted: true });
});

test("a change of mind counts for the next event", async () => {
  const { gate, time } = stage(REFUSED, { admitted: true }, REFUSED);
  await gate.ask(EVENT);
  const { sandbox, asked } = container();
  await gate.change({ channel: "telegram", sender: "42", role: "person" }, sandbox);
  expect(await gate.ask(EVENT)).toEqual({ admitted: true });
  await gate.change({ channel: "telegram", sender: "42" }, sandbox);
  expect(gate.isOpen).toBe(false);
  expect(await gate.ask(EVENT)).toEqual(REFUSED);
  expect(time.now).toBe(0);
  // The container sleeps: its next start is told.
  expect(asked).toEqual([]);
});

/** A container that sleeps, and answers each operation with the next reply, and the operations that it was asked for. */
function container(...replies: object[]) {
  const asked: unknown[] = [];
  const request = async (_: string, { body = "" }: { body?: string }) => {
    asked.push(JSON.parse(body));
    return Response.json(replies.shift());
  };
  const status = async () => ({ state: "stopped", since: "", restarts: 0 }) as const;
  return { asked, sandbox: { request, status } };
}

test("an approval is kept until the gateway has been told of it", async () => {
  const grant = { channel: "telegram", sender: "42", role: "operator" } as const;
  const { gate, again } = stage({ admitted: true, grant });
  const { asked, sandbox } = container({ ok: false, error: {} }, { ok: true });
  await gate.ask(EVENT);
  expect(await gate.passOnGrant(sandbox)).toBe(false);
  expect(await again().passOnGrant(sandbox)).toBe(true);
  expect(await again().passOnGrant(sandbox)).toBe(true);
  const told = { operation: "pairing grant", input: grant };
  expect(asked).toEqual([told, told]);
});

test("each run of a container is told of an approval until a backup has it", async () => {
  const grant = { channel: "telegram", sender: "42", role: "person" } as const;
  const { gate, again, run, time } = stage({ admitted: true, grant });
  const { asked, sandbox } = container({ ok: true }, { ok: true });
  await gate.ask(EVENT);
  time.now = 1_000;
  await gate.passOnGrant(sandbox);
  run.backedUpAt = 500;
  run.id = "2";
  await again().passOnGrant(sandbox);
  await again().passOnGrant(sandbox);
  expect(asked).toHaveLength(2);
  run.backedUpAt = 500_000;
  run.id = "3";
  expect(await again().passOnGrant(sandbox)).toBe(true);
  expect(asked).toHaveLength(2);
});

test("a gateway that runs is told at once", async () => {
  const { gate } = stage();
  const { asked, sandbox } = container({ ok: true });
  const status = async () => ({ state: "ready", since: "", restarts: 0 }) as const;
  await gate.change({ channel: "telegram", sender: "42" }, { ...sandbox, status });
  expect(asked).toEqual([{ operation: "pairing revoke", input: { channel: "telegram", sender: "42" } }]);
  expect(await gate.passOnGrant(sandbox)).toBe(true);
  expect(asked).toHaveLength(1);
});

test("a gateway that does not know the sender whose access is taken away has been told", async () => {
  const { gate } = stage();
  const { asked, sandbox } = container({ ok: false, error: { code: "sender_unknown" } });
  await gate.change({ channel: "telegram", sender: "42" }, sandbox);
  expect(await gate.passOnGrant(sandbox)).toBe(true);
  expect(asked).toEqual([{ operation: "pairing revoke", input: { channel: "telegram", sender: "42" } }]);
});

const moveTo = (chat: number) =>
  ({
    ...EVENT,
    payload: { message: { chat: { id: 42, type: "group" }, migrate_to_chat_id: chat } },
  }) as const;

test("a group that becomes a supergroup stays the tenant that it was", async () => {
  const { gate, moves, notes } = stage({ admitted: true });
  await gate.followMove(moveTo(-100));
  expect(moves).toEqual([]);
  await gate.ask(EVENT);
  await gate.followMove(EVENT);
  await gate.followMove(moveTo(-100));
  expect(moves).toEqual([["telegram-42", "telegram--100"]]);
  expect(notes.get("chat")).toBe("-100");
});

test("the new id of a group leads to the tenant that it was, without another question", async () => {
  const moved = { admitted: false, note: "passed on to telegram--7", movedTo: "telegram--7" } as const;
  const { gate, again, asked } = stage(moved);
  expect(gate.movedTo).toBeUndefined();
  expect(await gate.ask(EVENT)).toEqual(moved);
  expect(again().movedTo).toBe("telegram--7");
  expect(asked).toHaveLength(1);
});

test("a container may run for schedules of a chat that nobody has decided about; its messages are asked about", async () => {
  const { gate, notes } = stage();
  expect(gate.mayRun).toBe(false);
  gate.expectSchedules();
  expect([gate.mayRun, gate.isOpen]).toEqual([true, false]);
  // An operator has taken somebody's access away.
  notes.set("admitted", "");
  expect(gate.mayRun).toBe(false);
  forgetDecision({ write: (name, value) => void notes.set(name, value) });
  expect(gate.mayRun).toBe(true);
});

test("without an approval no schedule runs, and with a new one they do; a message is still asked about", async () => {
  const { gate, again } = stage({ admitted: true });
  const { sandbox } = container();
  await gate.ask(EVENT);
  await gate.change({ channel: "telegram", sender: "42" }, sandbox);
  expect(gate.mayRun).toBe(false);
  await gate.change({ channel: "telegram", sender: "42", role: "person" }, sandbox);
  expect([again().mayRun, again().isOpen]).toEqual([true, false]);
});
