export type SqlValue = string | number | null;

export type Row = Record<string, SqlValue>;

/**
 * The subset of SQLite that `node:sqlite` and Durable Objects share. Calls are synchronous, and a transaction is
 * durable when it returns.
 */
export interface Sql {
  /** Runs one statement and returns its rows. A write returns the rows of its `RETURNING` clause. */
  all(statement: string, ...values: SqlValue[]): Row[];
  transaction<T>(work: () => T): T;
  /** Like `transaction`, but a later power cut may undo the writes. */
  lightTransaction<T>(work: () => T): T;
}
