import type { TenantId } from "../../contract/tenant.ts";
import type { Row, Sql } from "../ledger/sql.ts";
import type { Clock } from "../ports.ts";
import type { Tenant, TenantQuery, TenantReport } from "./ports.ts";

/** The table of tenants. Its size depends on their number alone: a report replaces the one before. */
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
         has_problem INTEGER NOT NULL DEFAULT 0,
         report TEXT
       ) WITHOUT ROWID`,
    );
    sql.all("CREATE INDEX IF NOT EXISTS tenants_listing ON tenants (has_problem DESC, id)");
  }

  /** Adds a tenant, unless it is there. */
  meet(id: TenantId): void {
    const now = this.#clock();
    this.#sql.all(
      "INSERT INTO tenants (id, first_seen, last_seen) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      id,
      now,
      now,
    );
  }

  /** Returns true for a tenant that is in the table. */
  knows(id: TenantId): boolean {
    return this.#sql.all("SELECT 1 FROM tenants WHERE id = ?", id).length > 0;
  }

  /** Replaces a tenant's report. One that is not in the table stays out of it. */
  report(id: TenantId, report: TenantReport): void {
    this.#sql.all(
      "UPDATE tenants SET last_seen = ?2, has_problem = ?3, report = ?4 WHERE id = ?1",
      id,
      this.#clock(),
      report.problem === undefined ? 0 : 1,
      JSON.stringify(report),
    );
  }

  /** Returns the tenants whose containers run, by their last reports, the one that was used longest ago first. */
  running(): TenantId[] {
    return this.#sql
      .all(`SELECT id FROM tenants WHERE report ->> '$.running' = 1 ORDER BY report ->> '$.usedAt'`)
      .map(({ id }) => String(id));
  }

  /** Removes a tenant. Its own object keeps its data. */
  forget(id: TenantId): void {
    this.#sql.all("DELETE FROM tenants WHERE id = ?", id);
  }

  /** Returns tenants by id, those with a problem first. */
  list({ limit, after }: TenantQuery): Tenant[] {
    const rows = this.#sql.all(
      `SELECT id, first_seen, last_seen, report FROM tenants
       WHERE ?1 IS NULL OR (-has_problem, id) > (SELECT -has_problem, id FROM tenants WHERE id = ?1)
       ORDER BY has_problem DESC, id LIMIT ?2`,
      after ?? null,
      limit,
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
