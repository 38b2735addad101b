import { afterAll, beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../../runtime/contract/routes.ts";
import { startRolloutStage, type RolloutStage } from "../../support/rollout-stage.ts";
import { ENGINE_MS, UPDATE_MS } from "../../support/stack.ts";

let stage: RolloutStage;

beforeAll(async () => {
  stage = await startRolloutStage();
  await stage.subject.stack.setConfig("steward:tenancy", { value: "chat" });
}, ENGINE_MS);

afterAll(() => stage?.close(), UPDATE_MS);

test(
  "an update that the first chats do not answer with is taken back; one that they answer with is told",
  async () => {
    const first = await stage.rollout();
    expect(first.code, first.said).toBe(0);
    expect(first.said).not.toContain("chats");
    const former = await stage.liveVersion();

    await stage.change("debug");
    stage.alter(ROUTES.stackChats.path, () => ({ begun: 3, answering: 2, failing: ["slack-C1"] }));
    const failed = await stage.rollout();
    expect(failed.said).toMatch(/slack-C1 is not running the new version \(rollout_chat_fails\)\n {2}fix: /);
    expect(failed.report).toMatchObject({ exit: 4, code: "rollout_chat_fails" });
    expect(failed.code).toBe(4);
    expect(await stage.liveVersion()).toBe(former);

    stage.alter(ROUTES.stackChats.path, () => ({ begun: 3, answering: 3, failing: [] }));
    const done = await stage.rollout();
    expect(done.said).toContain("The containers of 3 chats now run the new version.");
    expect(done.code, done.said).toBe(0);
  },
  UPDATE_MS * 4,
);
