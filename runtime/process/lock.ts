import { DatabaseSync } from "node:sqlite";

/** Far longer than anything is done under a lock; then a holder hangs, and waiting on would hide it. */
const PATIENCE_MS = 5_000;

/**
 * Runs `work` while no other process, and nothing else in this one, does so under the same lock file.
 * The lock is SQLite's own on an empty database: the kernel lets go of it when a process dies, so
 * none is ever left behind. `work` is synchronous and short, since waiting holds up the process.
 *
 * @throws Error where the lock was not to be had within 5 s.
 */
export function withLock<T>(lockFile: string, work: () => T): T {
  const database = new DatabaseSync(lockFile, { timeout: PATIENCE_MS });
  try {
    database.exec("BEGIN EXCLUSIVE");
    return work();
  } finally {
    database.close();
  }
}
