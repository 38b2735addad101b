import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  ask,
  clientOf,
  deployAll,
  inAccount,
  migrate,
  moduleOf,
  MIGRATE_BUNDLE,
  namespaceIdOf,
  release,
  SCRIPT,
  startStage,
  tieApplication,
  type Stage,
} from "./support.ts";

let stage: Stage;

beforeEach(async () => {
  stage = await startStage();
});

afterEach(async () => {
  await stage.close();
});

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
