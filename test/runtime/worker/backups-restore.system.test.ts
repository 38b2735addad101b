import { expect, test } from "vitest";
import { refusalInTime, sandboxObjects, type Seen } from "../../support/sandbox-object.ts";

const CONFIG = "steward/steward.json";
const MARKER = ".last-sync";
const KEPT = '{"kept":true}';
const BY_HAND = '{"by":"hand"}';
const FRESH = '{"fresh":true}';
const FIRST = "00000001-00000001";
const SECOND = "00000001-00000002";
const archive = (id: string) => `steward/generations/${id}.tar.zst`;
const manifest = (id: string) => `steward/generations/${id}.json`;

type Objects = Awaited<ReturnType<typeof sandboxObjects>>;

/** A deployment that sleeps, with copies of three and of five messages. */
async function asleep(): Promise<Objects> {
  const objects = await sandboxObjects();
  const { one } = objects;
  await one.do("wake");
  for (const messages of [3, 5]) {
    await one.do("write", { messages, config: KEPT });
    await one.do("call", "create");
  }
  await one.do("end");
  return objects;
}

const restores = async ({ one }: Objects): Promise<string[]> => (await one.do<Seen>("seen")).calls.slice(9);

test.each([
  { what: "nothing", deleted: [], config: KEPT, source: "generation" },
  { what: "the cached config", deleted: [CONFIG], config: KEPT, source: "generation" },
  { what: "the marker", deleted: [MARKER], config: KEPT, source: "generation" },
  { what: "both", deleted: [CONFIG, MARKER], config: FRESH, source: "fresh" },
])("with $what deleted the config is that of $source", async ({ deleted, config, source }) => {
  const objects = await asleep();
  const { one, bucket } = objects;
  for (const key of deleted) await bucket.do("delete", key);
  expect(await one.do("wake")).toMatchObject({ state: "ready" });
  expect(await one.do("data")).toEqual({ messages: 5, config });
  expect(await restores(objects)).toEqual([`POST /restore?config=${source}`]);
});

test("a cached config that somebody wrote by hand takes the file's place, unchecked", async () => {
  const objects = await asleep();
  await objects.bucket.do("put", CONFIG, BY_HAND);
  await objects.one.do("wake");
  expect(await objects.one.do("data")).toEqual({ messages: 5, config: BY_HAND });
  expect(await restores(objects)).toEqual([
    "POST /restore?config=generation&start=false",
    "GET /config-file",
    expect.stringMatching(/^PUT \/config-file\?expected=[0-9a-f]{64}&unchecked=true$/),
    "POST /restart",
  ]);
});

test("a config by hand that is the generation's own is none", async () => {
  const objects = await asleep();
  await objects.bucket.do("put", CONFIG, KEPT);
  await objects.one.do("wake");
  expect(await restores(objects)).toEqual(["POST /restore?config=generation"]);
});

test("without a generation the container begins empty, with a config by hand if there is one", async () => {
  const { one, two, bucket } = await sandboxObjects();
  await one.do("wake");
  expect(await one.do("data")).toEqual({ messages: 0, config: FRESH });
  await bucket.do("put", CONFIG, BY_HAND);
  await two.do("wake");
  expect(await two.do("data")).toEqual({ messages: 0, config: BY_HAND });
});

test.each([
  { what: "an archive with another content", key: archive(SECOND), text: KEPT.padEnd(44).slice(0, 44) },
  { what: "an archive of another size", key: archive(SECOND), text: "short" },
  { what: "a manifest that is none", key: manifest(SECOND), text: "{" },
])("$what: the copy before it is taken, and this is told until the next good copy", async ({ key, text }) => {
  const { one, bucket } = await asleep();
  await bucket.do("put", key, text);
  await one.do("wake");
  expect(await one.do("data")).toEqual({ messages: 3, config: KEPT });
  const { problem } = await one.do<{ problem: { code: string; detail: string } }>("call", "status");
  expect(problem.code).toBe("backup_corrupt");
  expect(problem.detail).toContain(`${FIRST} was restored`);
  await one.do("call", "create");
  expect(await one.do("call", "status")).not.toHaveProperty("problem");
});

test("an archive that is missing is as one that is not whole", async () => {
  const { one, bucket } = await asleep();
  await bucket.do("delete", archive(SECOND));
  await one.do("wake");
  expect(await one.do("data")).toMatchObject({ messages: 3 });
});

test("where no copy is whole the gateway does not begin with nothing", async () => {
  const { one, bucket } = await asleep();
  await bucket.do("delete", archive(FIRST));
  await bucket.do("put", archive(SECOND), "short");
  expect(await one.do("wake")).toMatchObject({ state: "starting", reason: { code: "restore_failed" } });
  expect(await one.do("seen")).toMatchObject({ gateway: "held" });
});

test.each([
  { where: "the bucket's list", fails: { bucket: ["list"] } },
  { where: "the manifest", fails: { bucket: ["get steward/generations/"] } },
  { where: "the marker", fails: { bucket: ["get .last-sync"] } },
  { where: "the container's disk", fails: { container: ["POST /restore"] } },
])("a failure of $where is told, and tried again", async ({ fails }) => {
  const { one } = await asleep();
  await one.do("fail", fails);
  expect(await one.do("wake")).toMatchObject({ state: "starting", reason: { code: "restore_failed" } });
  expect(await one.do("call", "status")).toMatchObject({ problem: { code: "restore_failed" } });
  await one.do("fail", {});
  await expect.poll(() => one.do("status"), { timeout: 30_000 }).toMatchObject({ state: "ready" });
  expect(await one.do("data")).toEqual({ messages: 5, config: KEPT });
  expect(await one.do("status")).not.toHaveProperty("reason");
});

test("a restore by hand that fails between its steps begins anew", async () => {
  const { one, bucket } = await asleep();
  await bucket.do("put", CONFIG, BY_HAND);
  await one.do("fail", { container: ["PUT /config-file"] });
  expect(await one.do("wake")).toMatchObject({ state: "starting", reason: { code: "restore_failed" } });
  expect(await one.do("seen")).toMatchObject({ gateway: "held" });
  await one.do("fail", {});
  await expect.poll(() => one.do("status"), { timeout: 30_000 }).toMatchObject({ state: "ready" });
  expect(await one.do("data")).toEqual({ messages: 5, config: BY_HAND });
});

test("a container that gets no state is stopped, and started again for its events", async () => {
  const { one } = await asleep();
  const event = { id: "Ev1", platform: "slack", conversation: "C1", receivedAt: Date.now(), payload: {} };
  await one.do("fail", { bucket: ["list"] });
  await one.do("admit", event);
  await expect
    .poll(() => one.do("status"), { timeout: 30_000 })
    .toMatchObject({ reason: { code: "restore_failed" } });
  await one.do("skip", 121_000);
  await expect.poll(() => one.do("status"), { timeout: 30_000 }).toMatchObject({ state: "stopped" });
  expect(await one.do("status")).toMatchObject({ reason: { code: "restore_failed" } });
  expect(await one.do("seen")).toMatchObject({ starts: 2, running: false });

  await one.do("fail", {});
  await one.do("pass", 30_000);
  await expect.poll(() => one.do("status"), { timeout: 30_000 }).toMatchObject({ state: "ready" });
  expect(await one.do("seen")).toMatchObject({ starts: 3 });
  expect(await one.do("data")).toMatchObject({ messages: 5 });
});

test("no command runs in a container that has not got its state", async () => {
  const { one } = await asleep();
  await one.do("fail", { bucket: ["list"] });
  expect(await refusalInTime(one, one.do("request", "/operations"))).toMatch(/restore_failed/);
  expect((await one.do<Seen>("seen")).calls).not.toContain("POST /operations");
  await one.do("fail", {});
  expect(await one.do("request", "/operations")).toBe(202);
});

test("a drill leaves everything as it is", async () => {
  const objects = await asleep();
  const { one } = objects;
  expect(await one.do("call", "verify", [FIRST])).toMatchObject({ id: FIRST, counts: { messages: 3 } });
  expect(await one.do("data")).toMatchObject({ messages: 5 });
  expect((await restores(objects)).at(-1)).toBe("POST /restore?config=generation&drill=true");
});

test("an older copy is put back on demand, after a copy of what is there, and lasts", async () => {
  const { one } = await asleep();
  await one.do("wake");
  await one.do("write", { messages: 60 });
  expect(await one.do("call", "restore", [FIRST, "current"])).toMatchObject({ id: FIRST });
  const labels = ((await one.do("call", "list")) as { cause?: string }[]).map(({ cause }) => cause);
  expect(labels.filter((cause) => cause === "restore")).toHaveLength(1);
  expect(await one.do("data")).toMatchObject({ messages: 3 });
  const list = await one.do<{ counts: { messages: number } }[]>("call", "list");
  expect(list.map(({ counts }) => counts.messages)).toEqual([3, 60, 5, 3]);
  await one.do("end");
  await one.do("wake");
  expect(await one.do("data")).toMatchObject({ messages: 3 });
});

test("what cannot be copied first is not restored over, and an unknown copy is none", async () => {
  const { one } = await asleep();
  await one.do("wake");
  await one.do("write", { messages: 6 });
  await expect(one.do("call", "restore", ["00000009-00000009", "current"])).rejects.toThrow(
    /^backup_unknown/,
  );
  await expect(one.do("call", "verify", ["../steward"])).rejects.toThrow(/^backup_unknown/);
  await one.do("fail", { bucket: ["put"] });
  await expect(one.do("call", "restore", [FIRST, "generation"])).rejects.toThrow(/^backup_failed/);
  expect(await one.do("data")).toMatchObject({ messages: 6 });
});

test("the config of a copy is read in the container, beside the file that is there", async () => {
  const { one } = await asleep();
  await one.do("wake");
  await one.do("write", { config: BY_HAND });
  const shown = await one.do<{ text: string; sha256: string }>("call", "configOf", [FIRST]);
  expect(shown).toEqual({ text: KEPT, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(await one.do("data")).toEqual({ messages: 5, config: BY_HAND });
  await expect(one.do("call", "configOf", ["00000009-00000009"])).rejects.toThrow(/^backup_unknown/);
});

test("a copy is downloaded across the object's boundary while the container sleeps", async () => {
  const { one, bucket } = await asleep();
  const { starts } = await one.do<Seen>("seen");
  const downloaded = await one.do<string>("download", FIRST);
  expect(downloaded).toBe(await bucket.do("text", archive(FIRST)));
  expect(downloaded).not.toBe("");
  expect((await one.do<Seen>("seen")).starts).toBe(starts);
});
