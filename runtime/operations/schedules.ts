import * as z from "zod/mini";
import { StewardError } from "../contract/errors.ts";
import type { StoredSchedule } from "../gateway/schedules/store.ts";
import { table } from "../shared/table.ts";
import { always, argument, EVERYWHERE, type Names, operation, option, sealed } from "./operation.ts";

const MOST_RUNS = 50;
const RUNS = `SELECT * FROM schedule_runs ORDER BY at DESC, due_at DESC LIMIT ${MOST_RUNS}`;

const id = () => z.strictObject({ id: argument(z.string(), "as `list` shows it") });
const text = (help: string, shown: string) => option(z.optional(z.string()), help, shown);

const listed = () =>
  z.object({
    id: z.string(),
    source: z.string(),
    to: z.object({ platform: z.string(), chat: z.string(), thread: z.optional(z.string()) }),
    enabled: z._default(z.boolean(), true),
    at: z.optional(z.string()),
    every: z.optional(z.string()),
    cron: z.optional(z.string()),
    timezone: z.optional(z.string()),
    text: z.optional(z.string()),
    prompt: z.optional(z.string()),
    nextAt: z.nullable(z.string()),
    lastAt: z.nullable(z.string()),
    lastOutcome: z.nullable(z.string()),
  });
type Listed = z.infer<ReturnType<typeof listed>>;

/** `steward schedules`. It works on the table; a running gateway sees a change within seconds. */
export const schedules = {
  list: operation({
    name: "schedules list",
    summary: "all schedules, and when each is due next",
    rights: EVERYWHERE,
    output: () => z.object({ schedules: z.array(listed()) }),
    run: async (tools) => ({ schedules: (await tools.listSchedules()).map(shownSchedule) }),
    keys: ({ schedules }) => schedules.map(({ to }) => `${to.platform}:${to.chat}`),
    text: ({ schedules }, _, names) => listText(schedules, names),
  }),
  add: operation({
    name: "schedules add",
    summary: "sends a text, or the agent's answer to a prompt, to a chat",
    rights: EVERYWHERE,
    input: () =>
      z.strictObject({
        to: option(z.string(), "the chat, for example slack:C0123456789", "platform:chat"),
        thread: text("the thread inside the chat", "id"),
        at: text("once, ISO 8601 with its offset", "time"),
        every: text("in equal steps, for example 1h30m", "duration"),
        cron: text("by a cron expression of five fields", "expression"),
        timezone: text("for --cron, for example Europe/Berlin; default UTC", "name"),
        text: text("the text to send", "text"),
        prompt: text("what the agent is asked", "text"),
      }),
    terminalOnly: ["thread"],
    changes: always,
    async run(tools, { to, thread, ...rest }) {
      const { schedule } = await tools.contract.schedules();
      const [platform, ...chat] = to.split(":");
      const address = { platform, chat: chat.join(":"), ...(thread !== undefined && { thread }) };
      const parsed = schedule.safeParse({ ...rest, to: address });
      if (!parsed.success) {
        const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
        throw new StewardError("schedule_invalid", problems.join("; "));
      }
      const { id, nextAt } = await tools.schedules(({ addSchedule }, store) =>
        addSchedule(store, "cli", parsed.data, tools.clock()),
      );
      return { id, nextAt: new Date(nextAt).toISOString() };
    },
    text: ({ id, nextAt }) => `Added ${id}, due ${nextAt}.`,
  }),
  pause: operation({
    name: "schedules pause",
    summary: "switches one off that was made in a chat or here",
    rights: EVERYWHERE,
    input: id,
    changes: always,
    async run(tools, { id }) {
      await tools.schedules(({ pauseSchedule }, store) => pauseSchedule(store, id));
      return { pause: id };
    },
    text: ({ pause }) => `Paused ${pause}.`,
  }),
  resume: operation({
    name: "schedules resume",
    summary: "switches one on again",
    rights: EVERYWHERE,
    input: id,
    changes: always,
    run: async (tools, { id }) => ({
      resume: id,
      nextAt: await tools.schedules(async ({ resumeSchedule }, store) =>
        new Date(await resumeSchedule(store, id, tools.clock())).toISOString(),
      ),
    }),
    text: ({ resume, nextAt }) => `Resumed ${resume}, due ${nextAt}.`,
  }),
  run: operation({
    name: "schedules run",
    summary: "runs one now, beside its own times",
    rights: EVERYWHERE,
    input: id,
    changes: always,
    async run(tools, { id }) {
      await tools.schedules(({ runSchedule }, store) => runSchedule(store, id, tools.clock()));
      return { run: id };
    },
    text: ({ run }) => `${run} runs within seconds, if the gateway is up.`,
  }),
  history: operation({
    name: "schedules history",
    summary: `the last ${MOST_RUNS} runs of the last seven days, newest first`,
    rights: EVERYWHERE,
    output: () =>
      z.object({
        runs: z.array(
          z.object({
            schedule: z.string(),
            dueAt: z.iso.datetime(),
            state: z.string(),
            count: z.int(),
            note: z.string(),
          }),
        ),
      }),
    async run(tools) {
      const runs = (await tools.rows("schedule_runs", RUNS)).map((row) => ({
        schedule: String(row["schedule"]),
        dueAt: new Date(Number(row["due_at"])).toISOString(),
        state: String(row["state"]),
        count: Number(row["count"]),
        note: String(row["note"] ?? ""),
      }));
      return { runs };
    },
    text({ runs }) {
      const cells = runs.map(({ schedule, dueAt, state, note }) => [schedule, dueAt, state, shorten(note)]);
      return runs.length === 0 ? "No runs." : table(["Id", "Due", "State", "Outcome"], cells);
    },
  }),
  remove: operation({
    name: "schedules remove",
    summary: "removes a schedule that was made in a chat or here",
    rights: EVERYWHERE,
    input: id,
    changes: always,
    async run(tools, { id }) {
      const taken = await tools.schedules(({ removeSchedule }, store) => removeSchedule(store, id));
      return { removed: id, undo: await sealed(taken) };
    },
    text: ({ removed }) => `Removed ${removed}.`,
  }),
};

function shownSchedule({ id, source, spec, nextAt, lastAt, lastOutcome }: StoredSchedule) {
  const iso = (time?: number): string | null => (time === undefined ? null : new Date(time).toISOString());
  return { id, source, ...spec, nextAt: iso(nextAt), lastAt: iso(lastAt), lastOutcome: lastOutcome ?? null };
}

function listText(schedules: readonly Listed[], names?: Names): string {
  if (schedules.length === 0) return "No schedules.";
  const rows = schedules.map((one) => [
    one.id,
    one.nextAt ?? (one.enabled ? "over" : "off"),
    one.at ?? (one.every !== undefined ? `every ${one.every}` : `${one.cron} ${one.timezone ?? "UTC"}`),
    addressText(one.to, names),
    shorten(one.text ?? one.prompt ?? ""),
    one.lastAt === null ? "" : `${one.lastAt} ${shorten(one.lastOutcome ?? "")}`,
  ]);
  return table(["Id", "Next", "When", "Chat", "What", "Last"], rows);
}

function addressText({ platform, chat, thread }: Listed["to"], names?: Names): string {
  const address = [platform, chat, thread ?? []].flat().join(":");
  const name = names?.get(`${platform}:${chat}`);
  return name === undefined ? address : `${shorten(name)} (${address})`;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}
