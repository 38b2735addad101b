import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR, minute, MINUTE, ScheduleStage, START, to } from "../support/schedules.ts";

let stage: ScheduleStage;
beforeEach(() => {
  stage = new ScheduleStage();
});
afterEach(() => stage.close());

describe("a time that passed while the gateway was down", () => {
  const schedules = {
    once: { at: minute(30), prompt: "once?", to },
    steps: { every: "10m", prompt: "steps?", to },
    hourly: { cron: "0 * * * *", text: "hourly", to },
  };

  /** A gateway that goes down at once, and another after some minutes. */
  async function away(minutes: number) {
    const before = stage.run(schedules);
    await before.pass(0);
    await before.runner.stop(0);
    stage.now = START + minutes * MINUTE;
    const after = stage.run(schedules);
    await after.pass(0);
    return after;
  }

  it("is made up for once, with a note; the others are missed and told of once", async () => {
    const { said, requests, runner, pass } = await away(125);
    const note = (at: number) => `\n\n[This was due at ${minute(at)}, when the gateway was not running.]`;
    // Of the steps only the last one, five minutes ago.
    expect(said).toEqual([
      [125, `once?${note(30)}`],
      [125, `steps?${note(120)}`],
      [125, "hourly"],
    ]);
    expect(requests.map(({ id }) => id.split(":").at(-1))).toEqual(
      [30, 120, 120].map((m) => String(START + m * MINUTE)),
    );
    expect(runner.health()).toMatchObject({ missed: 12, nextAt: minute(130) });
    expect(stage.logged.filter((line) => line.startsWith("runs of a schedule were missed"))).toHaveLength(2);
    await pass(5 * MINUTE);
    expect(said.slice(3)).toEqual([[130, "steps?"]]);
    expect(runner.health().missed).toBe(12);
  });

  it("is not made up for after the time of grace", async () => {
    const { said, runner } = await away(175);
    expect(said.map(([, what]) => what.split("\n")[0])).toEqual(["once?", "steps?"]);
    expect(runner.health()).toMatchObject({ missed: 18, nextAt: minute(180) });
  });

  it("is missed for good after a day, and forgotten after a week", async () => {
    const { said, runner, pass } = await away(3 * 24 * 60 + 25);
    expect(said.map(([, what]) => what.split("\n")[0])).toEqual(["steps?"]);
    expect(runner.health()).toMatchObject({ count: 2, missed: 1 + 433 + 72 });
    stage.now += 8 * 24 * HOUR;
    await pass(5_000);
    expect(runner.health().missed).toBe(1_151 + 192);
    const old = stage.database.prepare("SELECT count(*) AS n FROM schedule_runs WHERE at < ?");
    expect(old.get(stage.now - 7 * 24 * HOUR)).toEqual({ n: 0 });
  });

  it("stays with one run where there are more times than are counted", async () => {
    const minutely = { each: { cron: "* * * * *", text: "each", to } };
    const before = stage.run(minutely);
    await before.pass(0);
    await before.runner.stop(0);
    stage.now = START + 2_000 * MINUTE + 1_000;
    const { said, requests, pass, runner } = stage.run(minutely);
    await pass(0);
    expect(said).toHaveLength(1);
    expect(requests[0]?.id).toBe(`schedule:config:each:${START + 2_000 * MINUTE}`);
    expect(runner.health()).toMatchObject({ missed: 999, nextAt: minute(2_001) });
  });
});
