import type { Delivery } from "../../contract/delivery.ts";
import type { TenantId } from "../../contract/tenant.ts";
import { chatKeyOf } from "../../edge/ledger/chats.ts";
import { ENTRY_STATES, type Ledger, type LedgerCounts } from "../../edge/ports.ts";
import type { NodeSql } from "../ledger.ts";

/** Conversations that are known to be in the table. */
const MOST_KNOWN = 10_000;

/** Maps the ledger's conversations to chats, so that each chat's events are shown and counted apart. */
export class TenantLedgers {
  readonly #sql: NodeSql;
  readonly #known = new Set<string>();

  constructor(sql: NodeSql) {
    this.#sql = sql;
    // Its name begins as the ledger's tables do: like these it is in no backup.
    sql.all(
      "CREATE TABLE IF NOT EXISTS ledger_tenants (conversation TEXT PRIMARY KEY, tenant TEXT NOT NULL) WITHOUT ROWID",
    );
    sql.all("CREATE INDEX IF NOT EXISTS ledger_tenants_of ON ledger_tenants (tenant)");
  }

  /** Makes the ledger fit to be counted by chat, once it has its tables. */
  prepare(): void {
    this.#sql.all("CREATE INDEX IF NOT EXISTS ledger_conversations ON ledger (conversation, state)");
    this.prune();
  }

  /** An event of a chat is being recorded. */
  arrives(tenant: TenantId, event: Delivery): void {
    const conversation = chatKeyOf(event);
    if (this.#known.has(conversation)) return;
    // Only for the console: what a power cut loses is written again with the next event.
    this.#sql.lightTransaction(() =>
      this.#sql.all("INSERT OR REPLACE INTO ledger_tenants VALUES (?, ?)", conversation, tenant),
    );
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.add(conversation);
  }

  /** Returns the ledger's conversations of a chat. */
  conversations(tenant: TenantId): string[] {
    return this.#sql
      .all("SELECT conversation FROM ledger_tenants WHERE tenant = ?", tenant)
      .map(({ conversation }) => String(conversation));
  }

  /** Forgets conversations whose events are gone from the ledger. */
  prune(): void {
    this.#known.clear();
    this.#sql.lightTransaction(() =>
      this.#sql.all("DELETE FROM ledger_tenants WHERE conversation NOT IN (SELECT conversation FROM ledger)"),
    );
  }

  /** Returns the number of a chat's events by state. */
  counts(tenant: TenantId): LedgerCounts {
    const rows = this.#sql.all(
      `SELECT state, count(*) AS n FROM ledger WHERE conversation IN (
         SELECT conversation FROM ledger_tenants WHERE tenant = ?) GROUP BY state`,
      tenant,
    );
    const found = new Map(rows.map(({ state, n }) => [String(state), Number(n)]));
    return Object.fromEntries(ENTRY_STATES.map((state) => [state, found.get(state) ?? 0])) as LedgerCounts;
  }

  /** Returns the ledger as the pages about one chat show it. */
  of(tenant: TenantId, ledger: Ledger): Ledger {
    return {
      ...ledger,
      counts: async () => this.counts(tenant),
      list: (query) => ledger.list({ ...query, tenant }),
    };
  }
}
