import { parseJson } from "../../shared/json.ts";
import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { GENERATION_CONTENT, type GenerationManifest } from "../../contract/backup.ts";
import { STATE_FILE } from "../../contract/names.ts";
import { WORKSPACE_FOLDERS } from "../../contract/workspace.ts";

const TABLES = ["sessions", "messages", "schedules"] as const;
/** Maximum size of an approval list in bytes. Approvals in larger lists are not counted. */
const LARGEST_LIST = 16 * 1024 * 1024;

export interface ContentEntry {
  /** Relative to the data directory, with `/` as the separator. */
  name: string;
  path: string;
  stats: Stats;
}

/** Matches temporary files of a running process, and corrupt files that were set aside. Backups omit them. */
const TEMPORARY = /\.lock(?:-journal)?$|\.tmp$|\.corrupt-|-(?:wal|shm|journal)$/;
/**
 * Folders with the assistant's files. There, backups omit only unfinished writes, not every `*.tmp` file: `notes.tmp`
 * may be one of the assistant's files.
 */
const ASSISTANTS: ReadonlySet<string> = new Set(Object.values(WORKSPACE_FOLDERS));
const UNFINISHED_WRITE = /\.\d+\.tmp$/;

/**
 * Yields the file or directory `name` of the data directory and everything below it: sorted, each directory before
 * its content. Omits links, pipes and temporary files.
 */
export async function* contentBelow(home: string, name: string): AsyncGenerator<ContentEntry> {
  const path = join(home, name);
  const stats = await unlessGone(lstat(path));
  if (stats?.isFile()) yield { name, path, stats };
  if (!stats?.isDirectory()) return;
  yield { name, path, stats };
  const passing = ASSISTANTS.has(name.split("/")[0] ?? "") ? UNFINISHED_WRITE : TEMPORARY;
  const names = (await unlessGone(readdir(path))) ?? [];
  for (const below of names.sort()) {
    if (!passing.test(below)) yield* contentBelow(home, `${name}/${below}`);
  }
}

/** Returns a digest of the names, sizes and times of the state's files. */
export async function stateRevision(home: string): Promise<string> {
  const hash = createHash("sha256");
  for (const root of [...GENERATION_CONTENT, `${STATE_FILE}-wal`]) {
    for await (const { name, stats } of contentBelow(home, root)) {
      // Ignore a directory's time: it also changes when an omitted file, such as a lock, is created.
      const moved = stats.isFile() ? `${stats.size} ${stats.mtimeMs}` : "";
      hash.update(`${name}\0${moved}\0`);
    }
  }
  return hash.digest("hex");
}

/** Resolves like `look`, but with `undefined` for a missing file. */
export async function unlessGone<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

export type Counts = GenerationManifest["counts"];

/**
 * Counts a database's sessions, messages and schedules. Includes what retention has removed, because a lower count
 * would look like lost data.
 */
export function countTables(path: string | undefined): Pick<Counts, (typeof TABLES)[number]> {
  const counts = { sessions: 0, messages: 0, schedules: 0 };
  if (path === undefined) return counts;
  const database = new DatabaseSync(path, { readOnly: true });
  const isThere = (table: string): boolean =>
    database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !==
    undefined;
  try {
    for (const table of TABLES) {
      if (!isThere(table)) continue;
      counts[table] = Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
    }
    if (!isThere("retention")) return counts;
    const removed = database.prepare("SELECT messages, sessions FROM retention").get();
    counts.messages += Number(removed?.["messages"] ?? 0);
    counts.sessions += Number(removed?.["sessions"] ?? 0);
    return counts;
  } finally {
    database.close();
  }
}

export function listsApprovals(name: string, { size }: Pick<Stats, "size">): boolean {
  const isList = name === "devices/paired.json" || /^credentials\/[^/]+-allowFrom\.json$/.test(name);
  return isList && size <= LARGEST_LIST;
}

/** Returns 0 if the text is unreadable. */
export function countApprovals(text: string): number {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return 0;
  if (!("allowFrom" in value)) return Object.keys(value).length;
  return Array.isArray(value.allowFrom) ? value.allowFrom.length : 0;
}
