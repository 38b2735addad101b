import type { DurableObjectStorage } from "@cloudflare/workers-types/index.ts";
import type { Row, Sql, SqlValue } from "../edge/ledger/sql.ts";

/** A Durable Object's SQLite: https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/ */
export function durableSql(storage: DurableObjectStorage): Sql {
  return {
    all: (statement: string, ...values: SqlValue[]): Row[] =>
      storage.sql.exec<Record<string, SqlValue>>(statement, ...values).toArray(),
    transaction: (work) => storage.transactionSync(work),
    lightTransaction: (work) => storage.transactionSync(work),
  };
}
