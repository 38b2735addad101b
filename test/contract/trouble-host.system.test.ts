import { expect, test } from "vitest";
import { canMount } from "../support/full-volume.ts";
import { underTrouble } from "../support/trouble.ts";
import { startTroubledHost } from "../support/troubled-services.ts";

const SEED = Number(process.env["TROUBLE_SEED"] ?? Date.now() % 1_000_000);

test.runIf(canMount)(
  `a host under trouble is never silent: 200 messages each have their answer, and a word within a minute (TROUBLE_SEED=${SEED})`,
  { timeout: 400_000 },
  async () => {
    const troubled = await startTroubledHost(SEED, 0.6);

    const outcome = await underTrouble(troubled);

    expect(outcome, JSON.stringify(troubled.front.faults)).toMatchObject({
      unsettled: [],
      silent: [],
      twice: [],
    });
    expect(outcome.longestSeconds).toBeLessThan(65);
    expect(outcome.told).toBeGreaterThan(0);
    expect(Object.keys(troubled.front.faults).length).toBeGreaterThan(10);
  },
);
