import { expect, test } from "vitest";
import { BrokerDoor } from "../../../runtime/edge/tenants/broker-door.ts";

const PASS = "0b54ae7e-9f0f-4f2f-8a7c-2c8f4f6a1d3e";
const ONE = "192.0.2.1";
const MINUTE_MS = 60_000;

/** A door of a deployment with these tenants, and the questions to its directory. */
function stage(...tenants: string[]) {
  const asked: string[] = [];
  const time = { now: 0 };
  const door = new BrokerDoor({
    knows: async (tenant) => {
      asked.push(tenant);
      return tenants.includes(tenant);
    },
    clock: () => time.now,
  });
  const ask = async (tenant: string, { pass = PASS, client = ONE } = {}): Promise<number> => {
    const headers = { authorization: `Bearer ${pass}` };
    const request = new Request("https://s.example/broker/slack/auth.test", { headers });
    return (await door.refusal(tenant, request, client))?.status ?? 200;
  };
  return { door, ask, asked, time };
}

test("a tenant's pass is let through, wherever it stands", async () => {
  const { door, ask } = stage("slack-C1");
  expect(await ask("slack-C1")).toBe(200);
  const headers = { "x-api-key": PASS };
  const model = new Request("https://s.example/broker/anthropic/messages", { headers });
  expect(await door.refusal("slack-C1", model, ONE)).toBeUndefined();
  const former = new Request(`https://s.example/broker/telegram/bot1:${PASS}/getMe`);
  expect(await door.refusal("slack-C1", former, ONE)).toBeUndefined();
});

test("what is no pass by its form asks nobody", async () => {
  const { ask, asked } = stage("slack-C1");
  for (const pass of ["", "none", "a".repeat(36), "sk-ant-0123456789"])
    expect(await ask("slack-C1", { pass })).toBe(403);
  expect(asked).toEqual([]);
});

test("an unknown id is asked about once in two seconds", async () => {
  const { ask, asked, time } = stage();
  for (let count = 0; count < 1_000; count += 1) expect(await ask("slack-C404")).toBe(403);
  expect(asked).toEqual(["slack-C404"]);
  time.now = 2_000;
  await ask("slack-C404");
  expect(asked).toHaveLength(2);
});

test("a client that asks with one unknown id after another is slowed down; others are not", async () => {
  const { ask, asked, time } = stage("slack-C1");
  const flood = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => ask(`slack-C${time.now}${index}`)));
  const first = await flood(1_000);
  expect(first.filter((status) => status === 429)).toHaveLength(940);
  expect(asked).toHaveLength(60);
  expect(await ask("slack-C1", { client: "192.0.2.2" })).toBe(200);
  time.now = MINUTE_MS;
  await flood(1_000);
  expect(asked).toHaveLength(121);
});

test("questions about tenants are not counted", async () => {
  const tenants = Array.from({ length: 500 }, (_, index) => `slack-C${index}`);
  const { ask } = stage(...tenants);
  for (const tenant of tenants) expect(await ask(tenant)).toBe(200);
});

test("a directory that does not answer refuses nobody for later", async () => {
  let fails = true;
  const door = new BrokerDoor({
    knows: async () => {
      if (fails) throw new Error("down");
      return true;
    },
    clock: () => 0,
  });
  const headers = { authorization: `Bearer ${PASS}` };
  const request = new Request("https://s.example/broker/slack/auth.test", { headers });
  for (let count = 0; count < 100; count += 1)
    await expect(door.refusal("slack-C1", request, ONE)).rejects.toThrow("down");
  fails = false;
  expect(await door.refusal("slack-C1", request, ONE)).toBeUndefined();
});
