export type SqlValue = string | number | null;

export type Row = Record<string, SqlValue>;

/**
 * The subset of SQLite that `node:sqlite` and Durable Objects share: synchronous, and durable when `transaction`
 * returns.
 */
export interface Sql {
  /** Runs one statement and returns its rows, for changes those of `RETURNING`. */
  all(statement: string, ...values: SqlValue[]): Row[];
  transaction<T>(work: () => T): T;
  /** Like `transaction`, but a power cut may undo it after it returns. */
  lightTransaction<T>(work: () => T): T;
}
