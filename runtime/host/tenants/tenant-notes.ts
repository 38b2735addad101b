import type { TenantId } from "../../contract/tenant.ts";
import type { Notes } from "../../edge/ports.ts";
import { forgetDecision } from "../../edge/tenants/gate.ts";
import type { NodeSql } from "../ledger.ts";

/** Name of the deployment note that holds the last value passed to {@link TenantNotes.servedAllSince}. */
const SERVED_ALL = "servedAll";

export class TenantNotes {
  readonly #sql: NodeSql;
  readonly deployment: Notes;

  constructor(sql: NodeSql) {
    this.#sql = sql;
    sql.all(
      `CREATE TABLE IF NOT EXISTS tenant_notes (
         tenant TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (tenant, name)
       ) WITHOUT ROWID`,
    );
    this.deployment = this.of("");
  }

  of(tenant: TenantId): Notes {
    const sql = this.#sql;
    return {
      read: (name) => {
        const [row] = sql.all("SELECT value FROM tenant_notes WHERE tenant = ? AND name = ?", tenant, name);
        return row && String(row["value"]);
      },
      write: (name, value) => {
        sql.all(
          "INSERT OR REPLACE INTO tenant_notes (tenant, name, value) VALUES (?, ?, ?)",
          tenant,
          name,
          value,
        );
      },
    };
  }

  /** Returns the chats with a non-empty note of this name. */
  tenantsWith(name: string): TenantId[] {
    return this.#sql
      .all("SELECT tenant FROM tenant_notes WHERE name = ? AND value <> ''", name)
      .map(({ tenant }) => String(tenant));
  }

  /**
   * Forgets all admission decisions if `since` differs from the previous call's value. `since` is the time of the
   * last change from one gateway per chat to one gateway for all chats.
   */
  servedAllSince(since: string): void {
    if ((this.deployment.read(SERVED_ALL) ?? "") === since) return;
    for (const tenant of this.tenantsWith("admitted")) forgetDecision(this.of(tenant));
    this.deployment.write(SERVED_ALL, since);
  }
}
