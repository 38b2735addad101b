import { afterAll, beforeAll, expect, test } from "vitest";
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
  "one that fails its probe goes back by itself within a minute, and no event is lost",
  async () => {
    const first = await stage.rollout();
    expect(first.code, first.said).toBe(0);
    const former = await stage.liveVersion();
    await stage.change("debug");
    stage.spoil(async (version) => (version === former ? undefined : Response.json({}, { status: 500 })));
    const events = sendSteadily(stage.eventsUrl, stage.slack);
    const failed = await stage.rollout();
    expect(failed.code, failed.said).toBe(4);
    expect(failed.said).toContain("does not answer as it should");
    expect(failed.report).toMatchObject({
      ok: false,
      exit: 4,
      back: [
        expect.stringContaining("The Worker is back"),
        expect.stringContaining("The former version answers"),
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
