import { join } from "node:path";
import { expect, test } from "vitest";
import { ScheduleStore } from "../../../runtime/gateway/schedules/store.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { createOperations } from "../../../runtime/supervisor/operations.ts";
import { systemTimers } from "../../../runtime/supervisor/timers.ts";
import { writeConfig } from "../support/gateway.ts";
import { pairingStore } from "../support/pairing.ts";
import { programOf, SECRETS, temporaryDirectory } from "../support/processes.ts";
import { deviceStore } from "../support/webchat.ts";

/** The operations as a page runs them, in processes of their own, beside the stores. */
async function stage() {
  const home = await temporaryDirectory();
  await writeConfig(home);
  const configPath = join(home, "steward.json");
  const environment = { ...SECRETS, STEWARD_HOME: home };
  const cli = [process.execPath, programOf("gateway/cli/main.ts")] as const;
  const operate = createOperations({ cli, environment, configPath, timers: systemTimers });
  const run = async (operation: string, input: object) => {
    const reply = await operate({ operation, input });
    return reply.ok ? (reply.value as { undo: string }) : { undo: "", refused: reply.error.code };
  };
  const restore = async (record: string) => await run("undo", { record });
  const schedules = <T>(act: (store: ScheduleStore) => T): T => {
    using database = openStore(join(home, "state.db"));
    return act(new ScheduleStore(database));
  };
  return { home, run, restore, schedules };
}

const CHANGED = { undo: "", refused: "undo_changed" };
const SPEC = { to: { platform: "slack", chat: "C1" }, every: "1h", enabled: true } as const;

test("a removed schedule is back with its times, its makers and its pending run; its history stays", async () => {
  const { run, restore, schedules } = await stage();
  schedules((store) => {
    store.put({
      id: "chat:1",
      source: "chat",
      spec: { ...SPEC, text: "x" },
      madeBy: ["person"],
      createdAt: 1,
      nextAt: 2,
    });
    store.runNow("chat:1", 10);
    for (const one of store.pending(10)) store.end(one, "done", "sent", 11);
    store.runNow("chat:1", 20);
  });
  const before = schedules((store) => [store.list(), store.pending(30)]);
  const { undo } = await run("schedules remove", { id: "chat:1" });
  expect(schedules((store) => [store.list(), store.pending(30)])).toEqual([[], []]);
  expect(await restore(undo)).toEqual({});
  expect(schedules((store) => [store.list(), store.pending(30)])).toEqual(before);
  expect(before[0]).toMatchObject([{ madeBy: ["person"], lastOutcome: "sent" }]);
  expect(await restore(undo)).toEqual(CHANGED);
});

test("what was changed on its way is refused, such as a text in which a secret was masked", async () => {
  const { run, restore, schedules } = await stage();
  const text = `the key is ${SECRETS["ANTHROPIC_API_KEY"]}`;
  schedules((store) =>
    store.put({ id: "cli:1", source: "cli", spec: { ...SPEC, text }, createdAt: 1, nextAt: 2 }),
  );
  const { undo } = await run("schedules remove", { id: "cli:1" });
  expect(undo).not.toContain(SECRETS["ANTHROPIC_API_KEY"]);
  for (const record of [undo, "", "x", `${"0".repeat(64)} {}`])
    expect(await restore(record)).toEqual(CHANGED);
  expect(schedules((store) => store.list())).toEqual([]);
});

test("people and browsers of a data directory get back what they had", async () => {
  const { home, run, restore } = await stage();
  const { store: people } = pairingStore(home);
  const { store: browsers } = deviceStore(home);
  people.grant("U1", "operator");
  const asked = people.request("U2", { username: "ann" });
  const device = {
    publicKey: "k".repeat(43),
    displayName: "Firefox",
    platform: "web",
    remoteIp: "192.0.2.1",
  };
  browsers.approve(browsers.request({ ...device, deviceId: "a".repeat(64) })?.requestId ?? "", "operator");
  const request = browsers.request({ ...device, deviceId: "b".repeat(64) });
  const state = () => [
    people.approved(),
    people.operators(),
    people.pending(),
    browsers.paired(),
    browsers.pending(),
  ];
  const before = state();

  for (const [group, verb, input] of [
    ["pairing", "revoke", { channel: "slack", sender: "U1" }],
    ["pairing", "reject", { channel: "slack", code: asked?.code }],
    ["devices", "revoke", { deviceId: "a".repeat(64) }],
    ["devices", "reject", { requestId: request?.requestId }],
  ] as const) {
    const { undo } = await run(`${group} ${verb}`, input);
    expect(state()).not.toEqual(before);
    expect(await restore(undo)).not.toHaveProperty("refused");
    expect(state()).toEqual(before);
    expect(await restore(undo)).toEqual(CHANGED);
  }
});
