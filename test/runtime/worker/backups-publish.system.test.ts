import { expect, test } from "vitest";
import { refusalInTime, sandboxObjects, type Seen } from "../../support/sandbox-object.ts";

const FIRST = "00000001-00000001";
const SECOND = "00000001-00000002";
const CONFIG = "steward/steward.json";
const archive = (id: string) => `steward/generations/${id}.tar.zst`;
const manifest = (id: string) => `steward/generations/${id}.json`;

/** A deployment with one copy of three messages. */
async function published() {
  const objects = await sandboxObjects();
  await objects.one.do("wake");
  await objects.one.do("write", { messages: 3 });
  await objects.one.do("call", "create");
  return objects;
}

/** The container ends and is started anew. */
async function startAnew({ one }: Awaited<ReturnType<typeof sandboxObjects>>): Promise<void> {
  await one.do("fail", {});
  await one.do("end");
  expect(await one.do("wake")).toMatchObject({ state: "ready" });
}

test("a copy reaches the bucket in an order that any crash leaves readable", async () => {
  const { one, bucket } = await published();
  const { stored, calls } = await one.do<Seen>("seen");
  expect(stored).toEqual([
    `put ${archive(FIRST)}`,
    `put ${manifest(FIRST)}`,
    `put ${CONFIG}`,
    "put .last-sync",
  ]);
  expect(calls.slice(1)).toEqual([
    "POST /generations",
    `GET /generations/${FIRST}`,
    "GET /config-file",
    `DELETE /generations/${FIRST}`,
  ]);
  expect(await bucket.do("text", archive(FIRST))).toBe('{"messages":3,"config":"{\\"fresh\\":true}"}');
  expect(JSON.parse(await bucket.do("text", ".last-sync"))).toMatchObject({ generation: FIRST });
  expect(await one.do("call", "list")).toMatchObject([{ id: FIRST, counts: { messages: 3 } }]);
  expect(await one.do("call", "status")).toEqual({ lastAt: expect.any(String) });
});

test.each([
  { at: `put ${archive(SECOND)}`, messages: 3 },
  { at: `put ${manifest(SECOND)}`, messages: 3 },
  { at: `put ${CONFIG}`, messages: 5 },
  { at: "put .last-sync", messages: 5 },
])("a copy that ends before $at leaves the newest whole one", async ({ at, messages }) => {
  const objects = await published();
  const { one, bucket } = objects;
  await one.do("write", { messages: 5 });
  await one.do("fail", { bucket: [at] });
  await expect(one.do("call", "create")).rejects.toThrow(/^backup_failed: .*internal error/);
  expect(await one.do("call", "status")).toMatchObject({ problem: { code: "backup_failed" } });

  await startAnew(objects);
  expect(await one.do("data")).toEqual({ messages, config: '{"fresh":true}' });
  await one.do("skip", 2 * 3_600_000);
  expect(await one.do("call", "create")).toMatchObject({ id: "00000002-00000001" });
  const keys = await bucket.do<string[]>("list");
  const unfinished = keys
    .filter((key) => key.endsWith(".tar.zst"))
    .filter((key) => !keys.includes(key.replace(".tar.zst", ".json")));
  expect(unfinished).toEqual([]);
  expect((await one.do<object>("call", "status")) as { problem?: unknown }).not.toHaveProperty("problem");
});

test("a marker whose answer was lost is known again", async () => {
  const { one } = await published();
  await one.do("fail", { lost: ["put .last-sync"] });
  await expect(one.do("call", "create")).rejects.toThrow(/^backup_failed/);
  await one.do("fail", {});
  expect(await one.do("call", "create")).toMatchObject({ id: "00000001-00000003" });
});

test("another writer's marker stops this one until its next start", async () => {
  const objects = await published();
  const { one, bucket } = objects;
  await bucket.do("put", ".last-sync", '{"somebody":"else"}');
  await expect(one.do("call", "create")).rejects.toThrow(/^backup_stale/);
  expect(await one.do("call", "status")).toMatchObject({ problem: { code: "backup_stale" } });
  expect((await one.do<Seen>("seen")).stored).toHaveLength(4);

  await startAnew(objects);
  expect(await one.do("call", "create")).toMatchObject({ id: "00000002-00000001" });
});

test("a marker that another writer changes amid a copy stays that writer's", async () => {
  const { one, bucket } = await published();
  await one.do("putAmid", "GET /config-file", ".last-sync", '{"somebody":"else"}');
  await expect(one.do("call", "create")).rejects.toThrow(/^backup_stale/);
  expect(await bucket.do("text", ".last-sync")).toBe('{"somebody":"else"}');
});

test("an older start writes nothing once a later one has", async () => {
  const { one, two, bucket } = await published();
  await two.do("wake");
  expect(await two.do("data")).toMatchObject({ messages: 3 });
  await two.do("write", { messages: 9 });
  expect(await two.do("call", "create")).toMatchObject({ id: "00000002-00000001" });

  // The generations tell it without the marker too.
  await bucket.do("delete", ".last-sync");
  await one.do("write", { messages: 4 });
  await expect(one.do("call", "create")).rejects.toThrow(/^backup_stale/);
  expect((await one.do<Seen>("seen")).stored).toHaveLength(4);
  expect(await two.do("call", "list")).toMatchObject([
    { counts: { messages: 9 } },
    { counts: { messages: 3 } },
  ]);
});

test("a copy that holds far less is refused unless it is forced", async () => {
  const { one } = await published();
  await one.do("write", { messages: 40 });
  await one.do("call", "create");
  await one.do("write", { messages: 5 });
  await expect(one.do("call", "create")).rejects.toThrow("backup_refused");
  expect(await one.do("call", "status")).toMatchObject({
    problem: { code: "backup_refused", detail: "It looks like a loss: messages fell from 40 to 5." },
  });
  expect(await one.do("call", "list")).toHaveLength(2);
  expect(await one.do("call", "create", [{ force: true }])).toMatchObject({ counts: { messages: 5 } });
});

test("what the operator deletes while the container runs stays deleted until the next start", async () => {
  const objects = await published();
  const { one, bucket } = objects;
  await bucket.do("delete", CONFIG);
  await one.do("write", { messages: 4 });
  await one.do("call", "create");
  await bucket.do("delete", ".last-sync");
  await one.do("call", "create");
  expect(await bucket.do("list")).not.toEqual(expect.arrayContaining([CONFIG]));
  expect(await bucket.do("list")).not.toEqual(expect.arrayContaining([".last-sync"]));
  expect(await one.do("call", "list")).toHaveLength(3);

  await startAnew(objects);
  await one.do("call", "create");
  expect(await bucket.do("list")).toEqual(expect.arrayContaining([CONFIG, ".last-sync"]));
});

test("a config that is written by hand while the container runs waits for the next start", async () => {
  const objects = await published();
  const { one, bucket } = objects;
  await bucket.do("put", CONFIG, '{"by":"hand"}');
  await one.do("call", "create");
  expect(await bucket.do("text", CONFIG)).toBe('{"by":"hand"}');
  await startAnew(objects);
  expect(await one.do("data")).toEqual({ messages: 3, config: '{"by":"hand"}' });
});

test("a config by hand that was taken is followed by what is changed afterwards", async () => {
  const objects = await published();
  const { one, bucket } = objects;
  await bucket.do("put", CONFIG, '{"by":"hand"}');
  await startAnew(objects);
  await one.do("write", { messages: 4, config: '{"by":"command"}' });
  await one.do("call", "create");
  expect(await bucket.do("text", CONFIG)).toBe('{"by":"command"}');
  await startAnew(objects);
  expect(await one.do("data")).toEqual({ messages: 4, config: '{"by":"command"}' });
});

test("a container without its state is not copied", async () => {
  const { one } = await sandboxObjects();
  await one.do("fail", { bucket: ["list"] });
  await one.do("wake");
  expect(await refusalInTime(one, one.do("call", "create"))).toMatch(/restore_failed/);
  expect((await one.do<Seen>("seen")).stored).toEqual([]);
});
