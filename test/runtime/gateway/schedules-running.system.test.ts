import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { addSchedule } from "../../../runtime/gateway/schedules/port.ts";
import { ScheduleStore } from "../../../runtime/gateway/schedules/store.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { steward } from "../support/cli.ts";
import { askJson, deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { json, modelStream } from "../support/platforms.ts";
import { eventually, startRuntime } from "../support/processes.ts";

const to = { platform: "slack", chat: "C1" } as const;
const soon = (ms = 1_000): string => new Date(Date.now() + ms).toISOString();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("what is due is said once, in its thread, and the status tells when the next one is", async () => {
  const { home, url, environment, slack } = await surroundings();
  const at = soon(15_000);
  const later = "2099-01-01T00:00:00.000Z";
  await writeConfig(
    home,
    {},
    {
      schedules: {
        tea: { at, text: "tea & cake", to: { ...to, thread: "100.1" } },
        later: { at: later, text: "later", to },
      },
    },
  );
  const gateway = await startGateway(environment);
  const status = () => askJson<GatewayStatus>(`${url}/status`);
  await eventually(async () => (await status()).schedules.count === 2);
  expect((await status()).schedules).toEqual({ count: 2, nextAt: at, missed: 0, failed: 0 });

  await eventually(() => slack.calls.length > 0);
  await eventually(async () => (await status()).schedules.nextAt === later);
  expect((await status()).schedules).toEqual({ count: 1, nextAt: later, missed: 0, failed: 0 });
  expect(slack.posts()).toEqual([{ channel: "C1", text: "tea &amp; cake", thread: "100.1" }]);

  gateway.kill("SIGTERM");
  expect(await gateway.exited).toBe(0);
  await startGateway(environment);
  await pause(500);
  expect(slack.calls).toHaveLength(1);
});

test("a prompt is answered in turn with the messages of its chat, and is in its transcript", async () => {
  const { home, url, environment, model, slack } = await surroundings();
  await startGateway(environment);
  let answerFirst = (): void => {};
  const first = new Promise<void>((resolve) => (answerFirst = resolve));
  model.next(async (response, call) => {
    await first;
    await modelStream("first")(response, call);
  });

  const answered = deliver(url, delivery("Ev1"));
  await eventually(() => model.calls.length === 1);
  const database = openStore(join(home, "state.db"));
  const spec = { at: soon(200), prompt: "any news?", to, enabled: true };
  await addSchedule(new ScheduleStore(database), "cli", spec, Date.now());
  await eventually(() => database.prepare("SELECT 1 FROM schedule_runs").get());
  database.close();
  await pause(200);
  expect(model.calls).toHaveLength(1);
  answerFirst();
  await answered;
  await eventually(() => slack.calls.length === 2);

  expect(slack.posts().map(({ text }) => text)).toEqual(["first", "You said: any news?"]);
  expect(model.asked()[1]).toEqual(["user: hello", "assistant: first", "user: any news?"]);
});

test("a heartbeat with nothing to say is not sent, one with something is", async () => {
  const { home, environment, model, slack } = await surroundings();
  await writeConfig(home, {}, { agent: { heartbeat: { every: "1s", to, prompt: "well?" } } });
  model.next(modelStream(" HEARTBEAT_OK\n"), modelStream("look out"));
  await startGateway(environment);

  await eventually(() => slack.calls.length > 0);

  expect(model.calls.length).toBeGreaterThanOrEqual(2);
  expect(slack.posts()[0]?.text).toBe("look out");
});

test.each([
  ["before the platform has it", false, 1],
  ["after the platform took it, and before that is recorded", true, 2],
])("killed %s: the next start says it, under the same id", async (_, taken, posts) => {
  const { home, url, environment, model, slack } = await surroundings();
  await writeConfig(home, {}, { schedules: { news: { at: soon(), prompt: "any news?", to } } });
  // The documented repeat: the stand-in keeps the message, and the gateway never learns of it.
  if (taken) slack.next(() => {});
  else model.next(() => {});
  const first = await startGateway(environment);

  await eventually(() => (taken ? slack : model).calls.length === 1);
  first.kill("SIGKILL");
  await first.exited;
  await startGateway(environment);
  await eventually(() => slack.calls.length === posts);
  await eventually(
    async () => (await askJson<GatewayStatus>(`${url}/status`)).schedules.nextAt === undefined,
  );
  await pause(500);

  expect(slack.posts().map(({ text }) => text)).toEqual(Array(posts).fill("You said: any news?"));
  // An answer that was made is sent, and not made anew.
  expect(model.calls).toHaveLength(taken ? 1 : 2);
});

test("killed again and again while it runs: every time is accounted for, at most one message a kill is repeated", async () => {
  const { home, environment, slack } = await surroundings();
  await writeConfig(home, {}, { schedules: { tick: { every: "1s", text: "tick", to } } });
  const waits = [1_010, 1_400, 990, 700, 1_005];
  for (const wait of waits) {
    const gateway = await startGateway(environment);
    await pause(wait);
    gateway.kill("SIGKILL");
    await gateway.exited;
  }
  const last = await startGateway(environment);
  const before = slack.calls.length;
  await eventually(() => slack.calls.length > before + 1);
  last.kill("SIGTERM");
  expect(await last.exited).toBe(0);

  const database = openStore(join(home, "state.db"));
  const runs = database.prepare("SELECT state, count, due_at FROM schedule_runs ORDER BY due_at").all();
  database.close();
  const times = (state: string) =>
    runs.filter((run) => run["state"] === state).reduce((sum, run) => sum + Number(run["count"]), 0);
  const done = times("done");
  const [begin, end] = [runs[0], runs.at(-1)];
  const until = Number(end?.["due_at"]) + (Number(end?.["count"]) - 1) * 1_000;
  const span = until - Number(begin?.["due_at"]);
  expect(done + times("missed")).toBe(span / 1_000 + 1);
  expect(times("pending") + times("failed")).toBe(0);
  expect(slack.calls.length).toBeGreaterThanOrEqual(done);
  expect(slack.calls.length).toBeLessThanOrEqual(done + waits.length);
});

test("a platform that refuses is asked again", async () => {
  const { home, environment, slack } = await surroundings();
  await writeConfig(home, {}, { schedules: { tea: { at: soon(), text: "tea", to } } });
  slack.next(json(500, { ok: false }));
  const gateway = await startGateway(environment);

  await eventually(() => slack.calls.length === 2);

  expect(gateway.stdout()).toContain("a scheduled run failed and will be retried");
});

test("a wrong cron expression ends the start, told like every problem of the config", async () => {
  const { home, environment } = await surroundings();
  await writeConfig(home, {}, { schedules: { odd: { cron: "61 * * * *", text: "x", to } } });

  const gateway = startRuntime("gateway/main.ts", environment);

  expect(await gateway.exited).toBe(1);
  expect(gateway.stderr()).toContain("- schedules.odd.cron: is not a cron expression of five fields");
});

test("a time in the config that is long past is told and stops nothing", async () => {
  const { home, url, environment, slack } = await surroundings();
  await writeConfig(home, {}, { schedules: { old: { at: "2020-01-01T00:00:00Z", text: "x", to } } });

  const gateway = await startGateway(environment);

  await eventually(() => gateway.stdout().includes("a schedule in the config has already passed"));
  expect((await askJson<GatewayStatus>(`${url}/status`)).schedules).toEqual({
    count: 0,
    missed: 0,
    failed: 0,
  });
  expect(slack.calls).toHaveLength(0);
});

test("the command line adds, lists and removes, with the gateway up or down", async () => {
  const { home, environment, slack } = await surroundings();
  const run = async (...args: string[]) => steward(environment, "schedules", ...args);
  await writeFile(join(home, "steward.json"), "{}");
  expect(await run("list")).toEqual({ code: 0, stdout: "No schedules.\n", stderr: "" });
  expect(await readdir(home)).toEqual(["steward.json"]);
  // The file of a version that knows no schedules, or of the host's ledger alone.
  const database = new DatabaseSync(join(home, "state.db"), { timeout: 10_000 });
  database.exec("CREATE TABLE other (seq INTEGER)");
  database.close();
  const before = await readFile(join(home, "state.db"));
  expect((await run("list", "--json")).stdout).toBe('{\n  "schedules": []\n}\n');
  expect(await readFile(join(home, "state.db"))).toEqual(before);
  await writeConfig(home);

  const wrong = await run("add", "--to", "slack:C1", "--every", "10s", "--text", "tick");
  expect([wrong.code, wrong.stderr.split("\n")[0]]).toEqual([1, "every: two runs must be 1m or more apart"]);
  expect((await run("add", "--to", "irc:C1", "--every", "1m", "--text", "tick")).stderr).toContain(
    "to: must be a platform and a chat, such as slack:C0123456789",
  );
  expect((await run("add", "--to", "slack:C1", "--every", "1m", "--at", soon(), "--text", "x")).code).toBe(1);
  expect((await run("add", "--to", "slack:C1", "--every", "1m")).stderr).toContain(
    "exactly one of text or prompt",
  );

  const cron = ["--cron", "0 9 * * 1-5", "--timezone", "Europe/Berlin"];
  const added = await run(
    "add",
    "--to",
    "slack:C1",
    "--thread",
    "1.2",
    ...cron,
    "--prompt",
    "plan?",
    "--json",
  );
  const { id, nextAt } = JSON.parse(added.stdout);
  const listed = await run("list");
  expect(listed.stdout.split("\n")[1]?.split(/ {2,}/)).toEqual([
    id,
    nextAt,
    "0 9 * * 1-5 Europe/Berlin",
    "slack:C1:1.2",
    "plan?",
  ]);

  await startGateway(environment);
  const tea = await run("add", "--to", "slack:C1", "--at", soon(15_000), "--text", "tea", "--json");
  expect(tea.code).toBe(0);
  await eventually(() => slack.calls.length === 1);
  expect(slack.posts()[0]?.text).toBe("tea");
  await eventually(async () => JSON.parse((await run("list", "--json")).stdout).schedules.length === 1);

  expect(await run("remove", id)).toEqual({ code: 0, stdout: `Removed ${id}.\n`, stderr: "" });
  const again = await run("remove", id, "--json");
  expect([again.code, JSON.parse(again.stdout).error.code]).toEqual([1, "schedule_unknown"]);
});
