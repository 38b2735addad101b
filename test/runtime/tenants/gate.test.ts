import { expect, test } from "vitest";
import type { Delivery } from "../../../runtime/contract/delivery.ts";
import { TenantGate } from "../../../runtime/edge/tenants/gate.ts";
import type { Standing } from "../../../runtime/edge/tenants/ports.ts";

const EVENT: Delivery = { id: "1", platform: "telegram", conversation: "42", receivedAt: 0, payload: {} };
const REFUSED: Standing = { admitted: false, note: "the sender is not approved" };

/** A gate, and the directory that it asks. `again` is the gate of an object that was evicted. */
function stage(...answers: (Standing | Error)[]) {
  const notes = new Map<string, string>();
  const asked: string[] = [];
  const time = { now: 0 };
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
      },
      notes: { read: (name) => notes.get(name), write: (name, value) => void notes.set(name, value) },
      clock: () => time.now,
    });
  return { gate: again(), again, asked, time };
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

test("nobody is admitted while the directory does not answer", async () => {
  const { gate } = stage(new Error("down"), { admitted: true });
  await expect(gate.ask(EVENT)).rejects.toThrow("down");
  expect(gate.isOpen).toBe(false);
  expect(await gate.ask(EVENT)).toEqual({ admitted: true });
});

test("a change of mind counts for the next event", async () => {
  const { gate, time } = stage(REFUSED, { admitted: true }, REFUSED);
  await gate.ask(EVENT);
  gate.forget();
  expect(await gate.ask(EVENT)).toEqual({ admitted: true });
  gate.forget();
  expect(gate.isOpen).toBe(false);
  expect(await gate.ask(EVENT)).toEqual(REFUSED);
  expect(time.now).toBe(0);
});

test("an approval is kept until the gateway has been told of it", async () => {
  const grant = { channel: "telegram", sender: "42", role: "operator" } as const;
  const { gate, again } = stage({ admitted: true, grant });
  await gate.ask(EVENT);
  const asked: string[] = [];
  const sandbox = (reply: object) => ({
    request: async (_: string, { body = "" }: { body?: string }) => {
      asked.push(body);
      return Response.json(reply);
    },
  });
  expect(await gate.passOnGrant(sandbox({ ok: false }))).toBe(false);
  expect(await again().passOnGrant(sandbox({ ok: true }))).toBe(true);
  expect(await again().passOnGrant(sandbox({ ok: true }))).toBe(true);
  expect(asked).toEqual(Array(2).fill(JSON.stringify({ operation: "pairing grant", input: grant })));
});
