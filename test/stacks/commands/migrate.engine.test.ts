import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixFor, stackShell, succeed, type, typeFix, waysOf, type Shell } from "../../journeys/typed.ts";
import { ACCOUNT, clientOf } from "../../rehearsal/support.ts";
import { startServerlessStage, type ServerlessStage } from "../../support/serverless-stack.ts";
import { type Ended, stackCommand } from "../../support/stack-command.ts";
import { ENGINE_MS, UPDATE_MS, type TestStack } from "../../support/stack.ts";

const NOTE = "# Ours: ask the operators before the name changes.";

describe("npm run migrate, orphans and drift, on one stack", () => {
  let world: ServerlessStage;
  let subject: TestStack;
  let undeployed: Ended;
  let shell: Shell;
  /** What the preview said of a name that was changed by hand. */
  let untagged: string;
  /** What was said where nobody's orphan was to be removed. */
  let inUse: string;

  beforeAll(async () => {
    world = await startServerlessStage();
    subject = await world.stack({ config: { "steward:workerName": { value: "steward-one" } } });
    undeployed = await stackCommand(subject, "drift.ts", "test", "--json");
    shell = await stackShell(subject, "migrate");
    await typeFix(shell, fixFor("stack_not_deployed", undeployed.stderr));
    await settle((text) => `${NOTE}\n${text}`);
  }, ENGINE_MS);

  afterAll(() => world?.close(), UPDATE_MS);

  test(
    "a preview stops a name that was changed by hand, and prints the command that adds its tag",
    async () => {
      await subject.stack.setConfig("steward:workerName", { value: "steward-two" });
      const failure = await subject.stack.preview().then(() => "", String);

      expect(failure).toContain(
        "The Worker's name changes from steward-one to steward-two without a new tag, v2 (migration_tag_missing)",
      );
      expect(failure).toContain(
        "fix: Run `npm run migrate -- test --worker-name steward-two`, which adds the tag;",
      );
      expect(failure).toContain(
        "or keep the name: `pulumi config set -s test steward:workerName steward-one`",
      );
      expect(failure).not.toMatch(/map\[|\n\s+at /);
      untagged = failure;
      expect(workerNames()).toEqual(["steward-one"]);
    },
    UPDATE_MS,
  );

  test(
    "an update without a preview stops there too, before a Worker is made",
    async () => {
      expect(await subject.stack.up().then(() => "", String)).toContain("(migration_tag_missing)");
      expect(workerNames()).toEqual(["steward-one"]);
    },
    UPDATE_MS,
  );

  test(
    "a change that is not accepted is shown, and changes nothing",
    async () => {
      const before = await settings();
      const { code, said, report } = await migrate("--worker-name", "steward-two", "--json");

      expect(code).toBe(2);
      expect(said).toContain("Nothing was changed. To accept: npm run migrate -- test");
      expect(said).toContain("--accept-migration v2");
      expect(report).toMatchObject({ ok: true, accepted: false, tag: "v2" });
      expect(report["plan"]).toEqual([
        "Migrations: v2 to be applied",
        expect.stringContaining("Worker steward-one → steward-two: created with"),
        expect.stringContaining("Kept: the bucket"),
        expect.stringContaining("Lost: the old Worker's Durable Object"),
        "The address changes from https://steward-one.example.workers.dev to https://steward-two.example.workers.dev",
        expect.stringContaining("Slack's Request URL"),
      ]);
      expect(report["steps"]).toContainEqual({
        op: "replace",
        type: "cloudflare:index/worker:Worker",
        name: "steward-worker",
      });
      expect(await settings()).toBe(before);
      expect(workerNames()).toEqual(["steward-one"]);
    },
    UPDATE_MS,
  );

  test.each([
    {
      what: "another tag",
      words: ["--worker-name", "steward-two", "--accept-migration", "v3"],
      cause: "The accepted migration is v3, but the change adds v2 (migration_not_accepted)",
      code: "migration_not_accepted",
    },
    {
      what: "the same name",
      words: ["--worker-name", "steward-one"],
      cause:
        "the Worker is already named steward-one, but the settings contain another name (worker_name_same)\n  fix: pulumi config set -s test steward:workerName steward-one",
      code: "worker_name_same",
    },
    {
      what: "a name that is none",
      words: ["--worker-name", "Steward Two"],
      cause: "steward:workerName: must be 1 to 54 lower-case letters, digits and inner dashes",
      code: "stack_config_invalid",
    },
    {
      what: "no name",
      words: [],
      cause: "required option '--worker-name <name>' not specified",
      code: "usage",
      ends: 2,
    },
  ])("$what is refused before anything is previewed", async ({ words, cause, code, ends = 1 }) => {
    const before = await settings();
    const ended = await migrate(...words, "--json");

    expect(ended.code).toBe(ends);
    expect(ended.stderr).toContain(cause);
    expect(ended.report).toMatchObject({ ok: false });
    expect(ended.report["code"]).toBe(code);
    expect(ended.said).not.toContain("Previewing");
    expect(await settings()).toBe(before);
  });

  test(
    "an accepted change is written beside the comments, and an update moves the Worker",
    async () => {
      const accept = (line: string) => `${line} --accept-migration v2`;
      const { said } = await typeFix(shell, fixFor("migration_tag_missing", untagged), accept);
      expect(said).toContain("To deploy: pulumi up -s test");
      expect(await settings()).toContain(NOTE);
      expect(workerNames()).toEqual(["steward-one"]);

      await subject.stack.up();
      const { state } = world.stage.cloudflare.account;
      expect(workerNames()).toEqual(["steward-two"]);
      expect(state.workers[0]?.migrationTag).toBe("v2");
      expect(state.applications.map(({ name }) => name)).toContain("steward-two-sandbox");
      expect(state.buckets).toHaveLength(1);
      expect((await fetch(`${world.front.url}/healthz`)).status).toBe(200);
      expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "a preview stops a list that has lost what is applied, and says what to write",
    async () => {
      const lists = await subject.stack.getConfig("steward:migrations");
      await subject.stack.setConfig("steward:migrations", {
        value: '[{"tag":"v1","newSqliteClasses":["Sandbox"]}]',
      });
      const failure = await subject.stack.preview().then(() => "", String);
      await subject.stack.setConfig("steward:migrations", lists);

      expect(failure).toContain(
        "has the migration tag v2 and the classes Sandbox for the Worker steward-two",
      );
      expect(failure).toContain(
        `steward:migrations '[{"tag":"v1","newSqliteClasses":["Sandbox"]},{"tag":"v2","newSqliteClasses":[]}]'`,
      );
    },
    UPDATE_MS,
  );

  test(
    "an application that is in use is listed by nobody and removed by nobody",
    async () => {
      const id = await applicationId();

      expect(await orphans()).toMatchObject({ code: 0, report: { ok: true, orphans: [] } });
      const refused = await orphans("--remove", id);
      expect(refused).toMatchObject({ code: 1, report: { ok: false, code: "application_in_use" } });
      expect(refused.stderr).toContain("No orphaned container application has this id (application_in_use)");
      inUse = refused.stderr;
      expect(await applicationId()).toBe(id);
    },
    UPDATE_MS,
  );

  test(
    "an orphan is listed with what removes it, and removed by its id",
    async () => {
      const { workers, containers } = clientOf(world.stage.cloudflare.url);
      const [worker] = world.stage.cloudflare.account.state.workers;
      await workers.beta.workers.delete(worker?.id ?? "", { account_id: ACCOUNT });
      const id = await applicationId();

      expect(await orphans()).toMatchObject({
        code: 2,
        report: { orphans: [{ id, name: "steward-two-sandbox", namespaceId: expect.any(String) }] },
      });
      const [[list = ""] = []] = waysOf(fixFor("application_in_use", inUse));
      const listed = await type(shell, list);
      const [, remove = ""] = /To remove it: (npm run orphans .*)/.exec(listed.said) ?? [];
      expect(listed.code, listed.said).toBe(2);
      expect((await succeed(shell, remove)).said).toContain(id);
      const { result } = await containers.applications.list({ account_id: ACCOUNT });
      expect(result).toEqual([]);
    },
    UPDATE_MS,
  );

  test("drift of a stack that was never deployed is no answer", () => {
    expect(undeployed.code).toBe(1);
    expect(undeployed.report).toMatchObject({ ok: false, code: "stack_not_deployed" });
    expect(undeployed.said).not.toContain("No drift");
  });

  test(
    "drift names what is gone, and leaves the state as it is",
    async () => {
      const before = await subject.stack.exportStack();
      const { code, said, report } = await stackCommand(subject, "drift.ts", "test", "--json");
      expect(said).toMatch(/^gone: steward-sandbox \(steward:serverless:ContainerApplication\)$/m);
      expect(said).toContain("To undo the drift: pulumi up -s test --refresh");
      expect(report["drift"]).toContainEqual(
        expect.objectContaining({ name: "steward-worker", what: "gone" }),
      );
      expect(code).toBe(2);
      expect(await subject.stack.exportStack()).toEqual(before);
    },
    UPDATE_MS,
  );

  test("a stack that does not exist is named", async () => {
    const { code, stderr } = await stackCommand(subject, "orphans.ts", "nowhere");

    expect(code).toBe(1);
    expect(stderr).toContain("nowhere");
  });

  const migrate = (...words: string[]) => stackCommand(subject, "migrate.ts", "test", ...words);
  const orphans = (...words: string[]) => stackCommand(subject, "orphans.ts", "test", "--json", ...words);
  const settingsFile = () => join(subject.folder, "Pulumi.test.yaml");
  const settings = () => readFile(settingsFile(), "utf8");
  const settle = async (change: (text: string) => string) =>
    writeFile(settingsFile(), change(await settings()));
  const workerNames = () => world.stage.cloudflare.account.state.workers.map(({ name }) => name);

  async function applicationId(): Promise<string> {
    const { containers } = clientOf(world.stage.cloudflare.url);
    const { result } = await containers.applications.list({ account_id: ACCOUNT });
    return result?.[0]?.id ?? "";
  }
});
