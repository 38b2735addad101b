import type { Config } from "../../contract/config/index.ts";
import type { ModelRequest } from "../models/model.ts";
import { operatorText } from "../prompt/operator.ts";
import { type Memory, type OperatorFile, type SystemParts, systemPrompt } from "../prompt/system.ts";
import { memoryText, type Prompt } from "../prompt/text.ts";
import type { Place } from "./question.ts";
import { type Asker, type Reach, reachOf } from "./reach.ts";
import type { Workspace } from "../workspace/workspace.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

const FILES = ["AGENTS.md", "SOUL.md", "USER.md"] as const;
const NOTHING = { files: [], memories: [] };
const MEMORY = "MEMORY.md";
const MAX_SKILLS = 50;
const DESCRIPTION = "description:";
/** Maximum number of characters to read from a skill's file in search of its description. */
const LONGEST_HEAD = 4_000;

interface InstructionsOptions {
  config: Config;
  workspace: Workspace;
  place: Place & Asker;
  /** Lines about unavailable tools. */
  notes: readonly Prompt[];
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Builds the system prompt from the workspace's current files. The result's `circumstances` contain the platform and
 * the time, so that providers can cache the result's `instructions`.
 */
export function instructions(
  options: InstructionsOptions,
): Required<Pick<ModelRequest, "instructions" | "circumstances">> {
  const { config, workspace, place: chat, notes, now } = options;
  const { platform, direct } = chat;
  const reach = reachOf(workspace, chat);
  const { memory, folder } = reach;
  const { instructions, workspaceMaxChars } = config.agent;
  const zone = config.sessions.reset.timezone ?? "UTC";
  const shared = chat.may("readWorkspace") ? workspaceFiles(workspace, workspaceMaxChars) : NOTHING;
  return systemPrompt({
    instructions: operatorText(instructions),
    files: shared.files,
    memories: [
      ...shared.memories,
      ...(folder === undefined ? [] : groupMemory(reach, memory, workspaceMaxChars)),
    ],
    skills: chat.may("readWorkspace") ? skills(workspace) : [],
    notes,
    platform,
    direct,
    folder,
    keepsFiles: chat.may("keepFiles"),
    date: localTime(now, zone, { locale: "en-GB", dateStyle: "full" }),
    zone,
  });
}

/**
 * Reads the workspace's files, up to `most` characters in total. Reserves up to a quarter of `most` for the memory
 * file. If that file does not fit, reads only its end.
 */
function workspaceFiles(workspace: Workspace, most: number): Pick<SystemParts, "files" | "memories"> {
  const memory = readQuietly(workspace.shared, MEMORY);
  let left = most - Math.min(memory.length, Math.floor(most / 4));
  const files: OperatorFile[] = [];
  for (const name of FILES) {
    const text = readQuietly(workspace.shared, name);
    if (text === "") continue;
    const kept = text.slice(0, left);
    left -= kept.length;
    files.push({ name, text: operatorText(kept), cut: kept.length < text.length });
  }
  const room = left + Math.min(memory.length, Math.floor(most / 4));
  return { files, memories: memoryEnd(MEMORY, memory, room) };
}

function groupMemory(reach: Reach, name: string, most: number): Memory[] {
  return memoryEnd(name, readQuietly(reach, name), Math.floor(most / 4));
}

function memoryEnd(path: string, text: string, room: number): Memory[] {
  if (text === "") return [];
  const kept = room === 0 ? "" : text.slice(-room);
  return [{ path, text: memoryText(kept), cut: kept.length < text.length }];
}

function skills(workspace: Workspace): SystemParts["skills"] {
  return folders(workspace)
    .slice(0, MAX_SKILLS)
    .map((name) => ({ name, text: readQuietly(workspace.shared, `skills/${name}/SKILL.md`) }))
    .filter(({ text }) => text !== "")
    .map(({ name, text }) => ({ name, description: description(text) }));
}

/**
 * Returns a skill's description from the front matter, or else its first line. Reads line by line, because a regular
 * expression can take cubic time.
 */
function description(text: string): string {
  const lines = text.slice(0, LONGEST_HEAD).split("\n");
  const end = lines[0] === "---" ? lines.indexOf("---", 1) : -1;
  const named = lines.slice(0, Math.max(end, 0)).find((line) => line.startsWith(DESCRIPTION));
  const first = lines.find((line) => line.trim() !== "" && line.trim() !== "---") ?? "";
  return named?.slice(DESCRIPTION.length).trim() || first.replace(/^#+/, "").trim();
}

function folders(workspace: Workspace): string[] {
  try {
    return workspace.shared.list("skills")?.map(({ name }) => name) ?? [];
  } catch {
    return [];
  }
}

/** Reads a file. Returns an empty string if it is unreadable. */
function readQuietly(root: Pick<Reach, "read">, name: string): string {
  try {
    return root.read(name)?.trim() ?? "";
  } catch {
    return "";
  }
}

/**
 * Formats a time (milliseconds since the epoch) in an IANA time zone, to the minute. Caches formatters, because
 * creating one takes 0.4 ms.
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
