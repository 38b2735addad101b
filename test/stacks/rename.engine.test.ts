import { Stack } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProcess } from "../../infra/shell/process.ts";
import { slackEvent, slackHeaders } from "../support/edge.ts";
import { SIGNING_SECRET, startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { stackCommand } from "../support/stack-command.ts";
import { ENGINE_MS, UPDATE_MS, type TestStack } from "../support/stack.ts";

/** The resources that hold the stack's name. */
const RENAMED = ["update command:local:Command", "update steward:serverless:StateBucket"];

describe("pulumi stack rename, of a stack that has had messages", () => {
  let world: ServerlessStage;
  let subject: TestStack;
  let renamed: Stack;

  beforeAll(async () => {
    world = await startServerlessStage();
    // Without the key the environment's name, which the console shows, follows the stack's.
    subject = await world.stack({ config: { "steward:environmentName": { value: "test" } } });
    await subject.stack.up();
    await send("Ev1");
  }, ENGINE_MS);

  afterAll(() => world?.close(), UPDATE_MS);

  test(
    "is taken by the engine, and the next update changes no more than the bucket's owner and the name that the probe prints",
    async () => {
      const before = kept();
      const { workspace } = subject.stack;
      const { code, stderr } = await runProcess("pulumi", ["stack", "rename", "renamed", "-s", "test"], {
        cwd: subject.folder,
        env: { ...process.env, ...subject.environment },
      });
      expect(code, stderr).toBe(0);
      renamed = await Stack.select("renamed", workspace);

      const planned: string[] = [];
      await renamed.preview({
        onEvent({ resourcePreEvent: event }) {
          if (event !== undefined && event.metadata.op !== "same")
            planned.push(`${event.metadata.op} ${event.metadata.type}`);
        },
      });
      expect(planned.sort()).toEqual(RENAMED);
      await renamed.up({ showSecrets: false });
      expect(Object.keys((await renamed.preview()).changeSummary)).toEqual(["same"]);
      expect(kept()).toEqual(before);
    },
    UPDATE_MS,
  );

  test(
    "keeps the history of messages, and drift finds nothing",
    async () => {
      await send("Ev2");
      expect(await recorded()).toEqual(["slack:Ev2", "slack:Ev1"]);
      const drift = await stackCommand(subject, "drift.ts", "renamed");
      expect(drift.code, drift.said).toBe(0);
    },
    UPDATE_MS,
  );

  /** What must stay: ids and names. */
  function kept() {
    const { workers, versions, deployments, namespaces, buckets, applications } =
      world.stage.cloudflare.account.state;
    return {
      ids: [...workers, ...versions, ...deployments, ...namespaces, ...applications].map(({ id }) => id),
      buckets: buckets.map(({ name }) => name),
    };
  }

  /** Sends a signed event; 503 is kept for the container, which does not run here. */
  async function send(id: string): Promise<void> {
    const body = JSON.stringify(slackEvent(id));
    const headers = await slackHeaders(body, SIGNING_SECRET, Date.now());
    const { status } = await fetch(`${world.front.url}/slack/events`, { method: "POST", headers, body });
    expect([200, 503]).toContain(status);
  }

  async function recorded(): Promise<string[]> {
    const { accessApplications } = world.stage.cloudflare.account.state;
    const gate = accessApplications.find(({ destinations }) =>
      destinations.some(({ uri }) => uri.includes("/debug")),
    );
    const token = await world.identity.issue({ aud: gate?.aud ?? "", email: "op@example.com" });
    const answer = await fetch(`${world.front.url}/debug/ledger`, {
      headers: { cookie: `CF_Authorization=${token}` },
    });
    const { entries } = (await answer.json()) as { entries: { key: string }[] };
    return entries.map(({ key }) => key);
  }
});
