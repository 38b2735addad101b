import type { TenantId } from "../../contract/tenant.ts";
import type { Row, Sql } from "../ledger/sql.ts";
import { type Clock, ENTRY_STATES, type LedgerCounts } from "../ports.ts";
import type { Tenant, TenantQuery, TenantReport, TenantTotals } from "./ports.ts";

/** Tenants with their last reports. */
export class TenantRoster {
  readonly #sql: Sql;
  readonly #clock: Clock;

  constructor(sql: Sql, clock: Clock) {
    this.#sql = sql;
    this.#clock = clock;
    sql.all(
      `CREATE TABLE IF NOT EXISTS tenants (
         id TEXT PRIMARY KEY,
         first_seen INTEGER NOT NULL,
         last_seen INTEGER NOT NULL,
         is_well INTEGER NOT NULL DEFAULT 1,
         report TEXT
       ) WITHOUT ROWID`,
    );
    sql.all(
      "CREATE TABLE IF NOT EXISTS tenant_moves (id TEXT PRIMARY KEY, tenant TEXT NOT NULL) WITHOUT ROWID",
    );
    // Both columns must be ascending, so that SQLite can seek to a page's first row.
    sql.all("CREATE INDEX IF NOT EXISTS tenants_listing ON tenants (is_well, id)");
    sql.all(
      `CREATE INDEX IF NOT EXISTS tenants_running ON tenants (report ->> '$.usedAt')
       WHERE report ->> '$.running' = 1`,
    );
  }

  meet(id: TenantId): void {
    const now = this.#clock();
    this.#sql.all(
      "INSERT INTO tenants (id, first_seen, last_seen) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      id,
      now,
      now,
    );
  }

  /** Records a chat's new id. Ignores unknown tenants. */
  move(tenant: TenantId, to: TenantId): void {
    if (!this.has(tenant) || tenant === to) return;
    this.#sql.all("INSERT OR REPLACE INTO tenant_moves (id, tenant) VALUES (?, ?)", to, tenant);
  }

  /** Returns the tenant that a chat still uses after the chat's id changed to `id`; `undefined` if there is none. */
  movedTo(id: TenantId): TenantId | undefined {
    const [row] = this.#sql.all("SELECT tenant FROM tenant_moves WHERE id = ?", id);
    return row && String(row["tenant"]);
  }

  has(id: TenantId): boolean {
    return this.#sql.all("SELECT 1 FROM tenants WHERE id = ?", id).length > 0;
  }

  isWell(id: TenantId): boolean {
    return this.#sql.all("SELECT 1 FROM tenants WHERE id = ? AND is_well = 0", id).length === 0;
  }

  /** Replaces a known tenant's report. */
  report(id: TenantId, report: TenantReport): void {
    this.#sql.all(
      "UPDATE tenants SET last_seen = ?2, is_well = ?3, report = ?4 WHERE id = ?1",
      id,
      this.#clock(),
      report.problem === undefined ? 1 : 0,
      JSON.stringify(report),
    );
  }

  /** Returns running tenants, least recently used first. */
  running(): TenantId[] {
    return this.#sql
      .all(`SELECT id FROM tenants WHERE report ->> '$.running' = 1 ORDER BY report ->> '$.usedAt'`)
      .map(({ id }) => String(id));
  }

  totals(): TenantTotals {
    const sums = ENTRY_STATES.map((state) => `coalesce(sum(report ->> '$.counts.${state}'), 0) AS ${state}`);
    const [row = {}] = this.#sql.all(
      `SELECT count(*) AS chats, coalesce(sum(report ->> '$.running'), 0) AS running,
         coalesce(sum(1 - is_well), 0) AS failing, ${sums.join(", ")} FROM tenants`,
    );
    const number = (name: string): number => Number(row[name] ?? 0);
    const counts = Object.fromEntries(ENTRY_STATES.map((state) => [state, number(state)])) as LedgerCounts;
    return { chats: number("chats"), running: number("running"), failing: number("failing"), counts };
  }

  /** Returns tenants with problems, then healthy ones, both ordered by id. */
  list({ limit, after }: TenantQuery): Tenant[] {
    // Select `?2` instead of the column `id`. Otherwise, SQLite would not use both columns of the index to find the
    // page's first row.
    const from =
      after === undefined ? "" : "WHERE (is_well, id) > (SELECT is_well, ?2 FROM tenants WHERE id = ?2)";
    const rows = this.#sql.all(
      `SELECT id, first_seen, last_seen, report FROM tenants ${from} ORDER BY is_well, id LIMIT ?1`,
      limit,
      ...(after === undefined ? [] : [after]),
    );
    return rows.map(tenantOfRow);
  }
}

function tenantOfRow({ id, first_seen: first, last_seen: last, report }: Row): Tenant {
  return {
    id: String(id),
    firstSeenAt: new Date(Number(first)).toISOString(),
    lastSeenAt: new Date(Number(last)).toISOString(),
    ...(report != null && { report: JSON.parse(String(report)) as TenantReport }),
  };
}
