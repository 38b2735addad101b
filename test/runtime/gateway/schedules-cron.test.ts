import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkSchedules, readLocalTime } from "../../../runtime/process/cron.ts";
import { dueAfter, describeUpcomingRuns, type When } from "../../../runtime/gateway/schedules/times.ts";
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

describe("the outlook of a schedule", () => {
  const from = (when: When, time: string, createdAt = 0) =>
    describeUpcomingRuns(when, createdAt, Date.parse(time));

  it("says a cron expression in words", async () => {
    const words = async (cron: string) => (await from({ cron }, "2026-11-20T12:00:00Z")).words;
    expect(await words("0 9 * * 1-5")).toBe("At 09:00, Monday through Friday");
    expect(await words("*/15 * * * *")).toBe("Every 15 minutes");
    expect(await words("30 18 L * *")).toBe("At 18:30, on the last day of the month");
    // Due by this project's reader, and in no words of the library.
    expect(await words("0 9 * * 5#L")).toBe("0 9 * * 5#L");
  });

  it("has the next three runs, in the schedule's own time zone", async () => {
    const cron = { cron: "0 9 * * 1-5", timezone: "America/New_York" };
    expect((await from(cron, "2026-11-20T15:00:00Z")).next).toEqual([
      { at: "2026-11-23T14:00:00.000Z", local: "Mon 23 Nov 2026, 09:00 GMT-5" },
      { at: "2026-11-24T14:00:00.000Z", local: "Tue 24 Nov 2026, 09:00 GMT-5" },
      { at: "2026-11-25T14:00:00.000Z", local: "Wed 25 Nov 2026, 09:00 GMT-5" },
    ]);
    const every = await from({ every: "1h30m" }, "1970-01-01T01:00:00Z");
    expect([every.words, ...every.next.map(({ at }) => at.slice(11, 16))]).toEqual([
      "Every 1h30m",
      "01:30",
      "03:00",
      "04:30",
    ]);
    const once = { at: "2027-01-31T09:00:00+01:00" };
    expect(await from(once, "2026-11-20T12:00:00Z")).toEqual({
      words: "Once",
      next: [{ at: "2027-01-31T08:00:00.000Z", local: "Sun 31 Jan 2027, 08:00 UTC" }],
    });
    expect((await from(once, "2027-11-20T12:00:00Z")).next).toEqual([]);
  });

  it("keeps its local time over both changes of the clock, and shows the one in force", async () => {
    const daily = { cron: "0 9 * * *", timezone: "Europe/Berlin" };
    const local = async (time: string) => (await from(daily, time)).next.map((one) => one.local);
    expect(await local("2026-03-27T12:00:00Z")).toEqual([
      "Sat 28 Mar 2026, 09:00 CET",
      "Sun 29 Mar 2026, 09:00 CEST",
      "Mon 30 Mar 2026, 09:00 CEST",
    ]);
    expect(await local("2026-10-23T12:00:00Z")).toEqual([
      "Sat 24 Oct 2026, 09:00 CEST",
      "Sun 25 Oct 2026, 09:00 CET",
      "Mon 26 Oct 2026, 09:00 CET",
    ]);
    const left = await from({ ...daily, cron: "30 2 * * *" }, "2026-03-28T12:00:00Z");
    expect(left.next[0]?.local).toBe("Sun 29 Mar 2026, 03:00 CEST");
    const twice = await from({ ...daily, cron: "30 2 * * *" }, "2026-10-24T12:00:00Z");
    expect(twice.next.slice(0, 2).map((one) => one.local)).toEqual([
      "Sun 25 Oct 2026, 02:30 CEST",
      "Mon 26 Oct 2026, 02:30 CET",
    ]);
  });
});

describe("a local time", () => {
  it("is read in its time zone, on either side of a change of the clock", async () => {
    const read = (time: string, zone = "Europe/Berlin") => readLocalTime(time, zone);
    expect(await read("2026-03-28 09:00")).toBe("2026-03-28T08:00:00.000Z");
    expect(await read("2026-03-29T09:00:30")).toBe("2026-03-29T07:00:30.000Z");
    expect(await read("2026-10-26T09:00")).toBe("2026-10-26T08:00:00.000Z");
    expect(await read("2026-10-26T09:00", "UTC")).toBe("2026-10-26T09:00:00.000Z");
  });

  it("is returned unchanged if it is no local time, has an offset, or its time zone is unknown", async () => {
    for (const other of ["soon", "2026-03-28T09:00:00+01:00", "2026-13-28T09:00", "0 9 * * *"])
      expect(await readLocalTime(other, "Europe/Berlin")).toBe(other);
    expect(await readLocalTime("2026-03-28T09:00", "Mars/Olympus")).toBe("2026-03-28T09:00");
  });
});
