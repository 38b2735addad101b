import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, deployAll, inAccount, startStage, type Stage } from "./support.ts";

let stage: Stage;

beforeEach(async () => {
  stage = await startStage();
});

afterEach(async () => {
  await stage.close();
});

describe("buckets", () => {
  test("refuse a second of the name, and their deletion while they hold an object", async () => {
    await deployAll(stage.client);
    const { buckets } = stage.client.r2;
    await expect(buckets.create({ ...inAccount, name: "test-steward" })).rejects.toMatchObject({
      status: 409,
      errors: [{ code: 10004 }],
    });
    await ask(stage.runner, "/bucket", { method: "PUT", body: "kept" });
    await expect(buckets.delete("test-steward", inAccount)).rejects.toMatchObject({
      status: 409,
      errors: [{ code: 10008, message: "The bucket you tried to delete is not empty." }],
    });
    await buckets.objects.delete("note", { ...inAccount, bucket_name: "test-steward" });
    await buckets.delete("test-steward", inAccount);
    await expect(buckets.get("test-steward", inAccount)).rejects.toMatchObject({ status: 404 });
  });

  test("an object is seen although the Worker that wrote it is gone", async () => {
    const { workerId } = await deployAll(stage.client);
    await ask(stage.runner, "/bucket", { method: "PUT", body: "kept" });
    await stage.client.workers.beta.workers.delete(workerId, inAccount);
    await expect(stage.client.r2.buckets.delete("test-steward", inAccount)).rejects.toThrow(/not empty/);
  });

  test("give an object as it was stored, by the Worker or by the API, and tell what is not there", async () => {
    await deployAll(stage.client);
    const { objects } = stage.client.r2.buckets;
    const inBucket = { ...inAccount, bucket_name: "test-steward" };
    await ask(stage.runner, "/bucket", { method: "PUT", body: "the Worker's" });
    expect(await (await objects.get("note", inBucket)).text()).toBe("the Worker's");

    const stored = await objects.upload("note", Buffer.from("{}"), inBucket, {
      headers: { "content-type": "application/json" },
    });
    expect(stored).toMatchObject({ key: "note", size: "2" });
    const read = await objects.get("note", inBucket);
    expect(read.headers.get("etag")).toBe(`"${stored.etag}"`);
    expect(read.headers.get("content-type")).toContain("application/json");
    expect(await (await ask(stage.runner, "/bucket")).text()).toBe("{}");

    const missing = { status: 404, errors: [{ code: 10007 }] };
    await expect(objects.get("another", inBucket)).rejects.toMatchObject(missing);
    const nowhere = { status: 404, errors: [{ code: 10006 }] };
    await expect(objects.get("note", { ...inAccount, bucket_name: "no-such-bucket" })).rejects.toMatchObject(
      nowhere,
    );
    // The client encodes slashes, which Cloudflare asks not to do.
    await expect(objects.get("a/note", inBucket)).rejects.toMatchObject({ status: 400 });
  });

  test("list their objects in pages, and lose one at a time by the API", async () => {
    await deployAll(stage.client);
    const { objects } = stage.client.r2.buckets;
    const inBucket = { ...inAccount, bucket_name: "test-steward" };
    const keys = ["a b", "c", "d", "e", "f"];
    for (const key of keys) await objects.upload(key, Buffer.from(key), inBucket);

    const page = await objects.list("test-steward", { ...inAccount, per_page: 2 });
    expect(page.result).toMatchObject([{ key: "a b", size: 3 }, { key: "c" }]);
    expect(page.result_info).toMatchObject({ is_truncated: true, per_page: 2, cursor: expect.any(String) });
    const listed: unknown[] = [];
    for await (const { key } of objects.list("test-steward", { ...inAccount, per_page: 2 })) listed.push(key);
    expect(listed).toEqual(keys);

    expect(await objects.delete("a b", inBucket)).toEqual({ key: "a b" });
    const left = await objects.list("test-steward", { ...inAccount, prefix: "a" });
    expect([left.result, left.result_info]).toMatchObject([[], { is_truncated: false }]);
    await expect(objects.list("test-steward", { ...inAccount, per_page: 1001 })).rejects.toMatchObject({
      status: 400,
    });
  });

  test("have a default lifecycle rule until others replace it", async () => {
    const { buckets } = stage.client.r2;
    await buckets.create({ ...inAccount, name: "test-steward", storageClass: "Standard" });
    const before = await buckets.lifecycle.get("test-steward", inAccount);
    expect(before.rules?.map(({ id }) => id)).toEqual(["Default Multipart Abort Rule"]);
    const rule = { id: "old", enabled: true, conditions: { prefix: "steward/generations/" } };
    await buckets.lifecycle.update("test-steward", { ...inAccount, rules: [rule] });
    expect(await buckets.lifecycle.get("test-steward", inAccount)).toEqual({ rules: [rule] });
  });
});
