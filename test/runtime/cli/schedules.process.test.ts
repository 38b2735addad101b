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
  const { id } = await json("add", "--to", "slack:C1", "--cron", "0 9 1 1 *", "--text", "- stand up");
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

test("a list says when in words, with the next three runs", async () => {
  const { json, id } = await commandLine();
  const [yearly] = (await json("list")).schedules;
  expect(yearly.next[0].at).toBe(yearly.nextAt);
  await json("edit", id, "--cron", "0 9 * * 1-5");
  const [listed] = (await json("list")).schedules;
  expect(listed.words).toBe("At 09:00, Monday through Friday");
  expect(listed.next.map((one: { at: string }) => one.at.slice(10))).toEqual(Array(3).fill("T09:00:00.000Z"));
  expect(listed.next[0].local).toContain(", 09:00 UTC");
});

test("a schedule is edited: it keeps its id, its last run and what is not given", async () => {
  const { run, json, id, stored } = await commandLine();
  await run("run", id);
  stored((store) => store.pending(Date.now()).map((one) => store.end(one, "done", "sent", Date.now())));
  const [before] = (await json("list")).schedules;
  expect((await run("edit", id, "--text", "- sit down")).stdout).toBe(
    `Changed ${id}, due ${before.nextAt}.\n`,
  );
  expect((await json("list")).schedules).toEqual([{ ...before, text: "- sit down" }]);
  await json("edit", id, "--timezone", "Europe/Berlin");
  await json("edit", id, "--cron", "0 10 * * *", "--to", "telegram:-100", "--prompt", "What is new?");
  const [after] = (await json("list")).schedules;
  expect(after).toMatchObject({
    id,
    to: { platform: "telegram", chat: "-100" },
    cron: "0 10 * * *",
    timezone: "Europe/Berlin",
    prompt: "What is new?",
    lastOutcome: "sent",
  });
  expect(after.text).toBeUndefined();
  expect((await json("history")).runs).toMatchObject([{ schedule: id, state: "done" }]);
});

test("a paused schedule that is edited stays paused, and a wrong change changes nothing", async () => {
  const { json, id, stored } = await commandLine();
  await json("pause", id);
  expect(await json("edit", id, "--every", "2h")).toEqual({ id, nextAt: null });
  const before = (await json("list")).schedules;
  expect(before).toMatchObject([{ every: "2h", enabled: false, nextAt: null, next: [] }]);
  for (const wrong of [
    ["--cron", "daily"],
    ["--every", "1h", "--at", "2027-01-31T09:00:00Z"],
    ["--every", "10s"],
    ["--at", "2020-01-01T00:00:00Z"],
    ["--to", "irc:C1"],
  ])
    expect(await json("edit", id, ...wrong)).toMatchObject({ error: { code: "schedule_invalid" } });
  expect((await json("list")).schedules).toEqual(before);
  expect(await json("edit", "cli:none", "--every", "1h")).toMatchObject({
    error: { code: "schedule_unknown" },
  });
  const spec = { to: { platform: "slack", chat: "C1" }, every: "1h", text: "x", enabled: true } as const;
  stored((store) => store.put({ id: "config:x", source: "config", spec, createdAt: 0, nextAt: 1 }));
  expect((await json("edit", "config:x", "--every", "2h")).error.message).toContain("edit it there");
});

test("what is wrong with a schedule is said by option, each once", async () => {
  const { json, run } = await commandLine();
  for (const [words, problem] of [
    [
      ["--to", "nowhere", "--every", "1h", "--text", "x"],
      "to: must be a platform and a chat, such as slack:C0123456789",
    ],
    [
      ["--to", "slack:C1", "--at", "tomorrow", "--text", "x"],
      "at: must be a time such as 2027-01-31T09:00:00Z",
    ],
    [["--to", "slack:C1"], "needs exactly one of at, every, cron; needs exactly one of text, prompt"],
  ] as const)
    expect(await json("add", ...words)).toMatchObject({ error: { message: problem } });
  expect((await run("preview")).stderr).toMatch(
    /^needs exactly one of at, every, cron\nFix: Correct the named fields\./,
  );
});

test("an edited schedule keeps its thread and the rights of its makers", async () => {
  const { json, stored } = await commandLine();
  const to = { platform: "slack", chat: "C2", thread: "1.5" } as const;
  const spec = { to, every: "1h", prompt: "x", enabled: true, sendElsewhere: [] };
  stored((store) =>
    store.put({ id: "chat:1", source: "chat", spec, madeBy: ["guest"], createdAt: 0, nextAt: 1 }),
  );
  await json("edit", "chat:1", "--to", "slack:C2", "--prompt", "y");
  expect(stored((store) => store.get("chat:1"))).toMatchObject({
    source: "chat",
    madeBy: ["guest"],
    createdAt: 0,
    nextAt: 1,
    spec: { to, prompt: "y", sendElsewhere: [] },
  });
  await json("edit", "chat:1", "--to", "slack:C3");
  expect(stored((store) => store.get("chat:1")?.spec.to)).toEqual({ platform: "slack", chat: "C3" });
});

test("a local time once is read in its time zone", async () => {
  const { json, id } = await commandLine();
  const at = "2090-07-01 09:00";
  const added = await json(
    "add",
    "--to",
    "slack:C1",
    "--at",
    at,
    "--timezone",
    "Europe/Berlin",
    "--text",
    "x",
  );
  expect(added.nextAt).toBe("2090-07-01T07:00:00.000Z");
  expect(await json("edit", id, "--at", at)).toEqual({ id, nextAt: "2090-07-01T09:00:00.000Z" });
});

test("a preview shows the next runs and adds nothing", async () => {
  const { run, json } = await commandLine();
  const { stdout } = await run("preview", "--cron", "0 9 * * 1", "--timezone", "Europe/Berlin");
  expect(stdout).toMatch(/^At 09:00, only on Monday:\n(?: {2}Mon \d+ \w{3,4} \d{4}, 09:00 CES?T\n){3}$/);
  expect((await json("preview", "--cron", "daily")).error.message).toContain("must be five fields");
  expect((await json("preview", "--every", "10s")).error.message).toContain("1m or more apart");
  expect((await json("list")).schedules).toHaveLength(1);
});
