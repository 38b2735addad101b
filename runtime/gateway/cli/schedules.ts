import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Option, type Command } from "commander";
import * as z from "zod/mini";
import { schedule as scheduleSchema, type Schedule } from "../../contract/config/schedules.ts";
import { StewardError } from "../../contract/errors.ts";
import { table } from "../../contract/table.ts";
import { ensureDirectory } from "../../process/files.ts";
import { addSchedule, removeSchedule } from "../schedules/port.ts";
import { ScheduleStore, type StoredSchedule } from "../schedules/store.ts";
import { openStore } from "../store.ts";
import type { CommandContext, JsonOption } from "./context.ts";

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

/** `steward schedules list|add|remove`. They work on the table; a running gateway sees it within seconds. */
export function addScheduleCommands(program: Command, { settings, output }: CommandContext): void {
  const file = join(settings.home, "state.db");
  const schedules = program.command("schedules").description("what is said in a chat at a time");

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
    .description("says a text, or the agent's answer to a prompt, in a chat")
    .requiredOption("--to <platform:chat>", "the chat, for example slack:C0123456789")
    .option("--thread <id>", "the thread inside the chat")
    .addOption(new Option("--at <time>", "once, ISO 8601 with its offset").conflicts(["every", "cron"]))
    .addOption(new Option("--every <duration>", "in equal steps, for example 1h30m").conflicts("cron"))
    .option("--cron <expression>", "by a cron expression of five fields")
    .option("--timezone <name>", "for --cron, for example Europe/Berlin; default UTC")
    .addOption(new Option("--text <text>", "what is said").conflicts("prompt"))
    .option("--prompt <text>", "what the agent is asked")
    .option("--json", "as JSON")
    .action(async ({ json, ...options }: AddOptions) => {
      const spec = readSpec(options);
      const { id, nextAt } = await write((store) => addSchedule(store, "cli", spec, Date.now()));
      const due = new Date(nextAt).toISOString();
      output.answer(json, { id, nextAt: due }, `Added ${id}, due ${due}.`);
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
  if (!parsed.success) throw new StewardError("schedule_invalid", z.prettifyError(parsed.error));
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
