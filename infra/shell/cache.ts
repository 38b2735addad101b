import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/** Returns the folder for what takes long to build and is the same for every checkout. */
export function cacheRoot(env: NodeJS.ProcessEnv): string {
  const base = env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache");
  return join(base, "steward");
}

/** Returns a short hash over the given texts and over the named text files of a folder. Names things built from them. */
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

/** Reads a text file of this package with LF line endings. A clone from before `.gitattributes` may have CRLF. */
export async function readSource(file: string): Promise<string> {
  return (await readFile(file, "utf8")).replaceAll("\r\n", "\n");
}

/**
 * Creates a folder of the cache atomically: `fill` writes into a temporary folder, which is then renamed. A process that
 * is killed in between leaves no folder that looks complete.
 */
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

/**
 * Runs `work` while no other process holds the same lock. The lock is SQLite's own on an empty database: the kernel
 * releases it when the process dies, so it cannot be left behind.
 *
 * @param waiting called once, if another process holds the lock
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

/** SQLite's result code for a database that another connection has locked (https://sqlite.org/rescode.html#busy). */
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
