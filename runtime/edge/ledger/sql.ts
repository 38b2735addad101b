/** A value that SQLite takes and gives. */
export type SqlValue = string | number | null;

/** One row, by column name. */
export type Row = Record<string, SqlValue>;

/**
 * The little of SQLite that the ledger needs, in the form that both `node:sqlite` and a Durable
 * Object's storage can give: synchronous, durable when `transaction` returns.
 */
export interface Sql {
  /** Runs one statement and returns its rows; `RETURNING` is how a change tells what it did. */
  all(statement: string, ...values: SqlValue[]): Row[];
  /** Runs `work` in one transaction, which is undone when it throws. */
  transaction<T>(work: () => T): T;
  /** The same for what a power cut may take away again: it need not be durable when this returns. */
  lightTransaction<T>(work: () => T): T;
}
