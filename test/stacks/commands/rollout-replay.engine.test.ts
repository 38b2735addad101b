import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mention } from "../../../rehearsal/standins/slack.ts";
import { replayRecordSchema } from "../../../runtime/contract/replay.ts";
import { ROUTES } from "../../../runtime/contract/routes.ts";
import { startRolloutStage, type RolloutStage } from "../../support/rollout-stage.ts";
import { sendSteadily } from "../../support/steady-events.ts";
import { ENGINE_MS, UPDATE_MS } from "../../support/stack.ts";

const MINUTE_MS = 60_000;

let stage: RolloutStage;

beforeAll(async () => {
  stage = await startRolloutStage();
}, ENGINE_MS);

afterAll(() => stage?.close(), UPDATE_MS);

test(
  "events are replayed once the operator has consented and that version runs; nothing of them is shown",
  async () => {
    const first = await stage.rollout();
    expect(first.code, first.said).toBe(0);
    expect(first.said).not.toContain("replayed");
    await stage.subject.stack.setConfig("steward:replayEvents", { value: "100" });
    const consented = await stage.rollout();
    expect(consented.said).toMatch(
      /No events were replayed: .*\(replay_not_allowed\)\. The next rollout can/,
    );
    expect(consented.code, consented.said).toBe(0);

    await fetch(stage.eventsUrl, { method: "POST", ...stage.slack.sign(mention("Rumpelstilzchen")) });
    await stage.slack.waitFor(({ text }) => text.includes("Rumpelstilzchen"), 60_000);
    await stage.change("debug");
    const planned = await stage.rollout("--plan-only");
    expect(planned.code, planned.said).toBe(0);
    expect(planned.said).toContain("| understood | 1 | 1 |");
    expect(planned.report).toMatchObject({ replay: { compared: { events: 1, changes: [] } }, gates: [] });
    const file = path.join(stage.subject.folder, String(planned.report["report"]));
    const report = await readFile(file, "utf8");
    expect(report).toMatch(
      /\n## Replay\n\nReplayed the most recent events, with their content redacted: 1\.[^]*\n\| understood \| 1 \| 1 \|\n/,
    );
    expect(planned.said + report + JSON.stringify(await stage.record())).not.toContain("Rumpelstilzchen");
  },
  UPDATE_MS * 3,
);

test(
  "a version that reads an event otherwise waits until somebody accepts that",
  async () => {
    stage.alter(ROUTES.stackReplay.path, (answer) => {
      const record = replayRecordSchema.parse(answer);
      for (const event of record.events) event.outcome = { kind: "command" };
      return record;
    });
    const waits = await stage.rollout();
    expect(waits.said).toContain("- slack: command becomes message (group): 1");
    expect(waits.report).toMatchObject({
      exit: 2,
      gates: ["The new version interprets 1 of 1 replayed events differently. To accept it: --accept-replay"],
    });
    expect(waits.code).toBe(2);
    const accepted = await stage.rollout("--accept-replay");
    expect(accepted.code, accepted.said).toBe(0);
    stage.alter(ROUTES.stackReplay.path, undefined);
  },
  UPDATE_MS * 2,
);

test(
  "a version that fails its probe is rolled back within a minute, and no event is lost",
  async () => {
    const former = await stage.liveVersion();
    await stage.change("warning");
    stage.spoil(async (version) => (version === former ? undefined : Response.json({}, { status: 500 })));
    const events = sendSteadily(stage.eventsUrl, stage.slack);
    const failed = await stage.rollout();
    expect(failed.code, failed.said).toBe(4);
    expect(failed.said).toContain("failed these checks");
    expect(failed.report).toMatchObject({
      ok: false,
      exit: 4,
      back: [
        expect.stringContaining("The Worker is back"),
        expect.stringContaining("The previous version answers"),
      ],
    });
    expect(await stage.liveVersion()).toBe(former);
    const steps = await stage.record();
    expect(steps.map(({ step }) => step)).toEqual([
      "begun",
      "planned",
      "backup",
      "former",
      "updating",
      "failed",
      "back",
      "ended",
    ]);
    const at = (step: string) => Date.parse(steps.find((entry) => entry.step === step)?.time ?? "");
    expect(at("back") - at("failed")).toBeLessThan(MINUTE_MS);
    expect(await events.lost()).toEqual([]);
    expect(events.sent).toBeGreaterThan(10);

    stage.spoil(undefined);
    const mended = await stage.rollout();
    expect(mended.code, mended.said).toBe(0);
    expect(await stage.liveVersion()).not.toBe(former);
  },
  UPDATE_MS * 2,
);
