import { expect, test } from "vitest";
import { mention } from "../../../rehearsal/standins/slack.ts";
import { sandboxObjects, type Seen } from "../../support/sandbox-object.ts";

const CHAT = { TENANCY: "chat" };
const FIRST = {
  id: "Ev1",
  platform: "slack",
  conversation: "T1:C1",
  receivedAt: 0,
  payload: mention("hello", { chat: "C1" }),
};

test("a chat's first message has an alarm from its record on, and its container from its start on", async () => {
  const { chat } = await sandboxObjects(CHAT);
  // Its start takes long, and its answer longer.
  await chat.do("fail", { mute: true });
  const receivedAt = Date.now();
  await chat.do("admit", { ...FIRST, receivedAt });
  expect((await chat.do<Seen>("seen")).alarm).toBeGreaterThan(receivedAt);
  await expect.poll(() => chat.do<Seen>("seen")).toMatchObject({ running: true });
  expect((await chat.do<Seen>("seen")).alarm).not.toBeNull();

  await chat.do("lose").catch(() => undefined);
  await chat.do("fail", {});
  await chat.do("pass", 20_000);
  expect(await chat.do<Seen>("seen")).toMatchObject({ starts: 2, running: true });
});

test("a container that is started for a schedule has an alarm before it is ready", async () => {
  const { chat } = await sandboxObjects(CHAT);
  await chat.do("fail", { mute: true });
  void chat.do("beginSchedules").catch(() => undefined);
  await expect.poll(() => chat.do<Seen>("seen")).toMatchObject({ running: true });
  expect((await chat.do<Seen>("seen")).alarm).not.toBeNull();
  await chat.do("end");
});

test("an object that is made while its container runs has an alarm, however it lost the one before", async () => {
  const { one } = await sandboxObjects();
  await one.do("wake");
  await one.do("dropAlarm");
  await one.do("evict").catch(() => undefined);
  await expect.poll(async () => (await one.do<Seen>("seen")).alarm).not.toBeNull();
});

test("a version whose object cannot be built leaves the next one an alarm", async () => {
  const { one } = await sandboxObjects();
  await one.do("wake");
  await one.do("deploy", { SANDBOX_SLEEP_AFTER: "some time" }).catch(() => undefined);
  await expect(one.do("status")).rejects.toThrow("environment_invalid");
  const later = Date.now() + 3_600_000;
  await one.do("pass", 3_600_000);
  expect((await one.do<Seen>("seen")).alarm).toBeGreaterThan(later);
  await one.do("deploy", {}).catch(() => undefined);
  expect(await one.do("status")).toMatchObject({ state: "ready" });
});

const GENERATIONS = "steward/generations/";

/** An object that is lost when its container has answered this call, with this data, and before it notes that. */
async function lostAfter(call: string, data: object = {}) {
  const { one, bucket } = await sandboxObjects();
  await one.do("wake");
  await one.do("write", { messages: 5, config: '{"kept":true}' });
  await one.do("call", "create");
  await one.do("end");
  await bucket.do("put", "steward/steward.json", '{"by":"hand"}');
  await one.do("evictAfter", call, data);
  await one.do("wake").catch(() => undefined);
  return { one, bucket };
}

test("a gateway that was started before a kill keeps what it has done since", async () => {
  const { one, bucket } = await lostAfter("POST /restart", { messages: 6 });
  expect(await one.do("wake")).toMatchObject({ state: "ready" });
  expect(await one.do("data")).toEqual({ messages: 6, config: '{"by":"hand"}' });
  const { calls } = await one.do<Seen>("seen");
  expect(calls.filter((call) => call.startsWith("POST /restore"))).toHaveLength(2);

  // The next copy is newer than all before, and the config by hand was taken.
  await one.do("call", "create");
  const keys = await bucket.do<string[]>("list");
  expect(keys.filter((key) => key.startsWith(GENERATIONS) && key.endsWith(".json"))).toEqual([
    `${GENERATIONS}00000001-00000001.json`,
    `${GENERATIONS}00000002-00000001.json`,
  ]);
  await one.do("evict").catch(() => undefined);
  expect(await one.do("wake")).toMatchObject({ state: "ready" });
  expect(await one.do("seen")).toMatchObject({ starts: 2, running: true });
});

test("a state that was put in place before a kill, without a gateway, is put there again", async () => {
  const { one } = await lostAfter("POST /restore");
  expect(await one.do("seen")).toMatchObject({ gateway: "held" });
  expect(await one.do("wake")).toMatchObject({ state: "ready" });
  expect(await one.do("data")).toEqual({ messages: 5, config: '{"by":"hand"}' });
});
