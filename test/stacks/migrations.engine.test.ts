import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runProcess } from "../../infra/shell/process.ts";
import type { RequestFault } from "../../rehearsal/cloudflare/faults.ts";
import { ACCOUNT, clientOf, TOKEN } from "../rehearsal/support.ts";
import { fixFor, stackShell, typeFix } from "../journeys/typed.ts";
import { withoutGateway } from "../support/former-gateway.ts";
import { inFormerShape } from "../support/former-migrations.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { stackCommand } from "../support/stack-command.ts";
import { ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";

const SANDBOX = ["Sandbox"];

describe("migrations follow the account, and every difference has a way out", () => {
  let world: ServerlessStage;
  let subject: TestStack;

  beforeAll(async () => {
    world = await startServerlessStage();
    subject = await world.stack();
    await subject.stack.up();
  }, ENGINE_MS);

  beforeEach(() => void world.stage.cloudflare.faults.requests.splice(0));

  afterAll(() => world?.close(), UPDATE_MS);

  test(
    "a stack of an older version: nothing is sent, the Worker stays, and what was booked and never applied is free",
    async () => {
      const exported = await subject.stack.exportStack();
      const former = { ...exported, deployment: withoutGateway(exported.deployment) as object };
      await subject.stack.importStack(inFormerShape(former, account(), ["v1", "v2"]));
      const before = sent();
      const { summary } = await subject.stack.up();

      // The component of the migrations had the type and the name that the resource in its place has.
      expect(summary.resourceChanges).toMatchObject({ create: 1, replace: 1, delete: 2 });
      expect(summary.resourceChanges).not.toHaveProperty("update");
      expect(sent()).toEqual(before);
      expect(await changes()).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "an entry that Cloudflare did not take can be removed or corrected, and the service answers meanwhile",
    async () => {
      meet({ method: "POST", path: /\/versions$/, times: 9, outcome: 503 });
      await list(SANDBOX, ["Archve"]);
      const failure = await failed(subject.stack.up());
      meet();

      expect(failure).toContain("The migrations v2 were not applied. Cloudflare answered 503");
      expect(failure).toContain("(migration_refused)");
      expect(failure).not.toContain("map[");
      expect(await healthz()).toBe(200);
      await list(SANDBOX);
      expect(await changes()).toEqual(["same"]);

      await list(SANDBOX, ["Archive"]);
      await subject.stack.up();
      expect(applied()).toEqual({ tag: "v2", classes: ["Sandbox", "Archive"] });
      expect(await healthz()).toBe(200);
    },
    UPDATE_MS,
  );

  test(
    "a deployment whose answer is lost has applied its migration once, and the update goes on",
    async () => {
      const fault: RequestFault = { method: "POST", path: /\/deployments$/, times: 1, outcome: "lost after" };
      meet(fault);
      await list(SANDBOX, ["Archive"], SANDBOX, ["Index"]);
      await subject.stack.up();

      expect(fault.times).toBe(0);
      expect(applied()).toEqual({ tag: "v4", classes: ["Sandbox", "Archive", "Index"] });
      expect(migratingVersions()).toBe(3);
      expect(await healthz()).toBe(200);
    },
    UPDATE_MS,
  );

  test(
    "what was applied by an update that was killed before it could record it is recorded by the next",
    async () => {
      const before = await subject.stack.exportStack();
      await list(SANDBOX, ["Archive"], SANDBOX, ["Index"], SANDBOX);
      await subject.stack.up();
      const versions = migratingVersions();
      await subject.stack.importStack(before);

      await subject.stack.up();
      expect(migratingVersions()).toBe(versions);
      expect(applied().tag).toBe("v5");
      expect(await changes()).toEqual(["same"]);
      expect(await healthz()).toBe(200);
    },
    UPDATE_MS,
  );

  test(
    "what somebody else has applied is drift, and the preview prints the command that follows it",
    async () => {
      await migrateByHand("steward", { old_tag: "v5", new_tag: "v6", new_sqlite_classes: ["Other"] });
      const drift = await stackCommand(subject, "drift.ts", "test", "--json");
      expect(drift.code).toBe(2);
      expect(drift.report["drift"]).toContainEqual(
        expect.objectContaining({
          name: "steward-worker-migrate",
          properties: expect.arrayContaining([expect.stringMatching(/^migrations/)]),
        }),
      );

      await list(SANDBOX, ["Archive"], SANDBOX, ["Index"], SANDBOX, ["Mine"]);
      const failure = await failed(subject.stack.preview());
      expect(failure).toContain("the migration tag v6 and the classes Sandbox, Archive, Index, Other");
      expect(failure).toMatch(
        /last deployed \S+ by operator@example.com from api. This differs from steward:migrations/,
      );
      expect(failure).toContain("(migration_changed)");
      expect(failure).not.toContain("map[");

      await type(fixOf(failure));
      await subject.stack.up();
      expect(applied()).toMatchObject({ tag: "v6" });
      expect(await changes()).toEqual(["same"]);
      expect(await healthz()).toBe(200);
    },
    UPDATE_MS,
  );

  test(
    "an account that was emptied by hand gets all of it again, by the command that the preview prints",
    async () => {
      const { workers, containers } = clientOf(world.stage.cloudflare.url);
      await workers.beta.workers.delete(account().workers[0]?.id ?? "", { account_id: ACCOUNT });
      await containers.applications.delete(account().applications[0]?.id ?? "", { account_id: ACCOUNT });
      const failure = await failed(subject.stack.preview());

      expect(failure).toContain("The Worker steward is gone (worker_gone)");
      await typeFix(await stackShell(subject, "worker-gone"), fixFor("worker_gone", failure));
      expect(applied()).toEqual({ tag: "v6", classes: ["Sandbox", "Archive", "Index", "Other"] });
      expect(await healthz()).toBe(200);
    },
    UPDATE_MS,
  );

  test(
    "a state that is lost takes its Worker over, by the command that the preview prints",
    async () => {
      const { "steward:migrations": migrations } = await subject.stack.getAllConfig();
      const other = await world.stack({ config: migrations ? { "steward:migrations": migrations } : {} });
      const bucket = await failed(other.stack.preview());
      const [adopt = `no adoption in ${bucket}`] =
        /pulumi config set -s test steward:adoptBucket [\w-]+/.exec(bucket) ?? [];
      await type(adopt, other);
      const failure = await failed(other.stack.preview());
      expect(failure).toContain("The account has a Worker steward already, last deployed");
      expect(failure).toContain(
        "If test-steward is this stack's bucket, the Worker is this stack's own: import it",
      );

      const worker = account().workers[0]?.id;
      await type(fixOf(failure), other);
      expect((await other.stack.preview()).changeSummary).not.toHaveProperty("delete");
      expect(account().workers.map(({ id }) => id)).toEqual([worker]);
    },
    UPDATE_MS,
  );

  test(
    "a stranger's Worker of the name stops the preview, and another name helps",
    async () => {
      await makeByHand("someone-elses");
      await migrateByHand("someone-elses", { new_tag: "v1", new_sqlite_classes: ["Theirs"] });
      await makeByHand("left-behind");
      const other = await world.stack({
        name: "other",
        config: { "steward:workerName": { value: "someone-elses" } },
      });
      const failure = await failed(other.stack.preview());

      expect(failure).toContain("The account has a Worker someone-elses already, last deployed");
      expect(failure).toContain("(worker_name_taken)");
      await type(fixOf(failure).replace("<another name>", "left-behind"), other);
      const second = await failed(other.stack.preview());
      expect(second).toContain("The account has a Worker left-behind already, never deployed");
      expect(second).toContain("delete it (dashboard: Workers & Pages, left-behind, Settings, Delete)");

      await clientOf(world.stage.cloudflare.url).workers.beta.workers.delete("left-behind", {
        account_id: ACCOUNT,
      });
      expect((await other.stack.preview()).changeSummary).toHaveProperty("create");
    },
    UPDATE_MS,
  );

  test(
    "a rename that was interrupted cannot be taken back half-way, and is finished by the printed command",
    async () => {
      const entries = JSON.parse((await subject.stack.getConfig("steward:migrations")).value) as object[];
      const next = { tag: `v${entries.length + 1}`, newSqliteClasses: SANDBOX };
      await subject.stack.setConfig("steward:workerName", { value: "steward-two" });
      await subject.stack.setConfig("steward:migrations", { value: JSON.stringify([...entries, next]) });
      meet({ method: "POST", path: /\/versions$/, times: 9, outcome: 503 });
      expect(await failed(subject.stack.up())).toContain("(migration_refused)");
      meet();
      expect(await healthz()).toBe(200);

      await subject.stack.setConfig("steward:workerName", { value: "steward" });
      const failure = await failed(subject.stack.up());
      expect(failure).toContain("The account has a Worker steward already, last deployed");
      expect(failure).toContain("the update to steward-two was interrupted");
      await type(fixOf(failure));
      await subject.stack.up();
      expect(account().workers.map(({ name }) => name)).not.toContain("steward");
      expect(account().workers.find(({ name }) => name === "steward-two")?.migrationTag).toBe(next.tag);
      expect(await changes()).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  const account = () => world.stage.cloudflare.account.state;
  const changes = async () => Object.keys((await subject.stack.preview()).changeSummary);
  const healthz = async () => (await fetch(`${world.front.url}/healthz`)).status;
  const failed = (work: Promise<unknown>) => work.then(() => "it succeeded", String);
  const migratingVersions = () =>
    account().versions.filter(({ migrations }) => migrations !== undefined).length;
  const sent = () => ({
    workers: account().workers.map(({ id }) => id),
    versions: account().versions.length,
    deployments: account().deployments.length,
  });

  function applied(): { tag: string | undefined; classes: string[] } {
    const classes = account().namespaces.filter(({ script }) => script === "steward");
    return {
      tag: account().workers.find(({ name }) => name === "steward")?.migrationTag,
      classes: classes.map((one) => one.class),
    };
  }

  function meet(...faults: RequestFault[]): void {
    const { requests } = world.stage.cloudflare.faults;
    requests.splice(0, requests.length, ...faults);
  }

  async function list(...entries: string[][]): Promise<void> {
    const value = JSON.stringify(
      entries.map((names, at) => ({ tag: `v${at + 1}`, newSqliteClasses: names })),
    );
    await subject.stack.setConfig("steward:migrations", { value });
  }

  /** What a refusal says to type. */
  function fixOf(failure: string): string {
    return /fix: [^`\n]*`([^`\n]+)`/.exec(failure)?.[1] ?? `no fix in ${failure}`;
  }

  /** Types a command in a stack's project folder. */
  async function type(command: string, { folder, environment } = subject): Promise<void> {
    const { code, stderr, stdout } = await runProcess("sh", ["-c", command], {
      cwd: folder,
      env: { ...process.env, ...environment },
    });
    expect(code, `${command}\n${stdout}${stderr}`).toBe(0);
  }

  /** As wrangler or the dashboard does. */
  async function makeByHand(name: string): Promise<void> {
    await post("workers/workers", { name });
  }

  async function migrateByHand(name: string, migrations: object): Promise<void> {
    const classes = [...new Set([...applied().classes, "Other", "Theirs"])];
    const code = [
      'import { DurableObject } from "cloudflare:workers";',
      ...classes.map((one) => `export class ${one} extends DurableObject {}`),
      'export default { fetch: () => new Response("by hand", { status: 418 }) };',
    ].join("\n");
    const version = await post(`workers/workers/${name}/versions`, {
      compatibility_date: "2026-11-01",
      main_module: "x.js",
      modules: [
        {
          name: "x.js",
          content_type: "application/javascript+module",
          content_base64: Buffer.from(code).toString("base64"),
        },
      ],
      migrations,
    });
    await post(`workers/scripts/${name}/deployments`, {
      strategy: "percentage",
      versions: [{ version_id: version.id, percentage: 100 }],
    });
  }

  async function post(path: string, body: object): Promise<{ id: string }> {
    const response = await fetch(`${world.stage.cloudflare.url}/accounts/${ACCOUNT}/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { result } = (await response.json()) as { result: { id: string } };
    expect(response.status).toBe(200);
    return result;
  }
});
