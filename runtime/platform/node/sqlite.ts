import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Row, Sql, SqlValue } from "../../edge/ledger/sql.ts";

const BUSY_TIMEOUT_MS = 5_000;

/** An open database. */
export interface NodeSql extends Sql {
  close(): void;
}

/**
 * Opens a SQLite file whose transactions survive a power cut: write-ahead log, synchronised at each
 * commit. Other processes may have the file open too; a writer waits for another up to 5 s.
 */
export function openSqlite(file: string): NodeSql {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  const prepared = new Map<string, StatementSync>();
  const prepare = (statement: string): StatementSync => {
    const known = prepared.get(statement) ?? database.prepare(statement);
    prepared.set(statement, known);
    return known;
  };
  return {
    all: (statement: string, ...values: SqlValue[]) => prepare(statement).all(...values) as Row[],
    transaction(work) {
      database.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => database.close(),
  };
}
