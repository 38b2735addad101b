import type { Clock, SignatureUse } from "../ports.ts";
import type { Sql } from "./sql.ts";

/** Maximum number of stored signatures. Normal use needs a few hundred. */
const MOST = 10_000;
/**
 * Time, in milliseconds, to keep expired signatures. If the clock is set back, they are valid again and must still
 * count as used.
 */
const KEPT_MS = 3_600_000;

/** Accepted signatures, stored to prevent replays. */
export class SignatureStore {
  readonly #sql: Sql;
  readonly #clock: Clock;

  constructor(sql: Sql, clock: Clock) {
    this.#sql = sql;
    this.#clock = clock;
    sql.all(
      "CREATE TABLE IF NOT EXISTS ledger_signatures (mac TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID",
    );
  }

  use(mac: string, expiresAt: number): SignatureUse {
    return this.#sql.transaction(() => {
      this.#sql.all("DELETE FROM ledger_signatures WHERE expires_at < ?", this.#clock() - KEPT_MS);
      const [known] = this.#sql.all("SELECT 1 FROM ledger_signatures WHERE mac = ?", mac);
      if (known !== undefined) return "used";
      const [count] = this.#sql.all("SELECT count(*) AS n FROM ledger_signatures");
      if (Number(count?.["n"]) >= MOST) return "full";
      this.#sql.all("INSERT INTO ledger_signatures VALUES (?, ?)", mac, expiresAt);
      return "accepted";
    });
  }
}
