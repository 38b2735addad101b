import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pauseSchedule, resumeSchedule, schedulesPort } from "../../../runtime/gateway/schedules/port.ts";
import { ScheduleStore } from "../../../runtime/gateway/schedules/store.ts";
import { config, HOUR, minute, MINUTE, ScheduleStage, START, to } from "../support/schedules.ts";

let stage: ScheduleStage;
beforeEach(() => {
  stage = new ScheduleStage();
});
afterEach(() => stage.close());

describe("a schedule", () => {
  it("at a time runs once, then and only then", async () => {
    const { said, requests, pass, runner } = stage.run({ one: { at: minute(5), text: "tea", to } });
    await pass(5 * MINUTE - 1);
    expect([said, runner.health()]).toEqual([[], { count: 1, nextAt: minute(5), missed: 0, failed: 0 }]);
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
        admission: { by: "schedule", madeBy: [], sendElsewhere: [] },
        text: "tea",
      },
    ]);
    expect(runner.health()).toEqual({ count: 0, missed: 0, failed: 0 });
  });

  it("waits in the sandbox that serves the rest, and runs in that of its chat", async () => {
    const before = stage.run({ one: { at: minute(5), text: "tea", to } });
    await before.runner.stop(0);
    const rest = stage.run({}, { serves: "rest" });
    await rest.pass(HOUR);
    expect([rest.said, rest.runner.health()]).toEqual([[], { count: 1, missed: 0, failed: 0 }]);
    expect(rest.store.list()).toHaveLength(1);
    await rest.runner.stop(0);
    const own = stage.run({ one: { at: minute(5), text: "tea", to } }, { serves: "slack-C1" });
    await own.pass(MINUTE);
    expect(own.said).toEqual([[60, "tea"]]);
  });

  it("in equal steps counts them from its making, also over a restart", async () => {
    const first = stage.run({ beat: { every: "10m", text: "tick", to } });
    await first.pass(25 * MINUTE);
    await first.runner.stop(0);
    const second = stage.run({ beat: { every: "10m", text: "tick", to } });
    await second.pass(10 * MINUTE);
    expect([...first.said, ...second.said].map(([at]) => at)).toEqual([10, 20, 30]);
  });

  it("is taken over from a changed config: anew, changed, switched off, gone", async () => {
    const { said, pass, runner, store } = stage.run({
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
    const { said, pass, store } = stage.run({});
    await pass(MINUTE);
    const port = schedulesPort(store, () => stage.now);
    const spec = { at: minute(2), text: "hello", to, enabled: true } as const;
    await port.add({ ...spec, to: { platform: "slack", chat: "C1" } }, ["person"]);
    await pass(MINUTE);
    expect(said).toEqual([[2, "hello"]]);
    expect(store.list()).toEqual([]);
  });
});

describe("heartbeat", () => {
  it("is a schedule whose answer may be nothing, and a restart does not move it", async () => {
    const agent = { heartbeat: { every: "30m", to } };
    const first = stage.run({}, { agent });
    await first.pass(20 * MINUTE);
    await first.runner.stop(0);
    const { requests, said, pass } = stage.run({}, { agent });
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
  const spec = { every: "15m", text: "tick", to: chat, enabled: true };

  it("are seen and removed in that chat alone, and one of the config only in the config", async () => {
    const { store, pass } = stage.run({ own: { every: "1h", text: "x", to } });
    await pass(0);
    const port = schedulesPort(store, () => stage.now);
    const { id, nextAt } = await port.add(spec, ["person"]);
    expect(nextAt).toBe(minute(15));
    expect(port.list(chat).map((one) => one.id)).toEqual([id, "config:own"]);
    const other = { platform: "slack", chat: "C2" } as const;
    expect(port.list(other)).toEqual([]);
    expect(() => port.remove(id, other)).toThrow("No schedule has the id");
    expect(() => port.remove("config:own", chat)).toThrow("is in the config file");
    port.remove(id, chat);
    expect(port.list(chat).map((one) => one.id)).toEqual(["config:own"]);
  });

  it("run with the roles of their makers, also over a restart and a pause", async () => {
    const first = stage.run({});
    const port = schedulesPort(first.store, () => stage.now);
    const { id } = await port.add({ ...spec, prompt: "look", text: undefined }, ["group", "guest"]);
    pauseSchedule(first.store, id);
    await resumeSchedule(first.store, id, stage.now);
    await first.runner.stop(0);
    const { requests, pass } = stage.run({});
    await pass(15 * MINUTE);
    expect(requests.map(({ admission }) => admission)).toEqual([
      { by: "schedule", madeBy: ["group", "guest"], sendElsewhere: [] },
    ]);
  });

  it("of a version that recorded no makers act as a group; makers that are not known grant the least", async () => {
    const { store, requests, pass } = stage.run({});
    const old = { id: "chat:0", source: "chat", createdAt: stage.now, nextAt: stage.now + MINUTE } as const;
    const known = { ...spec, to: { platform: "slack", chat: "C1" } } as const;
    // The table has no column for makers until a chat makes a schedule.
    store.put({ ...old, spec: known });
    expect(store.get("chat:0")).not.toHaveProperty("madeBy");
    store.put({ ...old, id: "chat:1", spec: known, madeBy: ["person"] });
    stage.database.exec(`UPDATE schedules SET made_by = '["owner"]' WHERE id = 'chat:1'`);
    await pass(2 * MINUTE);
    expect(requests.map(({ admission }) => admission)).toEqual([
      { by: "schedule", madeBy: [], sendElsewhere: [] },
      { by: "schedule", madeBy: ["guest"], sendElsewhere: [] },
    ]);
  });

  it("are refused where they are past, too often, wrong or too many", async () => {
    const port = schedulesPort(new ScheduleStore(stage.database), () => stage.now);
    const refused = async (when: object) => {
      const { every: _, ...rest } = spec;
      await expect(port.add({ ...rest, ...when }, ["person"])).rejects.toMatchObject({
        code: "schedule_invalid",
      });
    };
    await refused({ at: minute(0) });
    await refused({ every: "14m" });
    await refused({ cron: "* * * *" });
    await refused({ cron: "0,5 9 * * *", timezone: "UTC" });
    for (let count = 0; count < 10; count += 1) await port.add(spec, ["person"]);
    await refused({ every: "1h" });
    // The other chats have theirs, a hundred in all.
    for (let count = 10; count < 100; count += 1) {
      await port.add({ ...spec, to: { platform: "slack", chat: `C${Math.floor(count / 10)}0` } }, ["person"]);
    }
    await refused({ every: "1h", to: { platform: "slack", chat: "C99" } });
  });
});
