import { backoffMs } from "../../shared/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { Sql } from "../ledger/sql.ts";
import type { Clock } from "../ports.ts";
import type { TenantId } from "../../contract/tenant.ts";

const RETRY = { firstMs: 5_000, longestMs: 10 * 60_000 };
const BATCH = 20;

interface TenantOutboxOptions {
  sql: Sql;
  table: string;
  /** Maximum number of attempts to send a message. The delay between attempts doubles, up to 10 minutes. */
  mostAttempts: number;
  /** Rejects if the tenant did not accept the text. */
  send(tenant: TenantId, text: string): Promise<void>;
  clock: Clock;
  log: Log;
}

/** Queues the directory's messages to tenants until they are delivered. */
export class TenantOutbox {
  readonly #options: TenantOutboxOptions;

  constructor(options: TenantOutboxOptions) {
    this.#options = options;
    options.sql.all(
      `CREATE TABLE IF NOT EXISTS ${options.table} (
         tenant TEXT PRIMARY KEY,
         text TEXT NOT NULL,
         attempts INTEGER NOT NULL DEFAULT 0,
         next_at INTEGER NOT NULL
       ) WITHOUT ROWID`,
    );
  }

  /** Queues a text in place of the tenant's queued text, if any. */
  add(tenant: TenantId, text: string): void {
    const { sql, table, clock } = this.#options;
    sql.all(
      `INSERT OR REPLACE INTO ${table} (tenant, text, next_at) VALUES (?, ?, ?)`,
      tenant,
      text,
      clock(),
    );
  }

  /** Time of the next attempt, in milliseconds since the epoch; `undefined` if the queue is empty. */
  get nextAt(): number | undefined {
    const { sql, table } = this.#options;
    const [row] = sql.all(`SELECT min(next_at) AS at FROM ${table}`);
    return row?.["at"] == null ? undefined : Number(row["at"]);
  }

  /** Sends due texts. Never rejects. */
  async run(): Promise<void> {
    const { sql, table, clock } = this.#options;
    const due = sql.all(
      `SELECT tenant, text, attempts FROM ${table} WHERE next_at <= ? ORDER BY next_at LIMIT ?`,
      clock(),
      BATCH,
    );
    await Promise.all(
      due.map(({ tenant, text, attempts }) => this.#send(String(tenant), String(text), Number(attempts) + 1)),
    );
  }

  async #send(tenant: TenantId, text: string, attempt: number): Promise<void> {
    const { sql, table, mostAttempts, send, clock, log } = this.#options;
    try {
      await send(tenant, text);
    } catch (error) {
      const isLast = attempt >= mostAttempts;
      log[isLast ? "error" : "warn"]("a message to a chat could not be sent", {
        tenant,
        attempt,
        error: String(error),
      });
      if (!isLast) {
        sql.all(
          `UPDATE ${table} SET attempts = ?2, next_at = ?3 WHERE tenant = ?1`,
          tenant,
          attempt,
          clock() + backoffMs(RETRY, attempt),
        );
        return;
      }
    }
    // Delete only this text: a newer one may have been queued during the send.
    sql.all(`DELETE FROM ${table} WHERE tenant = ? AND text = ?`, tenant, text);
  }
}
