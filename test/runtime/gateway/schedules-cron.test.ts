import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkSchedules } from "../../../runtime/process/cron.ts";
import { dueAfter } from "../../../runtime/gateway/schedules/times.ts";
import { config, HOUR, ScheduleStage, to } from "../support/schedules.ts";

let stage: ScheduleStage;
beforeEach(() => {
  stage = new ScheduleStage();
});
afterEach(() => stage.close());

describe("a cron expression", () => {
  const times = async (cron: string, timezone: string | undefined, from: string, count: number) => {
    const found: string[] = [];
    for (let at = Date.parse(from); found.length < count;) {
      at = (await dueAfter({ cron, ...(timezone && { timezone }) }, 0, at)) ?? Number.NaN;
      found.push(new Date(at).toISOString().slice(0, 16));
    }
    return found;
  };

  it("is read in its time zone, UTC without one", async () => {
    expect(await times("30 9 * * 1-5", "Europe/Berlin", "2026-11-20T12:00:00Z", 2)).toEqual([
      "2026-11-23T08:30",
      "2026-11-24T08:30",
    ]);
    expect(await times("30 9 * * 1-5", undefined, "2026-11-20T12:00:00Z", 1)).toEqual(["2026-11-23T09:30"]);
  });

  it("keeps its local time over both changes of the clock; a time that is left out comes right behind", async () => {
    expect(await times("0 9 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 2)).toEqual([
      "2026-03-28T08:00",
      "2026-03-29T07:00",
    ]);
    expect(await times("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
  });

  it("runs once in an hour that comes twice, and in both where it runs every hour", async () => {
    expect(await times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
    expect(await times("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3)).toEqual([
      "2026-10-25T00:00",
      "2026-10-25T01:00",
      "2026-10-25T02:00",
    ]);
  });

  it("that is wrong or is never due is a problem of the config", async () => {
    const schedules = { ok: "0 9 * * *", wrong: "61 * * * *", never: "0 0 30 2 *" };
    const entries = Object.entries(schedules).map(([name, cron]) => [name, { cron, text: "x", to }]);
    const problems = await checkSchedules(config(Object.fromEntries(entries)));
    expect(problems.map(({ path }) => path)).toEqual(["schedules.wrong.cron", "schedules.never.cron"]);
    expect(problems[1]?.message).toBe("is never due");
  });

  it("runs", async () => {
    const { said, pass } = stage.run({ daily: { cron: "15,45 * * * *", text: "now", to } });
    await pass(HOUR);
    expect(said.map(([at]) => at)).toEqual([15, 45]);
  });
});
