import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkConfig, type Config } from "../../../runtime/contract/config/index.ts";
import { RetryableError } from "../../../runtime/gateway/failure.ts";
import { checkSchedules } from "../../../runtime/process/config-check.ts";
import { schedulesPort } from "../../../runtime/gateway/schedules/port.ts";
import type { Said, SayRequest } from "../../../runtime/gateway/schedules/say.ts";
import { Schedules } from "../../../runtime/gateway/schedules/schedules.ts";
import { ScheduleStore } from "../../../runtime/gateway/schedules/store.ts";
import { dueAfter } from "../../../runtime/gateway/schedules/times.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { temporaryDirectory } from "../support/processes.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse("2026-11-20T12:00:00Z");
const to = { platform: "slack", chat: "C1" };

let now: number;
let database: DatabaseSync;
let logged: string[];

beforeEach(async () => {
  now = START;
  logged = [];
  database = openStore(join(await temporaryDirectory(), "state.db"));
});
afterEach(() => database.close());

function config(schedules: object, agent: object = {}): Config {
  const result = checkConfig({ schedules, agent });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

/** A gateway's schedules on the test's clock. `said` lists what is due, with how many minutes after the start. */
function run(
  schedules: object,
  options: { agent?: object; say?: (request: SayRequest) => Promise<Said> } = {},
) {
  const said: [minute: number, what: string][] = [];
  const requests: SayRequest[] = [];
  // Timers go by a clock of their own, which nobody sets.
  let ticks = 0;
  let timer: { work: () => void; at: number } | undefined;
  const add = (message: string, fields: object = {}): void =>
    void logged.push(`${message} ${JSON.stringify(fields)}`);
  const store = new ScheduleStore(database);
  const runner = new Schedules({
    store,
    say: async (request) => {
      requests.push(request);
      said.push([(now - START) / MINUTE, request.text ?? request.prompt ?? ""]);
      return options.say ? options.say(request) : "said";
    },
    clock: () => now,
    setTimer: (work, ms) => {
      const mine = { work, at: ticks + ms };
      timer = mine;
      return () => void (timer === mine && (timer = undefined));
    },
    log: { debug: add, info: add, warn: add, error: add },
  });
  runner.start(config(schedules, options.agent));
  return {
    said,
    requests,
    runner,
    store,
    /** Lets the time pass, timer by timer. */
    async pass(ms: number): Promise<void> {
      const end = ticks + ms;
      const advance = (to: number): void => {
        now += to - ticks;
        ticks = to;
      };
      await runner.idle();
      while (timer !== undefined && timer.at <= end) {
        const { work, at } = timer;
        timer = undefined;
        advance(Math.max(ticks, at));
        work();
        await runner.idle();
      }
      advance(end);
    },
  };
}

/** A time as the config writes it, some minutes after the start. */
const minute = (minutes: number): string => new Date(START + minutes * MINUTE).toISOString();

describe("a schedule", () => {
  it("at a time runs once, then and only then", async () => {
    const { said, requests, pass, runner } = run({ one: { at: minute(5), text: "tea", to } });
    await pass(5 * MINUTE - 1);
    expect([said, runner.health()]).toEqual([[], { count: 1, nextAt: minute(5), missed: 0 }]);
    await pass(1);
    expect(said).toEqual([[5, "tea"]]);
    await pass(HOUR);
    expect(said).toHaveLength(1);
    expect(requests).toEqual([
      {
        id: `schedule:config:one:${START + 5 * MINUTE}`,
        platform: "slack",
        target: { chat: "C1" },
        name: "one",
        text: "tea",
      },
    ]);
    expect(runner.health()).toEqual({ count: 0, missed: 0 });
  });

  it("in equal steps counts them from its making, also over a restart", async () => {
    const first = run({ beat: { every: "10m", text: "tick", to } });
    await first.pass(25 * MINUTE);
    await first.runner.stop(0);
    const second = run({ beat: { every: "10m", text: "tick", to } });
    await second.pass(10 * MINUTE);
    expect([...first.said, ...second.said].map(([at]) => at)).toEqual([10, 20, 30]);
  });

  it("is taken over from a changed config: anew, changed, switched off, gone", async () => {
    const { said, pass, runner, store } = run({
      same: { every: "10m", text: "same", to },
      changed: { every: "10m", text: "before", to },
      off: { every: "10m", text: "off", to },
      gone: { every: "10m", text: "gone", to },
    });
    await pass(5 * MINUTE);
    runner.sync(
      config({
        same: { every: "10m", text: "same", to },
        changed: { every: "10m", text: "after", to },
        off: { every: "10m", text: "off", to, enabled: false },
        added: { at: minute(12), text: "added", to },
      }),
    );
    await pass(10 * MINUTE);
    expect(said).toEqual([
      [10, "same"],
      [12, "added"],
      [15, "after"],
    ]);
    expect(store.list().map(({ id }) => id)).toEqual([
      "config:added",
      "config:changed",
      "config:off",
      "config:same",
    ]);
  });

  it("that was made elsewhere while the gateway runs is seen", async () => {
    const { said, pass, store } = run({});
    await pass(MINUTE);
    const port = schedulesPort(store, () => now);
    const spec = { at: minute(2), text: "hello", to, enabled: true } as const;
    await port.add({ ...spec, to: { platform: "slack", chat: "C1" } });
    await pass(MINUTE);
    expect(said).toEqual([[2, "hello"]]);
    expect(store.list()).toEqual([]);
  });
});

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

  it("that is wrong, has seconds or is never due is a problem of the config", async () => {
    const schedules = { ok: "0 9 * * *", wrong: "61 * * * *", six: "0 0 9 * * *", never: "0 0 30 2 *" };
    const entries = Object.entries(schedules).map(([name, cron]) => [name, { cron, text: "x", to }]);
    const problems = await checkSchedules(config(Object.fromEntries(entries)));
    expect(problems.map(({ path }) => path)).toEqual([
      "schedules.wrong.cron",
      "schedules.six.cron",
      "schedules.never.cron",
    ]);
    expect(problems[2]?.message).toBe("is never due");
  });

  it("runs", async () => {
    const { said, pass } = run({ daily: { cron: "15,45 * * * *", text: "now", to } });
    await pass(HOUR);
    expect(said.map(([at]) => at)).toEqual([15, 45]);
  });
});

describe("a time that passed while the gateway was down", () => {
  const schedules = {
    once: { at: minute(30), prompt: "once?", to },
    steps: { every: "10m", prompt: "steps?", to },
    hourly: { cron: "0 * * * *", text: "hourly", to },
  };

  /** A gateway that goes down at once, and another after some minutes. */
  async function away(minutes: number) {
    const before = run(schedules);
    await before.pass(0);
    await before.runner.stop(0);
    now = START + minutes * MINUTE;
    const after = run(schedules);
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
    expect(logged.filter((line) => line.startsWith("runs of a schedule were missed"))).toHaveLength(2);
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
    now += 8 * 24 * HOUR;
    await pass(5_000);
    expect(runner.health().missed).toBe(1_151 + 192);
    const old = database.prepare("SELECT count(*) AS n FROM schedule_runs WHERE at < ?");
    expect(old.get(now - 7 * 24 * HOUR)).toEqual({ n: 0 });
  });

  it("stays with one run where there are more times than are counted", async () => {
    const minutely = { each: { cron: "* * * * *", text: "each", to } };
    const before = run(minutely);
    await before.pass(0);
    await before.runner.stop(0);
    now = START + 2_000 * MINUTE + 1_000;
    const { said, requests, pass, runner } = run(minutely);
    await pass(0);
    expect(said).toHaveLength(1);
    expect(requests[0]?.id).toBe(`schedule:config:each:${START + 2_000 * MINUTE}`);
    expect(runner.health()).toMatchObject({ missed: 999, nextAt: minute(2_001) });
  });
});

describe("what goes wrong", () => {
  const never = new Promise<Said>(() => {});
  const down = () => new RetryableError("channel_failed", "no answer");

  it("a run that a crash interrupts is finished by the next start, under its id, and none is doubled", async () => {
    const one = { one: { at: minute(5), text: "tea", to }, beat: { every: "5m", text: "tick", to } };
    const crashed = run(one, { say: () => never });
    void crashed.pass(5 * MINUTE);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(crashed.requests).toHaveLength(2);
    now = START + 6 * MINUTE;
    const next = run(one);
    await next.pass(3 * MINUTE);
    expect(next.requests.map(({ id }) => id)).toEqual(crashed.requests.map(({ id }) => id));
    await next.runner.stop(0);
    const last = run(one);
    await last.pass(0);
    expect(last.said).toEqual([]);
    expect(last.runner.health()).toEqual({ count: 1, nextAt: minute(10), missed: 0 });
  });

  it("is tried again after growing waits, up to an hour, then recorded as failed", async () => {
    const { said, pass, store } = run(
      { one: { at: minute(1), text: "tea", to } },
      { say: async () => Promise.reject(down()) },
    );
    await pass(MINUTE + 60_000);
    expect(said.map(([at]) => Math.round((at - 1) * 60))).toEqual([0, 5, 15, 35]);
    await pass(2 * HOUR);
    expect(said.at(-1)?.[0]).toBeGreaterThan(50);
    expect(said.at(-1)?.[0]).toBeLessThanOrEqual(61);
    expect(store.get("config:one")).toMatchObject({ lastOutcome: "failed: no answer" });
    expect(logged.filter((line) => line.startsWith("a scheduled run failed {"))).toHaveLength(1);
  });

  it("what cannot pass is recorded as failed at once", async () => {
    const { said, pass, store } = run(
      { one: { at: minute(1), text: "tea", to } },
      { say: async () => Promise.reject(new Error("no such chat")) },
    );
    await pass(2 * HOUR);
    expect(said).toHaveLength(1);
    expect(store.get("config:one")).toMatchObject({ lastOutcome: "failed: internal error, see the log" });
    expect(logged.join("\n")).toContain("no such chat");
  });

  it("a store that is full or locked for a moment costs no run", async () => {
    let failures = 1;
    const full = Object.assign(new Error("database or disk is full"), { errcode: 13 });
    const { said, pass, store } = run(
      { one: { at: minute(1), text: "tea", to } },
      { say: async () => (failures-- > 0 ? Promise.reject(full) : "said") },
    );
    await pass(2 * MINUTE);
    expect(said).toHaveLength(2);
    expect(store.get("config:one")).toMatchObject({ lastOutcome: "said" });
  });

  it("a run that is not ended yet holds up only its own schedule, and no runs pile up", async () => {
    let working = true;
    const { said, pass, runner } = run(
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
    const { said, pass } = run({ beat: { every: "10m", text: "tick", to } });
    await pass(0);
    now += 24 * HOUR;
    await pass(5_000);
    expect(said).toHaveLength(1);
    now = START + 11 * MINUTE;
    await pass(30 * MINUTE);
    expect(said.slice(1).map(([at]) => at)).toEqual([20, 30, 40]);
  });

  it("tries again after a clock was set back as soon as it would have", async () => {
    let down = true;
    const { said, pass } = run(
      { one: { at: minute(1), text: "tea", to } },
      { say: async () => (down ? Promise.reject(new RetryableError("channel_failed", "down")) : "said") },
    );
    await pass(0);
    now += 24 * HOUR - MINUTE;
    await pass(5_000);
    expect(said).toHaveLength(1);
    down = false;
    now = START + 2 * MINUTE;
    await pass(5_000);
    expect(said).toHaveLength(2);
  });

  it("goes on where the clock was set back while nobody looked", async () => {
    let down = false;
    const schedules = { beat: { every: "10m", text: "tick", to }, one: { at: minute(1), text: "tea", to } };
    const say = async (): Promise<Said> => {
      if (down) throw new RetryableError("channel_failed", "down");
      return "said";
    };
    const ahead = run(schedules, { say });
    await ahead.pass(0);
    now += 23 * HOUR;
    down = true;
    await ahead.pass(5_000);
    await ahead.runner.stop(0);

    down = false;
    now = START + 11 * MINUTE;
    const { said, pass } = run(schedules, { say });
    await pass(30 * MINUTE);
    expect(said.filter(([, what]) => what === "tea").map(([at]) => at)).toEqual([11]);
    expect(said.filter(([, what]) => what !== "tea").map(([at]) => at)).toEqual([11, 20, 30, 40]);
  });

  it("is told where one cannot be worked out, such as one of another version, and the others run", async () => {
    const first = run({
      odd: { cron: "* * * * *", text: "odd", to },
      beat: { every: "1m", text: "tick", to },
    });
    await first.pass(0);
    await first.runner.stop(0);
    database.exec("UPDATE schedules SET id = 'cli:1', source = 'cli' WHERE id = 'config:odd'");
    database.exec(`UPDATE schedules SET spec = json_set(spec, '$.cron', '* * 99 * *') WHERE id = 'cli:1'`);

    const { said, pass } = run({ beat: { every: "1m", text: "tick", to } });
    await pass(3 * MINUTE + 1_000);
    expect(said.map(([, what]) => what)).toEqual(["tick", "tick", "tick"]);
    expect(logged.join("\n")).toContain('a schedule cannot be worked out {"id":"cli:1"');
  });

  it("is told where the table cannot be worked on, and looked at again", async () => {
    const { pass, said } = run({ one: { every: "1m", text: "tick", to } });
    await pass(0);
    database.exec("ALTER TABLE schedules RENAME TO away");
    await pass(90_000);
    expect(logged.some((line) => line.startsWith("the schedules cannot be worked on"))).toBe(true);
    database.exec("ALTER TABLE away RENAME TO schedules");
    await pass(90_000);
    expect(said.length).toBeGreaterThan(0);
  });
});

describe("heartbeat", () => {
  it("is a schedule whose answer may be nothing, and a restart does not move it", async () => {
    const agent = { heartbeat: { every: "30m", to } };
    const first = run({}, { agent });
    await first.pass(20 * MINUTE);
    await first.runner.stop(0);
    const { requests, said, pass } = run({}, { agent });
    await pass(20 * MINUTE);
    expect(said.map(([at]) => at)).toEqual([30]);
    expect(requests[0]).toMatchObject({
      name: "heartbeat",
      silence: "HEARTBEAT_OK",
      prompt: "If something needs attention, say it; else answer exactly HEARTBEAT_OK",
    });
  });
});

describe("schedules of a chat", () => {
  const chat = { platform: "slack", chat: "C1" } as const;
  const spec = { every: "1m", text: "tick", to: chat, enabled: true };

  it("are seen and removed in that chat alone, and one of the config only in the config", async () => {
    const { store, pass } = run({ own: { every: "1h", text: "x", to } });
    await pass(0);
    const port = schedulesPort(store, () => now);
    const { id, nextAt } = await port.add(spec);
    expect(nextAt).toBe(minute(1));
    expect(port.list(chat).map((one) => one.id)).toEqual([id, "config:own"]);
    const other = { platform: "slack", chat: "C2" } as const;
    expect(port.list(other)).toEqual([]);
    expect(() => port.remove(id, other)).toThrow("No schedule has the id");
    expect(() => port.remove("config:own", chat)).toThrow("is in the config file");
    port.remove(id, chat);
    expect(port.list(chat).map((one) => one.id)).toEqual(["config:own"]);
  });

  it("are refused where they are past, too often, wrong or too many", async () => {
    const port = schedulesPort(new ScheduleStore(database), () => now);
    const refused = async (when: object) => {
      const { every: _, ...rest } = spec;
      await expect(port.add({ ...rest, ...when })).rejects.toMatchObject({ code: "schedule_invalid" });
    };
    await refused({ at: minute(0) });
    await refused({ every: "59s" });
    await refused({ cron: "* * * *" });
    for (let count = 0; count < 100; count += 1) await port.add(spec);
    await refused({ every: "1m" });
  });
});
