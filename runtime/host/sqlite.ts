import type { StatementSync } from "node:sqlite";
import type { Row, Sql, SqlValue } from "../edge/ledger/sql.ts";
import { lightTransaction, transaction } from "../process/transaction.ts";
import { openDatabase, type DatabaseSetAside } from "../process/database.ts";

/** An open database. */
export interface NodeSql extends Sql {
  close(): void;
}

/** Opens the edge's database; see {@link openDatabase}. */
export function openSqlite(file: string, onSetAside?: (report: DatabaseSetAside) => void): NodeSql {
  const database = openDatabase(file, onSetAside);
  const prepared = new Map<string, StatementSync>();
  const prepare = (statement: string): StatementSync => {
    const known = prepared.get(statement) ?? database.prepare(statement);
    prepared.set(statement, known);
    return known;
  };
  return {
    all: (statement: string, ...values: SqlValue[]) => prepare(statement).all(...values) as Row[],
    transaction: (work) => transaction(database, work),
    lightTransaction: (work) => lightTransaction(database, work),
    close: () => database.close(),
  };
}
