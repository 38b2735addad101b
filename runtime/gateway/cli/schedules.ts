import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Option, type Command } from "commander";
import { schedule as scheduleSchema, type Schedule } from "../../contract/config/schedules.ts";
import { StewardError } from "../../contract/errors.ts";
import { table } from "../../shared/table.ts";
import { ensureDirectory } from "../../process/files.ts";
import {
  addSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  runSchedule,
} from "../schedules/port.ts";
import { ScheduleStore, type StoredSchedule } from "../schedules/store.ts";
import { openStore } from "../store.ts";
import type { CommandContext, JsonOption } from "./context.ts";
import { readRows } from "./records.ts";

const MOST_RUNS = 50;
const RUNS = `SELECT * FROM schedule_runs ORDER BY at DESC, due_at DESC LIMIT ${MOST_RUNS}`;

interface AddOptions extends JsonOption {
  to: string;
  thread?: string;
  at?: string;
  every?: string;
  cron?: string;
  timezone?: string;
  text?: string;
  prompt?: string;
}

/** `steward schedules list|add|pause|resume|run|history|remove`. They work on the table; a running gateway sees it within seconds. */
export function addScheduleCommands(program: Command, context: CommandContext): void {
  const { settings, output } = context;
  const file = join(settings.home, "state.db");
  const schedules = program.command("schedules").description("messages that the bot sends at set times");

  /** The table as it is: looking at it neither makes the file nor changes its form. */
  const read = (): StoredSchedule[] => {
    if (!existsSync(file)) return [];
    return using(new DatabaseSync(file, { readOnly: true, timeout: 5_000 }), (database) => {
      const made = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schedules'").get();
      return made === undefined ? [] : new ScheduleStore(database).list();
    });
  };
  const write = <T>(work: (store: ScheduleStore) => T): T => {
    ensureDirectory(settings.home);
    return using(openStore(file), (database) => work(new ScheduleStore(database)));
  };

  schedules
    .command("list")
    .description("all schedules, and when each is due next")
    .option("--json", "as JSON")
    .action(({ json }: JsonOption) => {
      const found = read().map(listed);
      output.answer(json, { schedules: found }, listText(found));
    });

  schedules
    .command("add")
    .description("sends a text, or the agent's answer to a prompt, to a chat")
    .requiredOption("--to <platform:chat>", "the chat, for example slack:C0123456789")
    .option("--thread <id>", "the thread inside the chat")
    .addOption(new Option("--at <time>", "once, ISO 8601 with its offset").conflicts(["every", "cron"]))
    .addOption(new Option("--every <duration>", "in equal steps, for example 1h30m").conflicts("cron"))
    .option("--cron <expression>", "by a cron expression of five fields")
    .option("--timezone <name>", "for --cron, for example Europe/Berlin; default UTC")
    .addOption(new Option("--text <text>", "the text to send").conflicts("prompt"))
    .option("--prompt <text>", "what the agent is asked")
    .option("--json", "as JSON")
    .action(async ({ json, ...options }: AddOptions) => {
      const spec = readSpec(options);
      const { id, nextAt } = await write((store) => addSchedule(store, "cli", spec, Date.now()));
      const due = new Date(nextAt).toISOString();
      output.answer(json, { id, nextAt: due }, `Added ${id}, due ${due}.`);
    });

  const change = (
    verb: string,
    description: string,
    act: (store: ScheduleStore, id: string) => Promise<string>,
  ) =>
    void schedules
      .command(verb)
      .description(description)
      .argument("<id>", "as `list` shows it")
      .option("--json", "as JSON")
      .action(async (id: string, { json }: JsonOption) => {
        const text = await write((store) => act(store, id));
        output.answer(json, { [verb]: id }, text);
      });
  change("pause", "switches one off that was made in a chat or here", async (store, id) => {
    pauseSchedule(store, id);
    return `Paused ${id}.`;
  });
  change("resume", "switches one on again", async (store, id) => {
    const due = new Date(await resumeSchedule(store, id, Date.now())).toISOString();
    return `Resumed ${id}, due ${due}.`;
  });
  change("run", "runs one now, beside its own times", async (store, id) => {
    runSchedule(store, id, Date.now());
    return `${id} runs within seconds, if the gateway is up.`;
  });

  schedules
    .command("history")
    .description(`the last ${MOST_RUNS} runs of the last seven days, newest first`)
    .option("--json", "as JSON")
    .action(({ json }: JsonOption) => {
      const runs = readRows(context, "schedule_runs", RUNS).map((row) => ({
        schedule: String(row["schedule"]),
        dueAt: new Date(Number(row["due_at"])).toISOString(),
        state: String(row["state"]),
        count: Number(row["count"]),
        note: String(row["note"] ?? ""),
      }));
      const cells = runs.map(({ schedule, dueAt, state, note }) => [schedule, dueAt, state, shorten(note)]);
      const text = runs.length === 0 ? "No runs." : table(["Id", "Due", "State", "Outcome"], cells);
      output.answer(json, { runs }, text);
    });

  schedules
    .command("remove")
    .description("removes a schedule that was made in a chat or here")
    .argument("<id>", "as `list` shows it")
    .option("--json", "as JSON")
    .action((id: string, { json }: JsonOption) => {
      write((store) => removeSchedule(store, id));
      output.answer(json, { removed: id }, `Removed ${id}.`);
    });
}

/** Works with a database, and closes it when the work has ended. */
function using<T>(database: DatabaseSync, work: (database: DatabaseSync) => T): T {
  const close = (): void => database.close();
  try {
    const result = work(database);
    if (result instanceof Promise) return result.finally(close) as T;
    close();
    return result;
  } catch (error) {
    close();
    throw error;
  }
}

function readSpec({ to, thread, ...rest }: Omit<AddOptions, "json">): Schedule {
  const [platform, ...chat] = to.split(":");
  const address = { platform, chat: chat.join(":"), ...(thread !== undefined && { thread }) };
  const parsed = scheduleSchema.safeParse({ ...rest, to: address });
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw new StewardError("schedule_invalid", problems.join("; "));
  }
  return parsed.data;
}

/** One schedule as it is listed. */
function listed({ id, source, spec, nextAt, lastAt, lastOutcome }: StoredSchedule) {
  const iso = (time?: number): string | null => (time === undefined ? null : new Date(time).toISOString());
  return { id, source, ...spec, nextAt: iso(nextAt), lastAt: iso(lastAt), lastOutcome: lastOutcome ?? null };
}

function listText(schedules: readonly ReturnType<typeof listed>[]): string {
  if (schedules.length === 0) return "No schedules.";
  const rows = schedules.map((one) => [
    one.id,
    one.nextAt ?? (one.enabled ? "over" : "off"),
    one.at ?? (one.every !== undefined ? `every ${one.every}` : `${one.cron} ${one.timezone ?? "UTC"}`),
    [one.to.platform, one.to.chat, one.to.thread ?? []].flat().join(":"),
    shorten(one.text ?? one.prompt ?? ""),
    one.lastAt === null ? "" : `${one.lastAt} ${shorten(one.lastOutcome ?? "")}`,
  ]);
  return table(["Id", "Next", "When", "Chat", "What", "Last"], rows);
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}
