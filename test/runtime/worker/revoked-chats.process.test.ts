import { expect, test } from "vitest";
import { mention } from "../../../rehearsal/standins/slack.ts";
import { sandboxObjects, type Seen } from "../../support/sandbox-object.ts";

const MINUTE_MS = 60_000;
const SOMEBODY = { channel: "slack", sender: "U1" };
const APPROVED = { ...SOMEBODY, role: "person" };

/** The object of a chat in which each chat has its own. */
async function chatObject() {
  const { chat } = await sandboxObjects({ TENANCY: "chat" });
  const starts = async (): Promise<number> => (await chat.do<Seen>("seen")).starts;
  return { chat, starts };
}

test("schedules of a chat stop with its approval, and run again with a new one", async () => {
  const { chat, starts } = await chatObject();
  const nextAt = new Date(Date.now() + 60 * MINUTE_MS).toISOString();
  await chat.do("set", { answers: true, nextAt });
  const payload = mention("hello", { chat: "C1" });
  const event = { id: "Ev1", platform: "slack", conversation: "T1:C1", receivedAt: Date.now(), payload };
  await chat.do("admit", event);
  await expect.poll(() => chat.do("status")).toMatchObject({ state: "ready" });
  await chat.do("pass", 30 * MINUTE_MS);
  expect(await chat.do<Seen>("seen")).toMatchObject({ starts: 1, running: false });

  await chat.do("changeRights", SOMEBODY);
  await chat.do("pass", 60 * MINUTE_MS);
  expect(await starts()).toBe(1);
  await chat.do("evict").catch(() => undefined);
  await chat.do("changeRights", APPROVED);
  await chat.do("pass", MINUTE_MS);
  expect(await starts()).toBe(2);
});

test("a schedule that came while its chat was shut begins with the next approval", async () => {
  const { chat, starts } = await chatObject();
  await chat.do("changeRights", SOMEBODY);
  await chat.do("beginSchedules");
  expect(await starts()).toBe(0);
  await chat.do("changeRights", APPROVED);
  await expect.poll(starts).toBe(1);
});

test("an approval alone starts no container", async () => {
  const { chat, starts } = await chatObject();
  await chat.do("changeRights", APPROVED);
  await chat.do("pass", 60 * MINUTE_MS);
  expect(await starts()).toBe(0);
});
