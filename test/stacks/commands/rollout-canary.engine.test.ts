import { afterAll, beforeAll, expect, test } from "vitest";
import { intoFormerShape } from "../../support/former-deployment.ts";
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
  "a first deployment has nothing to share with, and takes all",
  async () => {
    const first = await stage.rollout("--canary", "10,100");
    expect(first.code, first.said).toBe(0);
    expect(await stage.record()).not.toContainEqual(expect.objectContaining({ step: "canary" }));
  },
  UPDATE_MS,
);

test(
  "a new version gets its shares one after the other, each measured, and no event is lost",
  async () => {
    const events = sendSteadily(stage.eventsUrl, stage.slack);
    const former = await stage.liveVersion();
    await stage.change("debug");
    const done = await stage.rollout("--canary", "10,50,100", "--watch", "0");
    expect(done.code, done.said).toBe(0);

    const next = await stage.liveVersion();
    expect(next).not.toBe(former);
    expect((await stage.deployments()).slice(0, 4)).toEqual([
      { [next]: 100 },
      { [former]: 50, [next]: 50 },
      { [former]: 90, [next]: 10 },
      { [former]: 100 },
    ]);
    const steps = await stage.record();
    const health = (versionId: string) => ({
      versionId,
      requests: 50,
      errors: 0,
      medianMs: expect.any(Number),
    });
    expect(steps.filter(({ step }) => step === "canary")).toEqual(
      [10, 50].map((percentage) => ({
        time: expect.any(String),
        step: "canary",
        percentage,
        former: health(former),
        next: health(next),
      })),
    );
    expect(done.said).toContain("The new version has 10 % of the requests.");
    expect(done.said).toContain("The new version: 0 of 50 requests answered wrongly");
    expect(await events.lost()).toEqual([]);
    expect(events.sent).toBeGreaterThan(10);
  },
  UPDATE_MS,
);

test(
  "a stack of an older version waits for an update at once, and shares from then on",
  async () => {
    await intoFormerShape(stage.subject);
    const waits = await stage.rollout("--canary", "10", "--watch", "0");
    expect(waits.code, waits.said).toBe(2);
    expect(waits.said).toContain("cannot be gradual. Update at once: omit --canary");
    const adopted = await stage.rollout();
    expect(adopted.code, adopted.said).toBe(0);
  },
  UPDATE_MS,
);

test(
  "one that answers wrongly gets no more, and the former one has all again",
  async () => {
    const former = await stage.liveVersion();
    let asked = 0;
    const isNew = (version: string) => version !== former;
    stage.spoil(async (version) => {
      asked += 1;
      return isNew(version) && asked % 5 === 0 ? Response.json({}, { status: 500 }) : undefined;
    });
    await stage.change("warning");
    const wrong = await stage.rollout("--canary", "10,50", "--watch", "0");
    expect(wrong.code, wrong.said).toBe(4);
    expect(wrong.said).toMatch(
      /At 10 %: of 50 requests to the new version \d+ were answered wrongly, to the former one 0\./,
    );
    expect(await stage.liveVersion()).toBe(former);
    const [now, before] = await stage.deployments();
    expect(now).toEqual({ [former]: 100 });
    expect(Object.values(before ?? {})).toEqual([90, 10]);
    stage.spoil(undefined);
  },
  UPDATE_MS,
);

test(
  "one that fails its probe goes back by itself within a minute, and no event is lost",
  async () => {
    const former = await stage.liveVersion();
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
    const mended = await stage.rollout("--canary", "50", "--watch", "0");
    expect(mended.code, mended.said).toBe(0);
    expect(await stage.liveVersion()).not.toBe(former);
  },
  UPDATE_MS * 2,
);

test("words that are no shares are refused", async () => {
  const wrong = await stage.rollout("--canary", "50,10");
  expect(wrong.code).toBe(2);
  expect(wrong.said).toContain("Write percentages that rise to at most 100, as 10,50,100.");
});
