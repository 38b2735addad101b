import { parseJson } from "../../shared/json.ts";
import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { GENERATION_CONTENT, type GenerationManifest } from "../../contract/backup.ts";
import { STATE_FILE } from "../../contract/names.ts";
import { WORKSPACE_FOLDERS } from "../../contract/workspace.ts";

/** Tables that are counted, and under which name. */
const TABLES = ["sessions", "messages", "schedules"] as const;
/** A list of people that is larger is none. */
export const LARGEST_LIST = 16 * 1024 * 1024;

/** A regular file or a directory of the data directory. */
export interface ContentEntry {
  /** Relative to the data directory, with `/`. */
  name: string;
  path: string;
  stats: Stats;
}

/** Files of a running process, and those that are no part of the state any more. */
const PASSING = /\.lock(?:-journal)?$|\.tmp$|\.corrupt-|-(?:wal|shm|journal)$/;
/** In the assistant's folders files have any name; only one that is being written is left out. */
const ASSISTANTS: ReadonlySet<string> = new Set(Object.values(WORKSPACE_FOLDERS));
const PASSING_OF_ASSISTANT = /\.\d+\.tmp$/;

/**
 * Returns what lies at and below one name of the data directory, in the order of the names, a directory before
 * what is in it. Links, pipes and what a running process needs are left out, as is what is gone meanwhile.
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
 * A number for the state's content: it moves when a file of it does. Read from the directories alone, so
 * that it costs little to ask.
 */
export async function stateRevision(home: string): Promise<string> {
  const hash = createHash("sha256");
  for (const root of [...GENERATION_CONTENT, `${STATE_FILE}-wal`]) {
    for await (const { name, stats } of contentBelow(home, root)) {
      // A directory's own time moves with what is left out, such as a lock.
      const moved = stats.isFile() ? `${stats.size} ${stats.mtimeMs}` : "";
      hash.update(`${name}\0${moved}\0`);
    }
  }
  return hash.digest("hex");
}

/** Returns what a look at a file gives; `undefined` where it is not there. */
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
 * Returns what a copied database holds, with what retention has removed from it: a copy is compared with the one before
 * to find a loss, and that is none. Nothing where there is none, or where it is of a time before these tables.
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

/** Tells whether a file lists who may use the bot. */
export function listsApprovals(name: string): boolean {
  return name === "devices/paired.json" || /^credentials\/[^/]+-allowFrom\.json$/.test(name);
}

/** Returns how many a file of {@link listsApprovals} lists; none where it cannot be read. */
export function countApprovals(text: string): number {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return 0;
  if (!("allowFrom" in value)) return Object.keys(value).length;
  return Array.isArray(value.allowFrom) ? value.allowFrom.length : 0;
}
