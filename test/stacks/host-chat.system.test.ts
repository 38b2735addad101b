import { chown, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatProblems } from "../../infra/host/preflight/chats.ts";
import type { HostFacts, HostPlan } from "../../infra/host/preflight/engine.ts";
import { docker } from "../../infra/shell/docker.ts";
import { engine } from "../support/docker.ts";
import { createTalkingHostStack, type TalkingHostStack } from "../support/host-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";

const CHAT = { "steward:tenancy": { value: "chat" }, "steward:maxSandboxes": { value: "3" } };

describe.skipIf(!engine.ok)("a host stack with a gateway for each chat", () => {
  let subject: TalkingHostStack;
  beforeAll(async () => {
    subject = await createTalkingHostStack(CHAT);
  }, ENGINE_MS);
  afterAll(() => subject?.close(), UPDATE_MS);

  const inContainer = async (...words: string[]): Promise<string> =>
    (await docker(["exec", subject.names.container, ...words])).stdout;
  /** Users that have processes in the container. */
  const users = async (): Promise<string[]> => {
    const { stdout } = await docker(["top", subject.names.container, "-eo", "pid,uid"]);
    const rows = stdout.trim().split("\n").slice(1);
    return [...new Set(rows.map((row) => row.trim().split(/\s+/)[1] ?? ""))].sort();
  };

  test(
    "comes up, and says in the preview what that means",
    async () => {
      const { stdout } = await subject.stack.preview();
      expect(stdout).toContain("Each chat's gateway runs as a separate user, with ids from 20000.");
      const update = await subject.stack.up();
      expect(update.outputs["readiness"]?.value).toContain("ok   POST /slack/events");
    },
    ENGINE_MS,
  );

  test(
    "answers a chat by a process of the chat's own user",
    async () => {
      expect(await subject.say("hello")).toBe(200);
      expect(await users()).toEqual(expect.arrayContaining(["10001", "20000"]));
      const [{ HostConfig }] = JSON.parse((await docker(["inspect", subject.names.container])).stdout);
      expect(HostConfig).toMatchObject({
        Privileged: false,
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
      });
    },
    UPDATE_MS,
  );

  test(
    "is commanded as any other, though the container starts as root",
    async () => {
      expect(await inContainer("steward", "health")).toContain("Ready");
      expect(await inContainer("steward", "backup", "create")).toContain("was created");
      expect(await inContainer("steward", "config", "get", "channels.slack.enabled")).toContain("true");
    },
    UPDATE_MS,
  );

  test(
    "is refused in the preview if the engine cannot give the users",
    async () => {
      const [{ Image: image }] = JSON.parse((await docker(["inspect", subject.names.container])).stdout);
      const host = { container: { image }, local: true } as HostFacts;
      const directory = await mkdtemp(path.join(tmpdir(), "steward-host-data-"));
      await chown(directory, 10_001, 10_001).catch(() => undefined);
      const plan = { environment: process.env, directory } as HostPlan;
      expect(await chatProblems({ ...plan, chats: 500 }, host)).toEqual([]);
      expect(await chatProblems({ ...plan, chats: 500 }, { ...host, container: undefined })).toEqual([]);
      expect(await readdir(directory)).toEqual([]);
      // No kernel has as many users.
      expect(await chatProblems({ ...plan, chats: 2 ** 32 }, host)).toMatchObject([
        {
          code: "tenancy_unsupported",
          detail: expect.stringContaining("The engine cannot run each chat as a separate user: "),
          fix: expect.stringContaining("Set steward:tenancy to shared"),
        },
      ]);
    },
    UPDATE_MS,
  );

  test(
    "changes nothing when nothing has changed, and an update keeps each chat's user",
    async () => {
      await subject.stack.refresh();
      expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);
      await subject.stack.setConfig("steward:logLevel", { value: "debug" });
      await subject.stack.up();
      await subject.say("still there?");
      expect(await users()).toContain("20000");
    },
    ENGINE_MS,
  );

  test(
    "goes back to one gateway for all chats, with the data of before",
    async () => {
      await subject.stack.removeConfig("steward:tenancy");
      await subject.stack.removeConfig("steward:maxSandboxes");
      await subject.stack.up();
      expect(await subject.say("and now?")).toBe(200);
      // The container's health check begins as root, for a moment.
      const others = async () => (await users()).filter((user) => user !== "10001");
      await expect.poll(others).toEqual([]);
    },
    ENGINE_MS,
  );
});
