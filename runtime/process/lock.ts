import { DatabaseSync } from "node:sqlite";
import { StewardError } from "../contract/errors.ts";

/** Maximum wait for a lock in milliseconds, far longer than any work under a lock. */
const PATIENCE_MS = 5_000;
/** SQLite's codes for a file that cannot be opened or written (https://sqlite.org/rescode.html). */
const DENIED = new Set<unknown>([8, 14]);
const BUSY = 5;

/**
 * Runs `work` under an exclusive lock, across processes and within this one. The kernel releases the lock when a
 * process dies. `work` must be short, because waiting blocks the process.
 *
 * @throws StewardError `data_directory_unwritable`; Error if the lock is not free within 5 s.
 */
export function withLock<T>(lockFile: string, work: () => T): T {
  const database = lock(lockFile);
  try {
    return work();
  } finally {
    database.close();
  }
}

/**
 * Takes a lock without waiting and keeps it.
 *
 * @returns The function that releases the lock; `undefined` if the lock is already held.
 * @throws StewardError `data_directory_unwritable`
 */
export function tryLock(lockFile: string): (() => void) | undefined {
  try {
    const database = lock(lockFile, 0);
    return () => database.close();
  } catch (error) {
    if (error instanceof Error && "errcode" in error && error.errcode === BUSY) return undefined;
    throw error;
  }
}

function lock(lockFile: string, timeout = PATIENCE_MS): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(lockFile, { timeout });
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database?.close();
    if (!(error instanceof Error && "errcode" in error && DENIED.has(error.errcode))) throw error;
    throw new StewardError("data_directory_unwritable", `${lockFile} cannot be written.`, { cause: error });
  }
}
