import { expect, test } from "vitest";
import { sandboxObjects, type Seen } from "../../support/sandbox-object.ts";

const MINUTE = 60_000;
const SLEEP_AFTER = 10 * MINUTE;

async function awake() {
  const objects = await sandboxObjects();
  const { one } = objects;
  await one.do("wake");
  await one.do("write", { messages: 3 });
  const copies = async () => {
    const { stored } = await one.do<Seen>("seen");
    return stored.filter((call) => call.startsWith("put") && call.endsWith(".tar.zst")).length;
  };
  return { ...objects, copies, seen: () => one.do<Seen>("seen") };
}

test("a state that moves is copied every two minutes, one that does not only once", async () => {
  const { one, copies, seen } = await awake();
  expect(await copies()).toBe(0);
  await one.do("pass", 2 * MINUTE);
  expect(await copies()).toBe(1);
  await one.do("write", { messages: 4 });
  await one.do("pass", 2 * MINUTE);
  expect(await copies()).toBe(2);
  await one.do("pass", SLEEP_AFTER);
  expect(await copies()).toBe(2);
  expect(await seen()).toMatchObject({ running: false, starts: 1 });
});

test("what an operator has changed outlives a container that dies right after", async () => {
  const { one, copies } = await awake();
  await one.do("writeAmid", "POST /operations", { messages: 5 });
  expect(await one.do("request", "/operations")).toBe(202);
  await expect.poll(copies).toBe(1);
  // An operation that changes nothing makes no copy.
  await one.do("request", "/operations");
  await one.do("pass", 2 * MINUTE);
  expect(await copies()).toBe(1);

  await one.do("end");
  await one.do("wake");
  expect(await one.do("data")).toMatchObject({ messages: 5 });
});

test("the container goes to sleep with a copy of its last change, and wakes with it", async () => {
  const { one, seen, copies } = await awake();
  await one.do("pass", SLEEP_AFTER - MINUTE);
  await one.do("write", { messages: 8 });
  await one.do("writeAmid", "GET /generations/", { messages: 9 });
  await one.do("pass", 2 * MINUTE);
  expect((await seen()).running).toBe(false);
  expect(await copies()).toBe(3);
  await one.do("wake");
  expect(await one.do("data")).toMatchObject({ messages: 9 });
});

test("a stopped container is left alone", async () => {
  const { one, seen } = await awake();
  await one.do("pass", SLEEP_AFTER + MINUTE);
  const { fired, calls } = await seen();
  await one.do("pass", 24 * 60 * MINUTE);
  expect(await seen()).toMatchObject({ running: false, starts: 1, fired, calls, alarm: null });
});

test("a copy that fails keeps the container awake, at a quiet pace, until one succeeds", async () => {
  const { one, seen, copies } = await awake();
  await one.do("fail", { bucket: ["put"] });
  await one.do("pass", SLEEP_AFTER + MINUTE);
  expect((await seen()).running).toBe(true);
  expect(await one.do("call", "status")).toMatchObject({ problem: { code: "backup_failed" } });
  const { fired } = await seen();
  await one.do("pass", 60 * MINUTE);
  expect((await seen()).running).toBe(true);
  // Every ten minutes, and what is left of the shorter waits.
  expect((await seen()).fired - fired).toBeLessThan(12);

  await one.do("fail", {});
  await one.do("pass", SLEEP_AFTER);
  expect(await seen()).toMatchObject({ running: false, starts: 1 });
  expect(await copies()).toBe(1);
});

test("a container whose supervisor does not answer at all is stopped without a copy", async () => {
  const { one, seen, copies } = await awake();
  await one.do("pass", 2 * MINUTE);
  await one.do("fail", { mute: true });
  await one.do("pass", 2 * SLEEP_AFTER + MINUTE);
  expect((await seen()).running).toBe(false);
  expect(await copies()).toBe(1);
});

test("a container that came into use amid its last copy stays", async () => {
  const { one, seen } = await awake();
  await one.do("pass", SLEEP_AFTER - MINUTE);
  await one.do("useAmid", "POST /generations");
  await one.do("write", { messages: 12 });
  await one.do("pass", 2 * MINUTE);
  expect((await seen()).running).toBe(true);
  await one.do("pass", SLEEP_AFTER + MINUTE);
  expect((await seen()).running).toBe(false);
});

test("an awake container outlives an object that is evicted until the alarm that makes it anew", async () => {
  const { one, seen } = await awake();
  // An alarm comes every two minutes, and somewhat later on a slow machine.
  await one.do("pass", 7 * MINUTE);
  const { outlives, fired } = await seen();
  expect(fired).toBeGreaterThanOrEqual(3);
  // At its start, and at each alarm since.
  expect(outlives.length).toBeGreaterThan(fired);
  expect(Math.min(...outlives)).toBeGreaterThan(4 * MINUTE);
});

test("an object that is evicted and made anew by each alarm copies, and sleeps in time", async () => {
  const { one, seen, copies } = await awake();
  const evict = () => one.do("evict").catch(() => undefined);
  for (let minutes = 2; minutes <= 8; minutes += 2) {
    await evict();
    await one.do("pass", 2 * MINUTE);
    expect([minutes, (await seen()).running]).toEqual([minutes, true]);
  }
  expect(await copies()).toBe(1);
  await one.do("write", { messages: 7 });
  await evict();
  await one.do("pass", 3 * MINUTE);
  expect(await seen()).toMatchObject({ running: false, starts: 1 });
  expect(await copies()).toBe(2);
});

test("a container that a request has woken does not go to sleep before it has answered", async () => {
  const { one, seen } = await awake();
  await one.do("pass", SLEEP_AFTER + MINUTE);
  expect((await seen()).running).toBe(false);
  await one.do("passAmid", "POST /operations", MINUTE);
  expect(await one.do("request", "/operations")).toBe(202);
  expect(await seen()).toMatchObject({ running: true, starts: 2 });
  await one.do("pass", SLEEP_AFTER + MINUTE);
  expect((await seen()).running).toBe(false);
});

test("the output outlives the container: what it wrote before a sleep, and every few minutes", async () => {
  const { one, seen } = await awake();
  await one.do("set", { lines: ["one"] });
  await one.do("pass", 3 * MINUTE);
  expect(await one.do("log")).toEqual({ lines: ["one"], next: 1 });
  await one.do("set", { lines: ["one", "two"] });
  await one.do("pass", SLEEP_AFTER);
  expect((await seen()).running).toBe(false);
  expect(await one.do("log")).toEqual({ lines: ["one", "two"], next: 2 });
  await one.do("set", { lines: ["one", "two", "three"] });
  await one.do("wake");
  await one.do("pass", 3 * MINUTE);
  expect(await one.do("log")).toEqual({ lines: ["one", "two", "three"], next: 3 });
});
