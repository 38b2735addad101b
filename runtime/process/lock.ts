import { DatabaseSync } from "node:sqlite";
import { StewardError } from "../contract/errors.ts";

/** Far longer than anything is done under a lock; then a holder hangs, and waiting on would hide it. */
const PATIENCE_MS = 5_000;
/** SQLite's codes for a file that may not be opened or not be written (https://sqlite.org/rescode.html). */
const DENIED = new Set<unknown>([8, 14]);
const BUSY = 5;

/**
 * Runs `work` while no other process, and nothing else in this one, does so under the same lock file.
 * The lock is SQLite's own on an empty database: the kernel lets go of it when a process dies, so
 * none is ever left behind. `work` is synchronous and short, since waiting holds up the process.
 *
 * @throws StewardError `data_directory_unwritable` where the rights do not suffice; Error where the
 * lock was not to be had within 5 s.
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
 * Takes a lock for work that takes its time. `undefined` where somebody else has it.
 *
 * @returns what lets go of it. @throws StewardError `data_directory_unwritable` where the rights do not suffice.
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
