import type { ActivityEntry, Clock } from "../ports.ts";
import type { Sql } from "./sql.ts";

const MOST = 1_000;
const LONGEST_DETAIL = 200;
/** Number of stored diffs. */
const MAX_DIFFS = 200;

export class ActivityStore {
  readonly #sql: Sql;
  readonly #clock: Clock;

  constructor(sql: Sql, clock: Clock) {
    this.#sql = sql;
    this.#clock = clock;
    sql.all(
      "CREATE TABLE IF NOT EXISTS ledger_activity (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL, detail TEXT NOT NULL)",
    );
    // Store diffs in a table of their own: older versions ignore that table and can still read `ledger_activity`.
    sql.all("CREATE TABLE IF NOT EXISTS ledger_activity_diffs (seq INTEGER PRIMARY KEY, diff TEXT NOT NULL)");
  }

  record({ by, action, detail, diff }: Omit<ActivityEntry, "at">): void {
    this.#sql.transaction(() => {
      this.#sql.all(
        "INSERT INTO ledger_activity (at, who, action, detail) VALUES (?, ?, ?, ?)",
        this.#clock(),
        by,
        action,
        detail.slice(0, LONGEST_DETAIL),
      );
      const newest = "(SELECT max(seq) FROM ledger_activity)";
      if (diff !== undefined) {
        this.#sql.all(`INSERT INTO ledger_activity_diffs VALUES (${newest}, ?)`, diff);
        this.#sql.all(
          "DELETE FROM ledger_activity_diffs WHERE seq NOT IN (SELECT seq FROM ledger_activity_diffs ORDER BY seq DESC LIMIT ?)",
          MAX_DIFFS,
        );
      }
      this.#sql.all(
        "DELETE FROM ledger_activity WHERE seq <= (SELECT max(seq) FROM ledger_activity) - ?",
        MOST,
      );
    });
  }

  /** Records the running version if it is new. */
  deployed(version: string, bundle: string): void {
    const detail = `${version} ${bundle}`;
    const [last] = this.#sql.all(
      "SELECT detail FROM ledger_activity WHERE action = 'deploy' ORDER BY seq DESC LIMIT 1",
    );
    if (last?.["detail"] !== detail) this.record({ by: "the stack", action: "deploy", detail });
  }

  list(limit: number, actions?: readonly string[]): ActivityEntry[] {
    const rows = this.#sql.all(
      `SELECT * FROM ledger_activity LEFT JOIN ledger_activity_diffs USING (seq)
       WHERE ?1 IS NULL OR action IN (SELECT value FROM json_each(?1)) ORDER BY seq DESC LIMIT ?2`,
      actions === undefined ? null : JSON.stringify(actions),
      limit,
    );
    return rows.map(({ at, who, action, detail, diff }) => {
      const entry: ActivityEntry = {
        at: new Date(Number(at)).toISOString(),
        by: String(who),
        action: String(action),
        detail: String(detail),
      };
      if (diff) entry.diff = String(diff);
      return entry;
    });
  }
}
