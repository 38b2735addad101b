import { describe, expect, test } from "vitest";
import {
  type CostInputs,
  costLine,
  isNegligibleChange,
  monthlyCost,
} from "../../../infra/serverless/cost.ts";

/** Hours a day, as the line of a preview tells them. */
const awakeHours = (inputs: CostInputs) => Number(/awake ([\d.]+) h a day/.exec(costLine(inputs))?.[1]);

// Reckoned by hand from Cloudflare's price list, for a month of 730 hours.
describe("what a month costs", () => {
  test.each<[string, CostInputs, number]>([
    // 0.25 GiB × 730 h − 25 GiB-h = 157.5 at $0.009; 2 GB × 730 h − 200 GB-h = 1,260 at $0.000252.
    ["lite, never asleep", { instanceType: "lite", sleepAfter: "never" }, 5 + 1.4175 + 0.317_52],
    // 2,895 GiB-h, 5,640 GB-h, and 1,095 − 375 = 720 minutes of a vCPU at $0.0012.
    [
      "standard-1, never asleep",
      { instanceType: "standard-1", sleepAfter: "never" },
      5 + 26.055 + 1.421_28 + 0.864,
    ],
    // 8 × (5 min + 10 min) = 2 h a day, 60.83 h a month: below every allowance.
    ["lite, asleep after ten minutes", { instanceType: "lite", sleepAfter: "10m" }, 5],
    // 8 × 65 min = 8.67 h a day, 263.6 h a month: 238.6 GiB-h, 854.4 GB-h.
    ["basic, asleep after an hour", { instanceType: "basic", sleepAfter: "1h" }, 5 + 2.1475 + 0.215_32],
    [
      "basic, awake for 2 h as somebody says",
      { instanceType: "basic", sleepAfter: "1h", awakeHours: 2 },
      5 + 0.3225 + 0.010_92,
    ],
  ])("%s", (_what, inputs, expected) => {
    expect(monthlyCost(inputs)).toBe(Math.round(expected * 100) / 100);
  });

  test("no container is awake for more than a day a day, whatever it waits for", () => {
    expect(awakeHours({ instanceType: "lite", sleepAfter: "12h" })).toBe(24);
    expect(awakeHours({ instanceType: "lite", sleepAfter: "never", awakeHours: 1 })).toBe(24);
  });
});

/** Twelve days, 3.5 h and nine runs a day. */
const MEASURED = { measuredHours: 291, awakeHours: 3.5, startsADay: 9, sleepAfterMs: 600_000 };

describe("what was measured", () => {
  const used: CostInputs = { instanceType: "basic", sleepAfter: "10m", awakeHours: 20, measured: MEASURED };

  test("counts more than what is expected, but for a container that never sleeps", () => {
    expect(awakeHours(used)).toBe(3.5);
    expect(awakeHours({ ...used, sleepAfter: "never" })).toBe(24);
  });

  test("is reckoned over for another wait before the sleep, run by run", () => {
    expect(awakeHours({ ...used, sleepAfter: "20m" })).toBe(5);
    expect(awakeHours({ ...used, sleepAfter: "5m" })).toBe(2.8);
    expect(awakeHours({ ...used, sleepAfter: "8h" })).toBe(24);
  });

  test("moves the estimate only with more than a tenth of the amount", () => {
    const with5 = { ...used, measured: { ...MEASURED, awakeHours: 5 } };
    const with20 = { ...used, measured: { ...MEASURED, awakeHours: 20 } };
    expect([monthlyCost(used), monthlyCost(with5), monthlyCost(with20)]).toEqual([5.79, 6.25, 10.91]);
    expect(isNegligibleChange(with5, MEASURED)).toBe(true);
    expect(isNegligibleChange(with20, MEASURED)).toBe(false);
  });
});

describe("the line of a preview", () => {
  const lite: CostInputs = { instanceType: "lite", sleepAfter: "10m" };

  test("is the estimate, and what it takes for granted", () => {
    expect(costLine(lite)).toBe(
      "Estimated cost: about $5.00 a month (lite, sleepAfter 10m, awake 2 h a day as expected)",
    );
  });

  test("says what was measured, and what is reckoned from it", () => {
    const measured = { ...lite, measured: MEASURED };
    expect(costLine(measured)).toContain(
      "(lite, sleepAfter 10m, awake 3.5 h a day as measured over 12 days)",
    );
    expect(costLine({ ...measured, sleepAfter: "20m" })).toContain(
      "(lite, sleepAfter 20m, awake 5 h a day, adjusted from 3.5 h measured over 12 days)",
    );
    expect(costLine({ ...measured, sleepAfter: "never" })).toContain(
      "(lite, sleepAfter never, awake 24 h a day)",
    );
  });

  test("tells the difference to what is deployed, up and down", () => {
    const never: CostInputs = { instanceType: "lite", sleepAfter: "never" };
    expect(costLine(never, lite)).toContain(
      "+$1.74 a month compared with the deployed stack (lite, sleepAfter 10m",
    );
    expect(costLine(lite, never)).toContain(
      "-$1.74 a month compared with the deployed stack (lite, sleepAfter never",
    );
    expect(costLine(lite, { ...lite, sleepAfter: "5m" })).toMatch(/, as deployed$/);
  });
});

describe("a sandbox for each chat", () => {
  const chat: CostInputs = { instanceType: "lite", sleepAfter: "10m", maxSandboxes: 4 };
  const measured = { ...MEASURED, awakeHours: 60, startsADay: 90, containers: 12 };

  test("costs what an hour of a container costs, until some were measured", () => {
    // 0.25 GiB, 2 GB, 1/16 vCPU at 5 %, and the object's 0.128 GB, for 3,600 s.
    expect(costLine(chat)).toBe(
      "Estimated cost: $5.00 a month and, beyond the plan's allowances, about $0.0087 an hour for each container that is awake (lite, sleepAfter 10m, at most 4 at a time)",
    );
    expect(costLine({ ...chat, instanceType: "standard-4" })).toContain("about $0.13 an hour");
    expect(costLine({ ...chat, maxSandboxes: 3 }, chat)).toBe(costLine({ ...chat, maxSandboxes: 3 }));
    expect(costLine(chat, { instanceType: "lite", sleepAfter: "10m" })).toBe(costLine(chat));
    expect(costLine(chat, { ...chat, measured })).toBe(costLine(chat));
  });

  test("costs what was measured of all containers, in all", () => {
    const one = { ...measured, containers: 1 };
    expect(costLine({ ...chat, measured })).toContain(
      "(lite, sleepAfter 10m, 12 containers awake 60 h a day in all as measured over 12 days)",
    );
    expect(costLine({ ...chat, measured: one })).toContain("1 container awake 60 h a day in all");
    expect(costLine({ ...chat, sleepAfter: "20m", measured }, { ...chat, measured })).toMatch(
      /12 containers awake 75 h a day in all, adjusted from 60 h measured over 12 days\), \+\$[\d.]+ a month compared with the deployed stack/,
    );
    // 60 h a day are 1,825 h a month: 431.25 GiB-h, 3,450 GB-h, no vCPU beyond the 375 min, 440,960 GB-s.
    expect(monthlyCost({ ...chat, measured })).toBe(
      Math.round((5 + 431.25 * 0.009 + 3_450 * 0.000_252 + 440_960 * 0.000_012_5) * 100) / 100,
    );
  });

  test("has no more containers awake than may run", () => {
    expect(awakeHours({ ...chat, sleepAfter: "2h", measured })).toBe(4 * 24);
  });

  test("costs what is expected of all containers, if that is given", () => {
    expect(costLine({ ...chat, awakeHours: 20 })).toContain(
      "(lite, sleepAfter 10m, awake 20 h a day in all as expected)",
    );
  });
});
