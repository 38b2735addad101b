import type { TenantId } from "../../contract/tenant.ts";
import type { Notes } from "../../edge/ports.ts";
import { forgetDecision } from "../../edge/tenants/gate.ts";
import type { NodeSql } from "../ledger.ts";

/** Name of the deployment's note: since when one gateway served every chat before. */
const SERVED_ALL = "servedAll";

/** Notes about the chats, and about the deployment, which outlive this process. */
export class TenantNotes {
  readonly #sql: NodeSql;
  /** Notes about the deployment. */
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

  /** Returns the notes about a chat. */
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

  /** Returns the chats that have a note of this name that is not empty. */
  having(name: string): TenantId[] {
    return this.#sql
      .all("SELECT tenant FROM tenant_notes WHERE name = ? AND value <> ''", name)
      .map(({ tenant }) => String(tenant));
  }

  /** Has each chat asked about again if one gateway has served all since: its people may be others by now. */
  servedAllSince(since: string): void {
    if ((this.deployment.read(SERVED_ALL) ?? "") === since) return;
    for (const tenant of this.having("admitted")) forgetDecision(this.of(tenant));
    this.deployment.write(SERVED_ALL, since);
  }
}
