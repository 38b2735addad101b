import { parseJson } from "../../shared/json.ts";
import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { GENERATION_CONTENT, type GenerationManifest } from "../../contract/backup.ts";
import { STATE_FILE } from "../../contract/names.ts";
import { WORKSPACE_FOLDERS } from "../../contract/workspace.ts";

/** Tables whose rows are counted. */
const TABLES = ["sessions", "messages", "schedules"] as const;
/** Bytes of the largest file that is read as a list of people. */
const LARGEST_LIST = 16 * 1024 * 1024;

/** A regular file or a directory of the data directory. */
export interface ContentEntry {
  /** Relative to the data directory, with `/`. */
  name: string;
  path: string;
  stats: Stats;
}

/** Files of a running process, and files that were set aside. */
const PASSING = /\.lock(?:-journal)?$|\.tmp$|\.corrupt-|-(?:wal|shm|journal)$/;
/** In the assistant's folders files may have any name; only a file that is being written is left out. */
const ASSISTANTS: ReadonlySet<string> = new Set(Object.values(WORKSPACE_FOLDERS));
const PASSING_OF_ASSISTANT = /\.\d+\.tmp$/;

/**
 * Returns the files and directories at and below one name of the data directory, sorted by name, each directory before
 * its content. Links, pipes and a running process's files are left out, and so is what is removed meanwhile.
 */
export async function* contentBelow(home: string, name: string): AsyncGenerator<ContentEntry> {
  const path = join(home, name);
  const stats = await unlessGone(lstat(path));
  if (stats?.isFile()) yield { name, path, stats };
  if (!stats?.isDirectory()) return;
  yield { name, path, stats };
  const passing = ASSISTANTS.has(name.split("/")[0] ?? "") ? PASSING_OF_ASSISTANT : PASSING;
  const names = (await unlessGone(readdir(path))) ?? [];
  for (const below of names.sort()) {
    if (!passing.test(below)) yield* contentBelow(home, `${name}/${below}`);
  }
}

/**
 * Returns a digest of the state's files, which changes with any of them. It is cheap: it reads names, sizes and times,
 * not content.
 */
export async function stateRevision(home: string): Promise<string> {
  const hash = createHash("sha256");
  for (const root of [...GENERATION_CONTENT, `${STATE_FILE}-wal`]) {
    for await (const { name, stats } of contentBelow(home, root)) {
      // A directory's own time also changes with files that are left out, such as a lock.
      const moved = stats.isFile() ? `${stats.size} ${stats.mtimeMs}` : "";
      hash.update(`${name}\0${moved}\0`);
    }
  }
  return hash.digest("hex");
}

/** Waits for an operation on a file; `undefined` if the file does not exist. */
export async function unlessGone<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Counts of a copy. */
export type Counts = GenerationManifest["counts"];

/**
 * Counts the rows of a copied database, including those that retention has removed: their removal must not look like a
 * loss. Counts are zero without a database, or for tables that its version lacked.
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

/** Returns true if a file lists who may use the bot. */
export function listsApprovals(name: string, { size }: Pick<Stats, "size">): boolean {
  const isList = name === "devices/paired.json" || /^credentials\/[^/]+-allowFrom\.json$/.test(name);
  return isList && size <= LARGEST_LIST;
}

/** Counts the entries of a file of {@link listsApprovals}; 0 if it is unreadable. */
export function countApprovals(text: string): number {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return 0;
  if (!("allowFrom" in value)) return Object.keys(value).length;
  return Array.isArray(value.allowFrom) ? value.allowFrom.length : 0;
}
