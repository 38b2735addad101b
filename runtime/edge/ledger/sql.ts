export type SqlValue = string | number | null;

export type Row = Record<string, SqlValue>;

/**
 * The subset of SQLite that `node:sqlite` and a Durable Object's storage share: synchronous, and durable when
 * `transaction` returns.
 */
export interface Sql {
  /** Runs one statement and returns its rows. Use `RETURNING` to see what a change affected. */
  all(statement: string, ...values: SqlValue[]): Row[];
  /** Runs `work` in a transaction that rolls back if it throws. */
  transaction<T>(work: () => T): T;
  /** Like `transaction`, but a power cut may undo it after it returns. */
  lightTransaction<T>(work: () => T): T;
}
