import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  deployAll,
  inAccount,
  migrate,
  namespaceIdOf,
  SCRIPT,
  tieApplication,
  startStage,
  type Stage,
} from "./support.ts";

let stage: Stage;
/** The account's time: it stands still until a test moves it. */
let now: number;

beforeEach(async () => {
  now = Date.now();
  stage = await startStage(undefined, { clock: () => now });
});

afterEach(async () => {
  await stage.close();
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
    now += 60_000;
    await expect(applications.get(id, inAccount)).rejects.toMatchObject({ status: 404 });
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
