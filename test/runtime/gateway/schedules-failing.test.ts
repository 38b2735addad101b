import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RetryableError } from "../../../runtime/gateway/failure.ts";
import type { Announce } from "../../../runtime/gateway/schedules/announce.ts";
import { HOUR, minute, MINUTE, ScheduleStage, START, to } from "../support/schedules.ts";

let stage: ScheduleStage;
beforeEach(() => {
  stage = new ScheduleStage();
});
afterEach(() => stage.close());

describe("what goes wrong", () => {
  const never = new Promise<never>(() => {});
  const down = () => new RetryableError("channel_failed", "no answer");

  it("a run that a crash interrupts is finished by the next start, under its id, and none is doubled", async () => {
    const one = { one: { at: minute(5), text: "tea", to }, beat: { every: "5m", text: "tick", to } };
    const crashed = stage.run(one, { say: () => never });
    void crashed.pass(5 * MINUTE);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(crashed.requests).toHaveLength(2);
    stage.now = START + 6 * MINUTE;
    const next = stage.run(one);
    await next.pass(3 * MINUTE);
    expect(next.requests.map(({ id }) => id)).toEqual(crashed.requests.map(({ id }) => id));
    await next.runner.stop(0);
    const last = stage.run(one);
    await last.pass(0);
    expect(last.said).toEqual([]);
    expect(last.runner.health()).toEqual({ count: 1, nextAt: minute(10), missed: 0, failed: 0 });
  });

  it("is tried again after growing waits, up to an hour, then recorded as failed", async () => {
    const { said, pass, store } = stage.run(
      { one: { at: minute(1), text: "tea", to } },
      { say: async () => Promise.reject(down()) },
    );
    await pass(MINUTE + 60_000);
    expect(said.map(([at]) => Math.round((at - 1) * 60))).toEqual([0, 5, 15, 35]);
    await pass(2 * HOUR);
    expect(said.at(-1)?.[0]).toBeGreaterThan(50);
    expect(said.at(-1)?.[0]).toBeLessThanOrEqual(61);
    expect(store.get("config:one")).toMatchObject({ lastOutcome: "failed: no answer" });
    expect(stage.logged.filter((line) => line.startsWith("a scheduled run failed {"))).toHaveLength(1);
  });

  it("what cannot pass is recorded as failed at once", async () => {
    const { said, pass, store } = stage.run(
      { one: { at: minute(1), text: "tea", to } },
      { say: async () => Promise.reject(new Error("no such chat")) },
    );
    await pass(2 * HOUR);
    expect(said).toHaveLength(1);
    expect(store.get("config:one")).toMatchObject({ lastOutcome: "failed: internal error, see the log" });
    expect(stage.logged.join("\n")).toContain("no such chat");
  });

  it("a store that is full or locked for a moment costs no run", async () => {
    let failures = 1;
    const full = Object.assign(new Error("database or disk is full"), { errcode: 13 });
    const { said, pass, store } = stage.run(
      { one: { at: minute(1), text: "tea", to } },
      { say: async () => (failures-- > 0 ? Promise.reject(full) : "said") },
    );
    await pass(2 * MINUTE);
    expect(said).toHaveLength(2);
    expect(store.get("config:one")).toMatchObject({ lastOutcome: "said" });
  });

  it("a run that is not ended yet holds up only its own schedule, and no runs pile up", async () => {
    let working = true;
    const { said, pass, runner } = stage.run(
      { slow: { every: "5m", text: "slow", to }, other: { every: "10m", text: "other", to } },
      { say: async ({ name }) => (name === "slow" && working ? Promise.reject(down()) : "said") },
    );
    await pass(11 * MINUTE);
    expect(said.filter(([, what]) => what === "other")).toEqual([[10, "other"]]);
    expect(runner.health().missed).toBe(1);
    working = false;
    await pass(10 * MINUTE);
    // The attempt that goes well ends the first run; the times until then are missed.
    const slow = said.filter(([at, what]) => what === "slow" && at > 11).map(([at]) => at);
    expect(slow).toEqual([expect.closeTo(15.58), 20]);
    expect(runner.health().missed).toBe(2);
  });

  it("goes on where the clock is set back, and repeats nothing", async () => {
    const { said, pass } = stage.run({ beat: { every: "10m", text: "tick", to } });
    await pass(0);
    stage.now += 24 * HOUR;
    await pass(5_000);
    expect(said).toHaveLength(1);
    stage.now = START + 11 * MINUTE;
    await pass(30 * MINUTE);
    expect(said.slice(1).map(([at]) => at)).toEqual([20, 30, 40]);
  });

  it("tries again after a clock was set back as soon as it would have", async () => {
    let down = true;
    const { said, pass } = stage.run(
      { one: { at: minute(1), text: "tea", to } },
      { say: async () => (down ? Promise.reject(new RetryableError("channel_failed", "down")) : "said") },
    );
    await pass(0);
    stage.now += 24 * HOUR - MINUTE;
    await pass(5_000);
    expect(said).toHaveLength(1);
    down = false;
    stage.now = START + 2 * MINUTE;
    await pass(5_000);
    expect(said).toHaveLength(2);
  });

  it("goes on where the clock was set back while nobody looked", async () => {
    let down = false;
    const schedules = { beat: { every: "10m", text: "tick", to }, one: { at: minute(1), text: "tea", to } };
    const say = async (): ReturnType<Announce> => {
      if (down) throw new RetryableError("channel_failed", "down");
      return "said";
    };
    const ahead = stage.run(schedules, { say });
    await ahead.pass(0);
    stage.now += 23 * HOUR;
    down = true;
    await ahead.pass(5_000);
    await ahead.runner.stop(0);

    down = false;
    stage.now = START + 11 * MINUTE;
    const { said, pass } = stage.run(schedules, { say });
    await pass(30 * MINUTE);
    expect(said.filter(([, what]) => what === "tea").map(([at]) => at)).toEqual([11]);
    expect(said.filter(([, what]) => what !== "tea").map(([at]) => at)).toEqual([11, 20, 30, 40]);
  });

  it("is told where one cannot be worked out, such as one of another version, and the others run", async () => {
    const first = stage.run({
      odd: { cron: "* * * * *", text: "odd", to },
      beat: { every: "1m", text: "tick", to },
    });
    await first.pass(0);
    await first.runner.stop(0);
    stage.database.exec("UPDATE schedules SET id = 'cli:1', source = 'cli' WHERE id = 'config:odd'");
    stage.database.exec(
      `UPDATE schedules SET spec = json_set(spec, '$.cron', '* * 99 * *') WHERE id = 'cli:1'`,
    );

    const { said, pass } = stage.run({ beat: { every: "1m", text: "tick", to } });
    await pass(3 * MINUTE + 1_000);
    expect(said.map(([, what]) => what)).toEqual(["tick", "tick", "tick"]);
    expect(stage.logged.join("\n")).toContain('a schedule could not be evaluated {"id":"cli:1"');
  });

  it("is told where the table cannot be worked on, and looked at again", async () => {
    const { pass, said } = stage.run({ one: { every: "1m", text: "tick", to } });
    await pass(0);
    stage.database.exec("ALTER TABLE schedules RENAME TO away");
    await pass(90_000);
    expect(stage.logged.some((line) => line.startsWith("schedules could not be processed"))).toBe(true);
    stage.database.exec("ALTER TABLE away RENAME TO schedules");
    await pass(90_000);
    expect(said.length).toBeGreaterThan(0);
  });
});
