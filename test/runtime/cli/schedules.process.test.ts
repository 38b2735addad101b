import { join } from "node:path";
import { expect, test } from "vitest";
import { ScheduleStore } from "../../../runtime/gateway/schedules/store.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { stewardHere } from "../support/cli.ts";
import { writeConfig } from "../support/gateway.ts";
import { SECRETS, temporaryDirectory } from "../support/processes.ts";

async function commandLine() {
  const home = await temporaryDirectory();
  await writeConfig(home);
  const run = (...args: string[]) => stewardHere({ ...SECRETS, STEWARD_HOME: home }, "schedules", ...args);
  const json = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);
  const { id } = await json("add", "--to", "slack:C1", "--cron", "0 9 * * 1-5", "--text", "- stand up");
  const stored = <T>(read: (store: ScheduleStore) => T): T => {
    using database = openStore(join(home, "state.db"));
    return read(new ScheduleStore(database));
  };
  return { run, json, id, stored };
}

test("a schedule is paused, and due again once it is resumed", async () => {
  const { run, json, id } = await commandLine();
  const [before] = (await json("list")).schedules;
  expect(before.text).toBe("- stand up");
  expect(await run("pause", id)).toMatchObject({ code: 0, stdout: `Paused ${id}.\n` });
  expect((await json("list")).schedules).toMatchObject([{ id, enabled: false, nextAt: null }]);
  expect((await run("list")).stdout).toMatch(/ off /);
  expect((await run("resume", id)).stdout).toBe(`Resumed ${id}, due ${before.nextAt}.\n`);
  expect((await json("list")).schedules).toEqual([before]);
  for (const verb of ["pause", "resume", "run"])
    expect(await json(verb, "cli:none")).toMatchObject({ error: { code: "schedule_unknown" } });
});

test("a schedule is run once beside its times, and its runs are listed", async () => {
  const { run, json, id, stored } = await commandLine();
  expect(await run("history")).toMatchObject({ stdout: "No runs.\n" });
  const [{ nextAt }] = (await json("list")).schedules;
  expect(await run("run", id)).toMatchObject({ code: 0 });
  expect(stored((store) => store.pending(Date.now()))).toMatchObject([{ schedule: { id } }]);
  expect((await json("history")).runs).toMatchObject([{ schedule: id, state: "pending", count: 1 }]);
  expect(await json("run", id)).toMatchObject({ error: { code: "schedule_invalid" } });
  stored((store) => store.pending(Date.now()).map((one) => store.end(one, "done", "sent", Date.now())));
  expect((await json("history")).runs).toMatchObject([{ schedule: id, state: "done", note: "sent" }]);
  expect((await json("list")).schedules).toMatchObject([{ nextAt, lastOutcome: "sent" }]);
});

test("a schedule of the config is paused there, and says so", async () => {
  const { json, stored } = await commandLine();
  const spec = { to: { platform: "slack", chat: "C1" }, every: "1h", text: "x", enabled: true } as const;
  stored((store) => store.put({ id: "config:x", source: "config", spec, createdAt: 0, nextAt: 1 }));
  expect(await json("pause", "config:x")).toMatchObject({ error: { code: "schedule_invalid" } });
  expect((await json("pause", "config:x")).error.message).toContain("set enabled there");
});
