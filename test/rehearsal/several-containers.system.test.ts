import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { runs } from "../support/measure.ts";
import {
  ask,
  BUNDLE,
  COMMON,
  deployAll,
  inAccount,
  moduleOf,
  release,
  type Stage,
  startStage,
  SUPERVISOR,
  tieApplication,
  until,
} from "./support.ts";

/** The Worker with objects by name, `?of=…`, and with a class that has no container. */
const SEVERAL = `${BUNDLE.replace(
  'getByName("one")',
  'getByName(url.searchParams.get("of") ?? "one")',
).replace(
  'if (url.pathname === "/secret")',
  'if (url.pathname === "/directory") return env.DIRECTORY.getByName("steward").fetch(request);\n    $&',
)}
export class Directory extends DurableObject {
  async fetch() {
    const { sql } = this.ctx.storage;
    sql.exec("CREATE TABLE IF NOT EXISTS visits (at INTEGER)");
    sql.exec("INSERT INTO visits VALUES (?)", Date.now());
    return Response.json({ ...sql.exec("SELECT count(*) AS visits FROM visits").one(), hasContainer: this.ctx.container !== undefined });
  }
}
`;

const FULL =
  "Maximum number of running container instances exceeded. Try again later, or try configuring a higher value for max_instances";

let stage: Stage;

afterEach(() => stage?.close());

/** Deploys the Worker with both classes, and an application that may run so many containers. */
async function deploySeveral(maxInstances: number): Promise<{ applicationId: string; workerId: string }> {
  stage = await startStage((dir) => {
    const file = join(dir, "supervisor.mjs");
    writeFileSync(file, SUPERVISOR);
    return {
      kind: "process",
      supervise: { command: [process.execPath, file], dir: join(dir, "containers") },
    };
  });
  const { workerId, namespaceId } = await deployAll(stage.client);
  await stage.client.workers.beta.workers.versions.create(workerId, {
    ...COMMON,
    deploy: true,
    modules: [moduleOf(SEVERAL)],
    migrations: { old_tag: "v1", new_tag: "v2", new_sqlite_classes: ["Directory"] },
    containers: [{ class_name: "Sandbox" }],
  });
  await release(stage.client, workerId, SEVERAL, { SANDBOX: "Sandbox", DIRECTORY: "Directory" });
  const { id } = await tieApplication(stage.client, namespaceId, "steward-sandbox", maxInstances);
  return { applicationId: id, workerId };
}

async function json(path: string): Promise<Record<string, unknown>> {
  return (await (await ask(stage.runner, path)).json()) as Record<string, unknown>;
}

/** Starts an object's container, and returns what it answers. */
async function started(of: string): Promise<Record<string, unknown>> {
  await json(`/object/start?of=${of}&greeting=${of}`);
  const path = `/object/port/18790/?of=${of}`;
  await until(async () => (await ask(stage.runner, path)).status === 200);
  return json(path);
}

/** Starts an object's container, and returns how it ended. */
async function refused(of: string): Promise<unknown> {
  await json(`/object/start?of=${of}`);
  return (await json(`/object/ended?of=${of}`))["ended"];
}

const edit = (id: string, max: number) =>
  stage.client.containers.applications.edit(id, { ...inAccount, max_instances: max });

test("a second class of a Worker has storage of its own that stays, and no container", async () => {
  const { workerId } = await deploySeveral(1);
  expect(await json("/object/visit")).toEqual({ visits: 1 });
  expect(await json("/directory")).toEqual({ visits: 1, hasContainer: false });
  expect(await json("/directory")).toEqual({ visits: 2, hasContainer: false });
  const next = SEVERAL.replace("version one", "version two");
  await release(stage.client, workerId, next, { SANDBOX: "Sandbox", DIRECTORY: "Directory" });
  expect(await (await ask(stage.runner, "/")).text()).toBe("version two");
  expect(await json("/directory")).toMatchObject({ visits: 3 });
  expect(await json("/object/visit")).toEqual({ visits: 2 });

  const { result } = await stage.client.durableObjects.namespaces.list(inAccount);
  expect(result.map((one) => [one.class, one.use_sqlite])).toEqual([
    ["Sandbox", true],
    ["Directory", true],
  ]);
  await expect(tieApplication(stage.client, result[1]?.id ?? "", "directory")).rejects.toThrow(
    /DURABLE_OBJECT_NOT_CONTAINER_ENABLED: class Directory has no container/,
  );
});

test("two objects of a class have a container each at the same time, and end apart", async () => {
  await deploySeveral(2);
  const [one, two] = await Promise.all([started("one"), started("two")]);
  expect([one["greeting"], two["greeting"]]).toEqual(["one", "two"]);
  expect(one["pid"]).not.toBe(two["pid"]);
  expect(one["home"]).not.toBe(two["home"]);
  expect(await json("/object/port/18789/?of=two")).toMatchObject({ name: "gateway", greeting: "two" });

  await json("/object/signal?of=one");
  expect(await json("/object/ended?of=one")).toEqual({ ended: "ended" });
  expect(await json("/object/running?of=one")).toMatchObject({ running: false });
  expect(runs(Number(one["pid"]))).toBe(false);
  expect(await json("/object/port/18790/?of=two")).toMatchObject({ pid: two["pid"] });
  expect(await started("one")).toMatchObject({ greeting: "one", fresh: true });
});

test("no more containers run than the application's max_instances, which changes in place", async () => {
  const { applicationId } = await deploySeveral(1);
  const one = await started("one");
  expect(await refused("two")).toBe(FULL);
  expect(await json("/object/running?of=two")).toMatchObject({ running: false });

  await edit(applicationId, 2);
  await started("two");
  expect(await json("/object/port/18790/?of=one")).toMatchObject({ pid: one["pid"] });
  expect(await refused("three")).toBe(FULL);

  // A lower number stops none of those that run.
  await edit(applicationId, 1);
  expect(await json("/object/running?of=one")).toMatchObject({ running: true });
  await json("/object/destroy?of=two");
  expect(await refused("two")).toBe(FULL);
  await json("/object/destroy?of=one");
  await started("two");
});

test("of several that start at once, as many as may run do", async () => {
  await deploySeveral(2);
  const names = ["a", "b", "c", "d", "e"];
  await Promise.all(names.map((name) => json(`/object/start?of=${name}`)));
  const running = async () => {
    const all = await Promise.all(names.map((name) => json(`/object/running?of=${name}`)));
    return all.filter((one) => one["running"] === true).length;
  };
  await expect.poll(running, { timeout: 20_000 }).toBe(2);
});
