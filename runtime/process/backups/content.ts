import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { GENERATION_CONTENT } from "../../contract/backup.ts";
import { STATE_FILE } from "../../contract/names.ts";

/** A regular file or a directory of the data directory. */
export interface ContentEntry {
  /** Relative to the data directory, with `/`. */
  name: string;
  path: string;
  stats: Stats;
}

/** What only belongs to a running process, or is no part of the state any more. */
const PASSING = /\.lock(?:-journal)?$|\.tmp$|\.corrupt-|-(?:wal|shm|journal)$/;
/** The workspace is the assistant's: its files are named as they like, all but a half written one. */
const PASSING_IN_WORKSPACE = /\.\d+\.tmp$/;

/**
 * What lies at and below one name of the data directory, in the order of the names, a directory before
 * what is in it. Links, pipes and what a running process needs are left out, as is what is gone meanwhile.
 */
export async function* contentBelow(home: string, name: string): AsyncGenerator<ContentEntry> {
  const path = join(home, name);
  const stats = await unlessGone(lstat(path));
  if (stats?.isFile()) yield { name, path, stats };
  if (!stats?.isDirectory()) return;
  yield { name, path, stats };
  const passing = name.split("/")[0] === "workspace" ? PASSING_IN_WORKSPACE : PASSING;
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

/** What a look at a file gives; `undefined` where it is not there. */
export async function unlessGone<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
