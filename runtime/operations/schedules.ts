import * as z from "zod/mini";
import { StewardError } from "../contract/errors.ts";
import type { Schedule } from "../contract/config/schedules.ts";
import type { StoredSchedule } from "../gateway/schedules/store.ts";
import { table } from "../shared/table.ts";
import {
  always,
  argument,
  EVERYWHERE,
  type Names,
  operation,
  type OperationTools,
  option,
  sealRecord,
} from "./operation.ts";

const MAX_RUNS = 50;
const RUNS = `SELECT * FROM schedule_runs ORDER BY at DESC, due_at DESC LIMIT ${MAX_RUNS}`;

const id = () => z.strictObject({ id: argument(z.string(), "as `list` shows it") });
const text = (help: string, shown: string) => option(z.optional(z.string()), help, shown);

/** Description and next times of a schedule. Optional, because older containers do not send them. */
const outlook = {
  words: z.optional(z.string()),
  next: z.optional(z.array(z.object({ at: z.string(), local: z.string() }))),
};

const times = () => ({
  at: text("once; ISO 8601, in --timezone if it has no offset", "time"),
  every: text("at a fixed interval, for example 1h30m", "duration"),
  cron: text("by a five-field cron expression", "expression"),
  timezone: text("for --cron and a local --at, for example Europe/Berlin; default UTC", "name"),
});
const contents = () => ({
  text: text("the text to send", "text"),
  prompt: text("what to ask the agent", "text"),
});
const CHAT = "the chat, for example slack:C0123456789";
const THREAD = "the thread inside the chat";

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
    ...outlook,
  });
type Listed = z.infer<ReturnType<typeof listed>>;

/** `steward schedules`. A running gateway notices changes within seconds. */
export const schedules = {
  list: operation({
    name: "schedules list",
    summary: "all schedules, and when each is due next",
    rights: EVERYWHERE,
    output: () => z.object({ schedules: z.array(listed()) }),
    async run(tools) {
      const { outlook } = await tools.scheduleTimes();
      const shown = (await tools.listSchedules()).map(async (one) => {
        const { spec, createdAt, nextAt } = one;
        // Subtract one millisecond, so that the list includes the next run itself.
        const { words, next } = await outlook(spec, createdAt, (nextAt ?? tools.clock()) - 1);
        return shownSchedule(one, { words, next: nextAt === undefined ? [] : next });
      });
      return { schedules: await Promise.all(shown) };
    },
    keys: ({ schedules }) => schedules.map(({ to }) => `${to.platform}:${to.chat}`),
    text: ({ schedules }, _, names) => listText(schedules, names),
  }),
  add: operation({
    name: "schedules add",
    summary: "sends a text, or the agent's answer to a prompt, to a chat",
    rights: EVERYWHERE,
    input: () =>
      z.strictObject({
        to: option(z.string(), CHAT, "platform:chat"),
        thread: text(THREAD, "id"),
        ...times(),
        ...contents(),
      }),
    terminalOnly: ["thread"],
    changes: always,
    async run(tools, { to, thread, ...rest }) {
      const spec = await readSpec(tools, { ...rest, to: addressOf(to, thread) });
      const { id, nextAt } = await tools.schedules(({ addSchedule }, store) =>
        addSchedule(store, "cli", spec, tools.clock()),
      );
      return { id, nextAt: new Date(nextAt).toISOString() };
    },
    text: ({ id, nextAt }) => `Added ${id}, due ${nextAt}.`,
  }),
  edit: operation({
    name: "schedules edit",
    summary: "changes a schedule's chat, time or message; options not given stay unchanged",
    rights: EVERYWHERE,
    input: () =>
      z.strictObject({
        ...id().shape,
        to: text(CHAT, "platform:chat"),
        thread: text(THREAD, "id"),
        ...times(),
        ...contents(),
      }),
    terminalOnly: ["thread"],
    changes: always,
    async run(tools, { id, ...given }) {
      const nextAt = await tools.schedules(({ editSchedule }, store) =>
        editSchedule(store, id, (before) => readSpec(tools, merged(before, given)), tools.clock()),
      );
      return { id, nextAt: nextAt === undefined ? null : new Date(nextAt).toISOString() };
    },
    text: ({ id, nextAt }) => `Changed ${id}, ${nextAt === null ? "which is not due" : `due ${nextAt}`}.`,
  }),
  preview: operation({
    name: "schedules preview",
    summary: "shows in words when a schedule would run, and its next runs; changes nothing",
    rights: EVERYWHERE,
    input: () => z.strictObject(times()),
    output: () => z.object(outlook),
    async run(tools, given) {
      // The schema requires a complete schedule, so add a placeholder chat and text.
      const rest = { to: { platform: "slack", chat: "C0" }, text: "-" } as const;
      const spec = await readSpec(tools, { ...given, ...rest });
      const { firstRun, outlook } = await tools.scheduleTimes();
      const now = tools.clock();
      await firstRun(spec, now, "cli");
      return outlook(spec, now, now);
    },
    text: ({ words = "", next = [] }) => [`${words}:`, ...next.map(({ local }) => `  ${local}`)].join("\n"),
  }),
  pause: operation({
    name: "schedules pause",
    summary: "disables a schedule that was made in a chat or here",
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
    summary: "enables a paused schedule",
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
    summary: "runs a schedule once now, in addition to its own times",
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
    summary: `the last ${MAX_RUNS} runs of the last seven days, newest first`,
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
      return { removed: id, undo: await sealRecord(taken) };
    },
    text: ({ removed }) => `Removed ${removed}.`,
  }),
};

type Given = z.output<
  z.ZodMiniObject<
    ReturnType<typeof times> & ReturnType<typeof contents> & Record<"to" | "thread", ReturnType<typeof text>>
  >
>;

/**
 * Applies an edit to a schedule. A new `at`, `every` or `cron` replaces whichever of the three was set. A new `text`
 * or `prompt` replaces whichever of the two was set. A new `cron` keeps the time zone.
 */
function merged(before: Schedule, { to, thread, ...given }: Given) {
  const { at, every, cron, timezone, text, prompt, ...rest } = before;
  const isNewTime = [given.at, given.every, given.cron].some((one) => one !== undefined);
  const isNewText = given.text !== undefined || given.prompt !== undefined;
  const zone = given.timezone ?? (given.cron === undefined ? undefined : timezone);
  return {
    ...rest,
    ...(isNewTime ? { ...given, ...(zone && { timezone: zone }) } : { at, every, cron, timezone, ...given }),
    ...(!isNewText && { text, prompt }),
    to: to === undefined ? { ...before.to, ...(thread && { thread }) } : addressOf(to, thread, before.to),
  };
}

/**
 * Parses an address such as `slack:C1`. If `thread` is omitted and the previous target `before` is in the same chat,
 * keeps the previous target's thread.
 */
function addressOf(to: string, thread?: string, before?: Schedule["to"]) {
  const [platform, ...rest] = to.split(":");
  const chat = rest.join(":");
  const isSame = before?.platform === platform && before?.chat === chat;
  const shown = thread ?? (isSame ? before?.thread : undefined);
  return { platform, chat, ...(shown !== undefined && { thread: shown }) };
}

/**
 * Validates the options of a schedule.
 *
 * @throws StewardError `schedule_invalid` with every problem, separated by semicolons. A problem is `<option>:
 * <sentence>`, or a sentence about several options.
 */
async function readSpec(tools: OperationTools, given: Record<string, unknown>): Promise<Schedule> {
  const { schedule } = await tools.contract.schedules();
  const { at, timezone, ...rest } = given;
  const zone = typeof timezone === "string" ? timezone : undefined;
  const time =
    typeof at === "string" ? await (await tools.scheduleTimes()).readLocalTime(at, zone) : undefined;
  const isRead = time !== at;
  const parsed = schedule.safeParse({
    ...rest,
    ...(time !== undefined && { at: time }),
    ...(zone !== undefined && !isRead && { timezone: zone }),
  });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path: [name, part], message }) => {
    // `--to` sets `platform` and `chat`, so report their errors as one.
    if (name === "to" && part !== "thread")
      return "to: must be a platform and a chat, such as slack:C0123456789";
    return name === undefined ? message : `${String(name)}: ${message}`;
  });
  throw new StewardError("schedule_invalid", [...new Set(problems)].join("; "));
}

function shownSchedule(
  { id, source, spec, nextAt, lastAt, lastOutcome }: StoredSchedule,
  outlook: Pick<Listed, "words" | "next">,
) {
  const iso = (time?: number): string | null => (time === undefined ? null : new Date(time).toISOString());
  const last = { lastAt: iso(lastAt), lastOutcome: lastOutcome ?? null };
  return { id, source, ...spec, ...outlook, nextAt: iso(nextAt), ...last };
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
