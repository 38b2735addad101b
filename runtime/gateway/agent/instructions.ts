import type { Config } from "../../contract/config/index.ts";
import type { ModelRequest } from "../models/model.ts";
import type { Place } from "./question.ts";
import { type Asker, type Reach, reachOf } from "./reach.ts";
import type { Workspace } from "../workspace/workspace.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

const FILES = ["AGENTS.md", "SOUL.md", "USER.md"];
const MEMORY = "MEMORY.md";
const MOST_SKILLS = 50;
const LONGEST_DESCRIPTION = 200;
const DESCRIPTION = "description:";
/** A skill's file may be long; what it is called stands at its beginning. */
const LONGEST_HEAD = 4_000;

/** Sources of one question's instructions. */
interface InstructionsOptions {
  config: Config;
  workspace: Workspace;
  /** The chat that asks. */
  place: Place & Asker;
  /** Lines on what is not available now. */
  notes: readonly string[];
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Returns the text before every conversation. Read again for each question: the files are small, and change.
 * The place and the time are apart, so that a provider can keep what is before them.
 */
export function instructions(
  options: InstructionsOptions,
): Required<Pick<ModelRequest, "instructions" | "circumstances">> {
  const { config, workspace, place: chat, notes, now } = options;
  const { platform, direct } = chat;
  const reach = reachOf(workspace, chat);
  const { memory, folder } = reach;
  const zone = config.sessions.reset.timezone ?? "UTC";
  const date = localTime(now, zone, { locale: "en-GB", dateStyle: "full" });
  const place = direct
    ? `You are in a direct chat on ${platform}.`
    : `You are in a group chat on ${platform}; "[name]:" before a message tells who wrote it, and its further lines are indented. Do not write such a name yourself.`;
  const own = ` You write files below ${folder}/ only; what else is in the workspace is the operator's.`;
  const written = chat.may("keepFiles") ? own : " You write no files here.";
  const files = folder === undefined ? "" : written;
  const parts = [
    config.agent.instructions,
    ...(chat.may("readWorkspace") ? workspaceFiles(workspace, config.agent.workspaceMaxChars) : []),
    ...(folder === undefined ? [] : groupMemory(reach, memory, config.agent.workspaceMaxChars)),
    chat.may("readWorkspace") ? skills(workspace) : "",
    ...notes,
  ];
  return {
    instructions: parts.filter((part) => part !== "").join("\n\n"),
    circumstances: `${place}${files} It is ${date} (${zone}).`,
  };
}

/** The workspace's files within `most` characters. The memory keeps a quarter, and its end. */
function workspaceFiles(workspace: Workspace, most: number): string[] {
  const memory = readQuietly(workspace.shared, MEMORY);
  let left = most - Math.min(memory.length, Math.floor(most / 4));
  const parts: string[] = [];
  for (const name of FILES) {
    const text = readQuietly(workspace.shared, name);
    if (text === "") continue;
    const kept = text.slice(0, left).toWellFormed();
    left -= kept.length;
    parts.push(section(name, kept.length < text.length ? `${kept}\n(${name} is cut here.)` : kept));
  }
  if (memory === "") return parts;
  const room = left + Math.min(memory.length, Math.floor(most / 4));
  const kept = room === 0 ? "" : memory.slice(-room).toWellFormed();
  parts.push(
    section(MEMORY, kept.length < memory.length ? `(The beginning of ${MEMORY} is cut.)\n${kept}` : kept),
  );
  return parts;
}

/** The end of a group's own memory, in a quarter of the characters. */
function groupMemory(reach: Reach, name: string, most: number): string[] {
  const text = readQuietly(reach, name);
  return text === "" ? [] : [section(name, text.slice(-Math.floor(most / 4)).toWellFormed())];
}

function section(name: string, text: string): string {
  return `# ${name}\n${text}`;
}

function skills(workspace: Workspace): string {
  const lines: string[] = [];
  for (const name of folders(workspace).slice(0, MOST_SKILLS)) {
    const text = readQuietly(workspace.shared, `skills/${name}/SKILL.md`);
    if (text !== "") lines.push(`- ${name}: ${description(text)} (skills/${name}/SKILL.md)`);
  }
  if (lines.length === 0) return "";
  return ["# Skills", "Read a skill's file with read_file before you use it.", ...lines].join("\n");
}

/** Returns what its front matter calls it, else its first line. By lines: a pattern over all of them takes cubic time. */
function description(text: string): string {
  const lines = text.slice(0, LONGEST_HEAD).split("\n");
  const end = lines[0] === "---" ? lines.indexOf("---", 1) : -1;
  const named = lines.slice(0, Math.max(end, 0)).find((line) => line.startsWith(DESCRIPTION));
  const first = lines.find((line) => line.trim() !== "" && line.trim() !== "---") ?? "";
  const shown = named?.slice(DESCRIPTION.length).trim() || first.replace(/^#+/, "").trim();
  return shown.slice(0, LONGEST_DESCRIPTION);
}

function folders(workspace: Workspace): string[] {
  try {
    return workspace.shared.list("skills")?.map(({ name }) => name) ?? [];
  } catch {
    return [];
  }
}

/** A file that cannot be read is no reason to give no answer. */
function readQuietly(root: Pick<Reach, "read">, name: string): string {
  try {
    return root.read(name)?.trim() ?? "";
  } catch {
    return "";
  }
}

/**
 * A time (milliseconds since the epoch) as a clock and a calendar show it in a time zone (IANA name), to the minute.
 * A format is made once a zone: to make one takes 0.4 ms.
 */
export function localTime(
  time: number,
  timeZone: string,
  { locale, dateStyle }: { locale: string; dateStyle: "full" | "short" },
): string {
  const key = `${locale} ${dateStyle} ${timeZone}`;
  const format =
    formats.get(key) ?? new Intl.DateTimeFormat(locale, { timeZone, dateStyle, timeStyle: "short" });
  formats.set(key, format);
  return format.format(time);
}
