import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/** Returns the cache folder for slow builds, shared by all checkouts. */
export function cacheRoot(env: NodeJS.ProcessEnv): string {
  const base = env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache");
  return join(base, "steward");
}

/** Returns a short hash of strings and of the matching text files in a folder. */
export async function contentKey(texts: readonly string[], folder: string, files: RegExp): Promise<string> {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text).update("\0");
  const names = (await readdir(folder, { recursive: true })).filter((name) => files.test(name)).sort();
  for (const name of names)
    hash
      .update(name)
      .update("\0")
      .update(await readSource(join(folder, name)));
  return hash.digest("hex").slice(0, 16);
}

/** Reads a text file and converts CRLF line endings to LF. */
export async function readSource(file: string): Promise<string> {
  return (await readFile(file, "utf8")).replaceAll("\r\n", "\n");
}

/** Creates a cache folder atomically: `fill` writes to a temporary folder, which is then renamed. */
export async function createFolderAtomically(
  target: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const temporary = `${target}.${randomUUID()}.partial`;
  await mkdir(temporary, { recursive: true });
  try {
    await fill(temporary);
    await rm(target, { recursive: true, force: true });
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

/** Replaces a file atomically, because another process may be reading it. Creates its folder. */
export async function writeFileAtomically(file: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${file}.${randomUUID()}.partial`;
  await mkdir(dirname(file), { recursive: true });
  try {
    await writeFile(temporary, content);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Runs `work` while holding a lock that excludes other processes. The lock is an SQLite transaction, which ends when
 * the process dies.
 *
 * @param waiting called once if another process holds the lock
 */
export async function withFileLock<T>(
  lockFile: string,
  work: () => Promise<T>,
  waiting: () => void = () => undefined,
): Promise<T> {
  await mkdir(join(lockFile, ".."), { recursive: true });
  const database = new DatabaseSync(lockFile, { timeout: 0 });
  try {
    let told = false;
    while (!tryLock(database)) {
      if (!told) waiting();
      told = true;
      await sleep(200);
    }
    return await work();
  } finally {
    database.close();
  }
}

/** Result code of a locked database: https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
