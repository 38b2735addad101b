import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ACCOUNT, clientOf, TOKEN } from "../rehearsal/support.ts";
import { fixFor, stackShell, succeed, type, typeFix } from "../journeys/typed.ts";
import {
  MODEL_KEY,
  SIGNING_SECRET,
  startServerlessStage,
  type ServerlessStage,
} from "../support/serverless-stack.ts";
import { ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../support/stack.ts";

const ORPHANED = "already exists and is tied to a different Durable Object namespace";

describe("the serverless stack under the real engine, against the emulated API", () => {
  let world: ServerlessStage;
  let stage: ServerlessStage["stage"];
  let front: ServerlessStage["front"];
  let subject: TestStack;

  beforeAll(async () => {
    world = await startServerlessStage();
    ({ stage, front } = world);
    subject = await world.stack();
  }, ENGINE_MS);

  afterAll(() => world?.close(), UPDATE_MS);

  test(
    "comes up from nothing, and ends only after the service has answered",
    async () => {
      const update = await subject.stack.up();

      expect(update.summary.result).toBe("succeeded");
      expect(update.outputs["url"]?.value).toBe(front.url);
      expect(update.outputs["readiness"]?.value).toContain("ok   POST /slack/events");
      expect(await (await fetch(`${front.url}/healthz`)).text()).not.toBe("");
      expect(countTypes(await subject.stack.exportStack())).toEqual({
        "cloudflare:index/worker:Worker": 1,
        "cloudflare:index/workerVersion:WorkerVersion": 1,
        "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication": 2,
        "cloudflare:index/zeroTrustAccessPolicy:ZeroTrustAccessPolicy": 2,
        "command:local:Command": 1,
        "steward:secrets:AttestationKey": 1,
        "steward:secrets:ConfigCheck": 1,
        "steward:secrets:SecretCheck": 2,
        "steward:serverless:ContainerApplication": 1,
        "steward:serverless:CostEstimate": 1,
        "steward:serverless:Deployment": 1,
        "steward:serverless:MigrationPlan": 1,
        "steward:serverless:Migrations": 1,
        "steward:serverless:StateBucket": 1,
      });
    },
    UPDATE_MS,
  );

  test(
    "hands the audience on, and keeps every secret out of the plain state",
    async () => {
      const aud = (await subject.stack.outputs())["audience"]?.value;
      const token = await world.identity.issue({ aud, email: "op@example.com" });
      const state = await stateText(subject);

      const admin = await fetch(`${front.url}/_admin/`, { headers: { cookie: `CF_Authorization=${token}` } });
      expect(admin.status).toBe(200);
      expect([MODEL_KEY, SIGNING_SECRET, TOKEN].filter((secret) => state.includes(secret))).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "changes nothing when nothing has changed, also after a refresh",
    async () => {
      expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);

      const refresh = await subject.stack.refresh();
      expect(Object.keys(refresh.summary.resourceChanges ?? {})).toEqual(["same"]);
      expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "replaces the current version alone when a variable changes, and deploys it",
    async () => {
      await subject.stack.setConfig("steward:logLevel", { value: "debug" });
      const update = await subject.stack.up();

      // The version and the probe that asks the new one; the deployment follows in place.
      expect(update.summary.resourceChanges).toMatchObject({ replace: 2, update: 1 });
      expect(update.summary.resourceChanges).not.toHaveProperty("create");
    },
    UPDATE_MS,
  );

  test(
    "rolls another image and instance type out to the same container application",
    async () => {
      const before = (await subject.stack.outputs())["containerApplicationId"]?.value;
      await subject.stack.setConfig("steward:image", { value: "steward:another" });
      await subject.stack.setConfig("steward:instanceType", { value: "basic" });
      const preview = await subject.stack.preview();
      const update = await subject.stack.up();

      const [application] = stage.cloudflare.account.state.applications;
      // The application, and the estimate of what it costs.
      expect(update.summary.resourceChanges).toMatchObject({ update: 2 });
      expect(preview.stdout).toContain(
        "Estimated cost: about $5.33 a month (basic, sleepAfter 10m, awake 2 h a day as expected), " +
          "+$0.33 a month compared with the deployed stack (lite, sleepAfter 10m, awake 2 h a day as expected)",
      );
      expect(application).toMatchObject({
        id: before,
        name: "steward-sandbox",
        configuration: { image: "steward:another", instance_type: "basic" },
      });
    },
    UPDATE_MS,
  );

  test(
    "applies a further migration on top of the first, once",
    async () => {
      const migrations = migrationList([["Sandbox"], ["Sandbox", "Archive"]]);
      await subject.stack.setConfig("steward:migrations", { value: migrations });
      const update = await subject.stack.up();

      // The migrations, the deployment of the current version behind them, and the probe.
      expect(update.summary.resourceChanges).toMatchObject({ update: 2, replace: 1 });
      expect(stage.cloudflare.account.state.namespaces.map((namespace) => namespace.class)).toEqual([
        "Sandbox",
        "Archive",
      ]);
      expect((await fetch(`${front.url}/healthz`)).status).toBe(200);
    },
    UPDATE_MS,
  );

  test(
    "comes back after someone has deleted the Worker by hand, by the advice that the preview gives",
    async () => {
      await deleteWorkers();
      await subject.stack.refresh();
      expect(await subject.stack.preview().then(() => "", String)).toContain(ORPHANED);

      await rename("steward-two", [["Sandbox"], ["Sandbox", "Archive"], ["Sandbox"]]);
      await subject.stack.up();
      const { namespaces } = stage.cloudflare.account.state;
      const sandbox = namespaces.find((namespace) => namespace.class === "Sandbox");
      expect(await liveApplications()).toMatchObject([
        { name: "steward-two-sandbox", durable_objects: { namespace_id: sandbox?.id } },
      ]);
    },
    UPDATE_MS,
  );

  test(
    "takes everything down again",
    async () => {
      await subject.stack.destroy();

      const { state } = stage.cloudflare.account;
      const left = [state.workers, state.buckets, state.policies, state.accessApplications];
      expect(left.flat()).toEqual([]);
      expect(await liveApplications()).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "finds an orphaned container application in the preview, and its advice helps",
    async () => {
      await subject.stack.up();
      await deleteWorkers();
      const other = await world.stack({
        name: "other",
        config: { "steward:workerName": { value: "steward-two" } },
      });

      const failure = await other.stack.preview().then(() => "", String);
      expect(failure).toContain(`An application with the name steward-two-sandbox ${ORPHANED}`);
      expect(failure).toContain("(application_orphaned)");
      const [, remove = ""] =
        /fix: (npm run orphans -- other --remove \S+), then deploy again/.exec(failure) ?? [];
      const [, move = ""] = /or: (npm run migrate -- other --worker-name \S+), which/.exec(failure) ?? [];
      const shell = await stackShell(other, "orphaned");
      const asked = await type(shell, move);
      expect(asked.code, asked.said).toBe(2);
      const [, accept = ""] = /To accept: (npm run migrate .*)/.exec(asked.said) ?? [];
      await succeed(shell, accept);
      await other.stack.up();
      const names = async () => (await liveApplications()).map((application) => application.name).sort();
      expect(await names()).toEqual(["steward-two-2-sandbox", "steward-two-sandbox"]);

      const third = await world.stack({
        name: "third",
        config: { "steward:workerName": { value: "steward-two" } },
      });
      await succeed(shell, remove);
      await third.stack.preview();
      expect(await names()).toEqual(["steward-two-2-sandbox"]);
    },
    UPDATE_MS,
  );

  test(
    "finds another Worker's container application in the preview, and the printed name is free",
    async () => {
      const [namespace] = stage.cloudflare.account.state.namespaces;
      const { containers } = clientOf(stage.cloudflare.url);
      for (const { id = "" } of await liveApplications()) {
        await containers.applications.delete(id, { account_id: ACCOUNT });
      }
      await expect.poll(liveApplications, { timeout: 30_000 }).toEqual([]);
      await containers.applications.create({
        account_id: ACCOUNT,
        name: "theirs-sandbox",
        scheduling_policy: "default",
        instances: 0,
        max_instances: 1,
        configuration: { image: "theirs:1", instance_type: "lite" },
        durable_objects: { namespace_id: namespace?.id ?? "" },
      });
      const own = await world.stack({
        name: "own",
        config: { "steward:workerName": { value: "theirs" } },
      });

      const failure = await own.stack.preview().then(() => "", String);
      expect(failure).toContain(
        `of the class Sandbox of the Worker ${namespace?.script} (application_foreign)`,
      );
      await typeFix(await stackShell(own, "foreign"), fixFor("application_foreign", failure));
      await own.stack.preview();
    },
    UPDATE_MS,
  );

  test(
    "keeps its bucket to itself: a second stack of the same name in the account stops in the preview",
    async () => {
      const twin = await world.stack({ config: { "steward:workerName": { value: "steward-twin" } } });

      expect(await twin.stack.preview().then(() => "", String)).toContain("bucket_foreign");
      const { buckets, applications } = stage.cloudflare.account.state;
      expect(buckets.filter(({ name }) => name === "test-steward")).toHaveLength(1);
      expect(applications.map(({ name }) => name)).not.toContain("steward-twin-sandbox");
    },
    UPDATE_MS,
  );

  async function rename(workerName: string, classes: string[][], { stack } = subject): Promise<void> {
    await stack.setConfig("steward:workerName", { value: workerName });
    await stack.setConfig("steward:migrations", { value: migrationList(classes) });
  }

  async function deleteWorkers(): Promise<void> {
    const { workers } = clientOf(stage.cloudflare.url);
    for (const { id } of stage.cloudflare.account.state.workers) {
      await workers.beta.workers.delete(id, { account_id: ACCOUNT });
    }
  }

  async function liveApplications() {
    const { containers } = clientOf(stage.cloudflare.url);
    const { result } = await containers.applications.list({ account_id: ACCOUNT });
    return result ?? [];
  }
});

/** The list with these classes under v1, v2 and so on, as a text. */
function migrationList(classes: string[][]): string {
  return JSON.stringify(classes.map((names, index) => ({ tag: `v${index + 1}`, newSqliteClasses: names })));
}

interface Exported {
  deployment: { resources?: { type: string; custom?: boolean }[] };
}

/** The resources that stand for something, by type. */
function countTypes(state: Exported): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type, custom } of state.deployment.resources ?? []) {
    if (type.startsWith("pulumi:") || !custom) continue;
    counts[type] = (counts[type] ?? 0) + 1;
  }
  return counts;
}
