import type { Delivery } from "../../contract/delivery.ts";
import type { TenantId } from "../../contract/tenant.ts";
import { chatKeyOf } from "../../edge/ledger/chats.ts";
import { ENTRY_STATES, type Ledger, type LedgerCounts } from "../../edge/ports.ts";
import type { NodeSql } from "../ledger.ts";

const MAX_KNOWN = 10_000;

/** Maps conversations to chats, so that the console can show and count each chat's events. */
export class TenantLedgers {
  readonly #sql: NodeSql;
  readonly #known = new Set<string>();

  constructor(sql: NodeSql) {
    this.#sql = sql;
    // Named like the ledger's tables, so that backups exclude this table too.
    sql.all(
      "CREATE TABLE IF NOT EXISTS ledger_tenants (conversation TEXT PRIMARY KEY, tenant TEXT NOT NULL) WITHOUT ROWID",
    );
    sql.all("CREATE INDEX IF NOT EXISTS ledger_tenants_of ON ledger_tenants (tenant)");
  }

  /** Creates the index for counts by chat. Call this after the ledger has created its tables. */
  prepare(): void {
    this.#sql.all("CREATE INDEX IF NOT EXISTS ledger_conversations ON ledger (conversation, state)");
    this.prune();
  }

  arrives(tenant: TenantId, event: Delivery): void {
    const conversation = chatKeyOf(event);
    if (this.#known.has(conversation)) return;
    // A power cut may lose this row, but the chat's next event writes it again.
    this.#sql.lightTransaction(() =>
      this.#sql.all("INSERT OR REPLACE INTO ledger_tenants VALUES (?, ?)", conversation, tenant),
    );
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.add(conversation);
  }

  conversations(tenant: TenantId): string[] {
    return this.#sql
      .all("SELECT conversation FROM ledger_tenants WHERE tenant = ?", tenant)
      .map(({ conversation }) => String(conversation));
  }

  prune(): void {
    this.#known.clear();
    this.#sql.lightTransaction(() =>
      this.#sql.all("DELETE FROM ledger_tenants WHERE conversation NOT IN (SELECT conversation FROM ledger)"),
    );
  }

  counts(tenant: TenantId): LedgerCounts {
    const rows = this.#sql.all(
      `SELECT state, count(*) AS n FROM ledger WHERE conversation IN (
         SELECT conversation FROM ledger_tenants WHERE tenant = ?) GROUP BY state`,
      tenant,
    );
    const found = new Map(rows.map(({ state, n }) => [String(state), Number(n)]));
    return Object.fromEntries(ENTRY_STATES.map((state) => [state, found.get(state) ?? 0])) as LedgerCounts;
  }

  of(tenant: TenantId, ledger: Ledger): Ledger {
    return {
      ...ledger,
      counts: async () => this.counts(tenant),
      list: (query) => ledger.list({ ...query, tenant }),
    };
  }
}
