import { APIError } from "cloudflare";
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  ACCOUNT,
  ask,
  clientOf,
  deployAll,
  migrate,
  moduleOf,
  MIGRATE_BUNDLE,
  namespaceIdOf,
  release,
  SCRIPT,
  startStage,
  tieApplication,
  until,
  type Stage,
} from "./support.ts";

let stage: Stage;

beforeEach(async () => {
  stage = await startStage();
});

afterEach(async () => {
  await stage.close();
});

const inAccount = { account_id: ACCOUNT };

describe("the token", () => {
  test("a malformed one is refused with 6003 and an unknown one with 10000", async () => {
    const short = clientOf(stage.cloudflare.url, "too-short");
    await expect(short.user.tokens.verify()).rejects.toMatchObject({
      status: 400,
      errors: [{ code: 6003, message: "Invalid request headers" }],
    });
    const other = clientOf(stage.cloudflare.url, "x".repeat(40));
    await expect(other.user.tokens.verify()).rejects.toMatchObject({ status: 401 });
    await expect(other.r2.buckets.list(inAccount)).rejects.toMatchObject({
      status: 403,
      errors: [{ code: 10000 }],
    });
  });

  test("the right one is active, for its own account only", async () => {
    expect(await stage.client.user.tokens.verify()).toMatchObject({ status: "active" });
    await expect(stage.client.r2.buckets.list({ account_id: "f".repeat(32) })).rejects.toMatchObject({
      status: 403,
    });
  });
});

describe("Workers", () => {
  test("are created once by name, read by id or name, edited, listed and deleted", async () => {
    const { workers } = stage.client.workers.beta;
    const created = await workers.create({ ...inAccount, name: SCRIPT, tags: ["a"] });
    expect(created).toMatchObject({ name: SCRIPT, tags: ["a"], logpush: false, tail_consumers: [] });
    await expect(workers.create({ ...inAccount, name: SCRIPT })).rejects.toMatchObject({ status: 409 });
    expect(await workers.get(SCRIPT, inAccount)).toEqual(created);
    const edited = await workers.edit(created.id, { ...inAccount, subdomain: { enabled: true } } as never);
    expect(edited).toMatchObject({
      tags: ["a"],
      subdomain: { enabled: true, url: "https://steward.example.workers.dev" },
    });
    const listed: string[] = [];
    for await (const worker of workers.list(inAccount)) listed.push(worker.id);
    expect(listed).toEqual([created.id]);
    await workers.delete(created.id, inAccount);
    await expect(workers.get(created.id, inAccount)).rejects.toMatchObject({ status: 404 });
  });
});

describe("versions", () => {
  test("come back with sorted bindings, the namespace's id and no secret", async () => {
    const { workerId, versionId, namespaceId } = await deployAll(stage.client);
    const version = await stage.client.workers.beta.workers.versions.get(versionId, {
      ...inAccount,
      worker_id: workerId,
    });
    expect(version.modules).toBeUndefined();
    expect(version.bindings).toEqual([
      { type: "secret_text", name: "API_KEY" },
      { type: "plain_text", name: "LOG_LEVEL", text: "debug" },
      { type: "durable_object_namespace", name: "SANDBOX", class_name: "Sandbox", namespace_id: namespaceId },
      { type: "r2_bucket", name: "STATE", bucket_name: "test-steward" },
    ]);
    const script = await stage.client.workers.scripts.versions.get(versionId, {
      ...inAccount,
      script_name: SCRIPT,
    });
    expect(script.resources.bindings).toEqual(version.bindings);
    const withCode = await stage.client.workers.beta.workers.versions.get(versionId, {
      ...inAccount,
      worker_id: workerId,
      include: "modules",
    });
    expect(withCode.modules).toHaveLength(1);
    expect(JSON.stringify([version, script, withCode])).not.toContain("sk-very-secret");
    expect(stage.logged.join("\n")).not.toContain("sk-very-secret");
  });

  test("the account's file, which has to hold secrets, is for its owner only", async () => {
    await deployAll(stage.client);
    const file = join(stage.dir, "account", "account.json");
    expect(await readFile(file, "utf8")).toContain("sk-very-secret");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("a migration whose old tag is not the deployed one is refused with 412 and 10079", async () => {
    const { workerId } = await deployAll(stage.client);
    await expect(migrate(stage.client, workerId)).rejects.toMatchObject({
      status: 412,
      errors: [
        {
          code: 10079,
          message: "Actor migration tag precondition failed, got tag '' when expected tag is 'v1'.",
        },
      ],
    });
  });

  test("the next tag over the deployed one is taken and adds its class", async () => {
    const { workerId } = await deployAll(stage.client);
    const version = await stage.client.workers.beta.workers.versions.create(workerId, {
      ...inAccount,
      deploy: true,
      compatibility_date: "2026-07-01",
      main_module: "index.js",
      modules: [moduleOf(MIGRATE_BUNDLE.replaceAll("}\n", "}\nexport class Next extends Sandbox {}\n"))],
      migrations: { old_tag: "v1", new_tag: "v2", new_sqlite_classes: ["Next"] },
    });
    expect(version.migration_tag).toBe("v2");
    const { result } = await stage.client.durableObjects.namespaces.list(inAccount);
    expect(result.map((namespace) => namespace.class)).toEqual(["Sandbox", "Next"]);
  });

  test("a class cannot be bound before its migration is deployed, nor in the same version", async () => {
    const worker = await stage.client.workers.beta.workers.create({ ...inAccount, name: SCRIPT });
    const early = stage.client.workers.beta.workers.versions.create(worker.id, {
      ...inAccount,
      compatibility_date: "2026-07-01",
      main_module: "index.js",
      modules: [moduleOf(MIGRATE_BUNDLE)],
      migrations: { new_tag: "v1", new_sqlite_classes: ["Sandbox"] },
      bindings: [{ type: "durable_object_namespace", name: "SANDBOX", class_name: "Sandbox" }],
    });
    await expect(early).rejects.toMatchObject({ status: 400, errors: [{ code: 10061 }] });
    expect((await stage.client.durableObjects.namespaces.list(inAccount)).result).toEqual([]);
  });

  test("a bucket that does not exist and a binding that is not modelled are refused", async () => {
    const worker = await stage.client.workers.beta.workers.create({ ...inAccount, name: SCRIPT });
    await migrate(stage.client, worker.id);
    await expect(release(stage.client, worker.id)).rejects.toMatchObject({ errors: [{ code: 10085 }] });
    const browser = stage.client.workers.beta.workers.versions.create(worker.id, {
      ...inAccount,
      compatibility_date: "2026-07-01",
      main_module: "index.js",
      modules: [moduleOf(MIGRATE_BUNDLE)],
      bindings: [{ type: "browser", name: "BROWSER" }],
    });
    await expect(browser).rejects.toThrow(/does not model the binding type browser/);
  });

  test("all faults of a body are told at once", async () => {
    const worker = await stage.client.workers.beta.workers.create({ ...inAccount, name: SCRIPT });
    const wrong = stage.client.workers.beta.workers.versions.create(worker.id, {
      ...inAccount,
      main_module: "",
      compatibility_date: "yesterday",
    });
    await expect(wrong).rejects.toThrow(/main_module.*modules.*compatibility_date/s);
  });

  test("an earlier version is deployed again without its migration", async () => {
    const { workerId } = await deployAll(stage.client);
    const own = await stage.client.workers.beta.workers.versions.list(workerId, inAccount);
    const first = own.result.at(-1);
    await stage.client.workers.scripts.deployments.create(SCRIPT, {
      ...inAccount,
      strategy: "percentage",
      versions: [{ version_id: first?.id ?? "", percentage: 100 }],
    });
    expect(await (await ask(stage.runner, "/")).text()).toBe("migrated");
  });
});

describe("scripts", () => {
  test("keep schedules, the subdomain and deployments", async () => {
    const { versionId } = await deployAll(stage.client);
    const { scripts } = stage.client.workers;
    await scripts.schedules.update(SCRIPT, { ...inAccount, body: [{ cron: "*/5 * * * *" }] });
    expect(await scripts.schedules.get(SCRIPT, inAccount)).toMatchObject({
      schedules: [{ cron: "*/5 * * * *" }],
    });
    await scripts.subdomain.create(SCRIPT, { ...inAccount, enabled: false });
    expect(await scripts.subdomain.get(SCRIPT, inAccount)).toEqual({
      enabled: false,
      previews_enabled: false,
    });
    const half = scripts.deployments.create(SCRIPT, {
      ...inAccount,
      strategy: "percentage",
      versions: [{ version_id: versionId, percentage: 50 }],
    });
    await expect(half).rejects.toThrow(/add up to 100/);
  });
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
    await stage.runner.emptyBuckets();
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

describe("container applications", () => {
  test("are found by name, edited, and refused a new image without a rollout", async () => {
    const { namespaceId } = await deployAll(stage.client);
    const { applications } = stage.client.containers;
    const created = await tieApplication(stage.client, namespaceId);
    expect(created).toMatchObject({ durable_objects: { namespace_id: namespaceId }, version: 1 });
    const found = await applications.list({ ...inAccount, name: "steward-sandbox" });
    expect(found.result.map(({ id }) => id)).toEqual([created.id]);
    expect((await applications.list({ ...inAccount, name: "other" })).result).toEqual([]);
    expect(await applications.edit(created.id, { ...inAccount, max_instances: 3 })).toMatchObject({
      max_instances: 3,
    });
    const image = applications.edit(created.id, { ...inAccount, configuration: { image: "x" } } as never);
    await expect(image).rejects.toMatchObject({ status: 400 });
  });

  test("one namespace has one application, and one name too", async () => {
    const { namespaceId } = await deployAll(stage.client);
    await tieApplication(stage.client, namespaceId);
    await expect(tieApplication(stage.client, namespaceId, "second")).rejects.toThrow(
      /DURABLE_OBJECT_ALREADY_HAS_APPLICATION/,
    );
    await expect(tieApplication(stage.client, namespaceId)).rejects.toThrow(
      /application with name steward-sandbox already exists/,
    );
    await expect(tieApplication(stage.client, "f".repeat(32), "third")).rejects.toThrow(
      /DURABLE_OBJECT_NOT_FOUND/,
    );
  });

  test("a class that was created without containers can have none", async () => {
    const worker = await stage.client.workers.beta.workers.create({ ...inAccount, name: SCRIPT });
    await migrate(stage.client, worker.id, false);
    await expect(tieApplication(stage.client, await namespaceIdOf(stage.client))).rejects.toThrow(
      /DURABLE_OBJECT_NOT_CONTAINER_ENABLED/,
    );
  });

  test("an application whose Worker was deleted stays as an orphan that blocks its name", async () => {
    const first = await deployAll(stage.client);
    const orphan = await tieApplication(stage.client, first.namespaceId);
    await stage.client.workers.beta.workers.delete(first.workerId, inAccount);
    await stage.client.r2.buckets.delete("test-steward", inAccount);
    const second = await deployAll(stage.client);
    expect(second.namespaceId).not.toBe(first.namespaceId);
    await expect(tieApplication(stage.client, second.namespaceId)).rejects.toThrow(
      /steward-sandbox already exists and is tied to a different durable object namespace/,
    );
    expect(await stage.client.containers.applications.get(orphan.id, inAccount)).toMatchObject({
      durable_objects: { namespace_id: first.namespaceId },
    });
  });

  test("are deleted asynchronously: readable for a while, then 404", async () => {
    const { namespaceId } = await deployAll(stage.client);
    const { applications } = stage.client.containers;
    const { id } = await tieApplication(stage.client, namespaceId);
    await applications.delete(id, inAccount);
    expect(await applications.get(id, inAccount)).toMatchObject({ id });
    await until(async () => {
      const status = await applications.get(id, inAccount).then(
        () => 200,
        (error: unknown) => (error instanceof APIError ? error.status : 0),
      );
      return status === 404;
    });
    await tieApplication(stage.client, namespaceId);
  });
});

test("an account without a registry issues no credentials for one, and says so", async () => {
  const { credentials } = stage.client.containers.registries;
  const request = { ...inAccount, permissions: ["push" as const], expiration_minutes: 15 };
  await expect(credentials.generate("registry.cloudflare.com", request)).rejects.toMatchObject({
    status: 501,
    message: expect.stringContaining("does not model the container registry"),
  });
});

test("the account outlives a restart, down to every id", async () => {
  const { workerId, versionId, namespaceId } = await deployAll(stage.client);
  const { id } = await tieApplication(stage.client, namespaceId);
  await stage.restart();
  const { client } = stage;
  expect(await client.workers.beta.workers.get(workerId, inAccount)).toMatchObject({ name: SCRIPT });
  const version = await client.workers.beta.workers.versions.get(versionId, {
    ...inAccount,
    worker_id: SCRIPT,
  });
  expect(version.number).toBe(2);
  expect(await namespaceIdOf(client)).toBe(namespaceId);
  expect(await client.containers.applications.get(id, inAccount)).toMatchObject({ id });
});

test("a call that the emulation does not have says so and is logged", async () => {
  await expect(stage.client.kv.namespaces.list(inAccount)).rejects.toMatchObject({ status: 404 });
  expect(stage.logged.join("\n")).toContain("does not have this call");
});
