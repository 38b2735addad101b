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

/**
 * A {@link transaction} of which nothing is missed after a power cut, since it is made anew then or only counts: the
 * disk is not waited for. It is whole all the same, and is kept as soon as any transaction behind it is:
 * https://sqlite.org/pragma.html#pragma_synchronous
 */
export function lightTransaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  database.exec("PRAGMA synchronous = NORMAL");
  try {
    return transaction(database, work);
  } finally {
    database.exec("PRAGMA synchronous = FULL");
  }
}
