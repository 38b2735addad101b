import type { DatabaseSync } from "node:sqlite";

/**
 * Runs `work` so that all of what it writes is kept, or nothing. It does not wait in between; inside of
 * another transaction it becomes a part of that one.
 */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // A full disk ends a transaction by itself.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
