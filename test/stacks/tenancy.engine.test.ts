import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixFor, stackShell, typeFix } from "../journeys/typed.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { stackCommand } from "../support/stack-command.ts";
import { ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";

const OBJECTS = "durable_object_namespace";

describe("a stack that goes from one sandbox to one for each chat, and back", () => {
  let world: ServerlessStage;
  let subject: TestStack;

  beforeAll(async () => {
    world = await startServerlessStage();
    subject = await world.stack();
    await subject.stack.up();
  }, ENGINE_MS);

  afterAll(() => world?.close(), UPDATE_MS);

  test(
    "shows the migration in the preview, and a rollout waits until it is accepted",
    async () => {
      await subject.stack.setConfig("steward:tenancy", { value: "chat" });
      const { stdout } = await subject.stack.preview();
      expect(stdout).toContain("Migrations: v2 to be applied");
      expect(stdout).not.toContain("Maximum concurrent containers");

      const waiting = await stackCommand(subject, "rollout.ts", "test", "--json", "--yes");
      expect(waiting.said).toContain(
        "The migration v2 will be applied. To accept it, add --accept-migration v2",
      );
      expect(waiting.code).toBe(2);
      expect(applied()).toEqual({ tag: "v1", classes: ["Sandbox"] });
    },
    UPDATE_MS,
  );

  test(
    "creates the class without a container, binds it, and lets the application run more containers",
    async () => {
      const [{ id = "" } = {}] = account().applications;
      await subject.stack.up();

      expect(applied()).toEqual({ tag: "v2", classes: ["Sandbox", "Directory"] });
      const enabled = account().namespaces.filter(({ containerEnabled }) => containerEnabled);
      expect(enabled.map((one) => one.class)).toEqual(["Sandbox"]);
      expect(bound()).toEqual(["DIRECTORY", "SANDBOX"]);
      expect(variables()).toEqual({ TENANCY: "chat", MAX_SANDBOXES: "10" });
      expect(account().applications).toMatchObject([{ id, settings: { max_instances: 10 } }]);
      expect((await fetch(`${world.front.url}/healthz`)).status).toBe(200);
      expect(await changes()).toEqual(["same"]);
      const { summary } = await subject.stack.refresh();
      expect(Object.keys(summary.resourceChanges ?? {})).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "changes the number of containers in place, and says how many may run if it is lowered",
    async () => {
      const [{ id = "" } = {}] = account().applications;
      await subject.stack.setConfig("steward:maxSandboxes", { value: "3" });
      expect((await subject.stack.preview()).stdout).toContain("Maximum concurrent containers: 10 → 3");
      await subject.stack.up();
      expect(account().applications).toMatchObject([{ id, settings: { max_instances: 3 }, rollouts: [] }]);
      expect(variables()).toMatchObject({ MAX_SANDBOXES: "3" });

      await subject.stack.setConfig("steward:maxSandboxes", { value: "5" });
      const { stdout } = await subject.stack.up();
      expect(stdout).not.toContain("Maximum concurrent containers");
      expect(account().applications).toMatchObject([{ id, settings: { max_instances: 5 } }]);
    },
    UPDATE_MS,
  );

  test(
    "goes back with the applied entry in its list, which the preview prints, and drops the binding",
    async () => {
      await subject.stack.removeConfig("steward:tenancy");
      await subject.stack.removeConfig("steward:maxSandboxes");
      const failure = await subject.stack.preview().then(() => "", String);
      expect(failure).toContain("(migration_changed)");
      await typeFix(await stackShell(subject, "tenancy"), fixFor("migration_changed", failure));
      expect((await subject.stack.preview()).stdout).toContain("Maximum concurrent containers: 5 → 1");
      await subject.stack.up();

      expect(applied()).toEqual({ tag: "v2", classes: ["Sandbox", "Directory"] });
      expect(bound()).toEqual(["SANDBOX"]);
      expect(variables()).toEqual({});
      expect(account().applications).toMatchObject([{ settings: { max_instances: 1 } }]);
      expect(await changes()).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  const account = () => world.stage.cloudflare.account.state;
  const changes = async () => Object.keys((await subject.stack.preview()).changeSummary);
  const bindings = () => account().versions.at(-1)?.bindings ?? [];
  const bound = () => bindings().flatMap(({ type, name }) => (type === OBJECTS ? [name] : []));
  const variables = () =>
    Object.fromEntries(
      bindings().flatMap(({ name, text }) => (/TENAN|SANDBOXES/.test(name) ? [[name, text]] : [])),
    );

  function applied(): { tag: string | undefined; classes: string[] } {
    return {
      tag: account().workers[0]?.migrationTag,
      classes: account().namespaces.map((one) => one.class),
    };
  }
});
