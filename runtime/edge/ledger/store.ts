import { deliverySchema, type Delivery } from "../../contract/control.ts";
import type { LedgerCounts } from "../ports.ts";
import type { Row, Sql } from "./sql.ts";

/** The life of an entry; `answered` and `dead` are settled. */
export type EntryState = "received" | "delivering" | "answered" | "dead";

/** An entry that is due for delivery. */
export interface DueEntry {
  key: string;
  /** Deliveries begun, this one included. */
  attempt: number;
  delivery: Delivery;
}

/** No earlier entry of the same conversation is open: this one is next in order. */
const IS_HEAD = `NOT EXISTS (SELECT 1 FROM ledger AS earlier WHERE earlier.settled_at IS NULL
  AND earlier.conversation = entry.conversation AND earlier.seq < entry.seq)`;

// The partial index keeps every look-up as small as the open work, however many settled rows there are.
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS ledger (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     key TEXT NOT NULL UNIQUE,
     conversation TEXT NOT NULL,
     delivery TEXT NOT NULL,
     state TEXT NOT NULL DEFAULT 'received',
     attempts INTEGER NOT NULL DEFAULT 0,
     received_at INTEGER NOT NULL,
     next_at INTEGER NOT NULL,
     settled_at INTEGER,
     note TEXT
   )`,
  `CREATE INDEX IF NOT EXISTS ledger_open ON ledger (conversation, seq) WHERE settled_at IS NULL`,
  `CREATE INDEX IF NOT EXISTS ledger_settled ON ledger (settled_at) WHERE settled_at IS NOT NULL`,
];

/** The ledger's table: every verified event from its arrival until it is settled. */
export class LedgerStore {
  readonly #sql: Sql;

  /** Creates the table where it is missing and takes up what a crash left behind. */
  constructor(sql: Sql) {
    this.#sql = sql;
    for (const statement of SCHEMA) sql.all(statement);
    sql.all("UPDATE ledger SET state = 'received' WHERE settled_at IS NULL AND state = 'delivering'");
  }

  /** Stores an event. Returns false where its id is known: the platform sent it again. */
  record(delivery: Delivery): boolean {
    const key = `${delivery.platform}:${delivery.id}`;
    return this.#sql.transaction(() => {
      const inserted = this.#sql.all(
        `INSERT INTO ledger (key, conversation, delivery, received_at, next_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (key) DO NOTHING RETURNING seq`,
        key,
        `${delivery.platform}:${delivery.conversation}`,
        JSON.stringify(delivery),
        delivery.receivedAt,
        delivery.receivedAt,
      );
      return inserted.length > 0;
    });
  }

  /**
   * Marks up to `limit` due entries as delivering and returns them: of each conversation only the
   * oldest open one, so that a conversation stays in order. An entry that this version cannot read
   * is settled as dead, so that it holds up nobody.
   */
  take(now: number, limit: number): DueEntry[] {
    const rows = this.#sql.transaction(() =>
      this.#sql
        .all(
          `SELECT seq FROM ledger AS entry
           WHERE settled_at IS NULL AND state = 'received' AND next_at <= ? AND ${IS_HEAD}
           ORDER BY seq LIMIT ?`,
          now,
          limit,
        )
        .flatMap(({ seq = null }) =>
          this.#sql.all(
            `UPDATE ledger SET state = 'delivering', attempts = attempts + 1 WHERE seq = ?
             RETURNING key, attempts, delivery`,
            seq,
          ),
        ),
    );
    return rows.flatMap((row) => {
      const entry = dueEntry(row);
      if (entry !== undefined) return [entry];
      this.settle(String(row["key"]), "dead", now, "the entry cannot be read by this version");
      return [];
    });
  }

  /** Puts back what is marked as delivering although nobody delivers it. `active` are the keys under way. */
  release(active: readonly string[]): void {
    this.#sql.all(
      `UPDATE ledger SET state = 'received' WHERE settled_at IS NULL AND state = 'delivering'
       AND key NOT IN (SELECT value FROM json_each(?))`,
      JSON.stringify(active),
    );
  }

  /** Gives up what was received before `before` and is not being delivered. Returns how many. */
  expire(before: number, now: number): number {
    const expired = this.#sql.all(
      `UPDATE ledger SET state = 'dead', settled_at = ?, note = coalesce(note, 'never delivered')
       WHERE settled_at IS NULL AND state = 'received' AND received_at < ? RETURNING seq`,
      now,
      before,
    );
    return expired.length;
  }

  /** Ends an entry. `note` tells how, in words that hold no secret. */
  settle(key: string, state: "answered" | "dead", now: number, note: string): void {
    this.#sql.all(
      "UPDATE ledger SET state = ?, settled_at = ?, note = ? WHERE key = ?",
      state,
      now,
      note,
      key,
    );
  }

  /** Puts an entry back, due at `nextAt`. */
  postpone(key: string, nextAt: number, note: string): void {
    this.#sql.all(
      "UPDATE ledger SET state = 'received', next_at = ?, note = ? WHERE key = ? AND settled_at IS NULL",
      nextAt,
      note,
      key,
    );
  }

  /** When the next entry whose turn it is falls due, `undefined` where none waits. */
  nextDue(): number | undefined {
    const [row] = this.#sql.all(
      `SELECT min(next_at) AS at FROM ledger AS entry
       WHERE settled_at IS NULL AND state = 'received' AND ${IS_HEAD}`,
    );
    return typeof row?.["at"] === "number" ? row["at"] : undefined;
  }

  /** True where an entry is not settled yet. */
  hasOpen(): boolean {
    return this.#sql.all("SELECT 1 FROM ledger WHERE settled_at IS NULL LIMIT 1").length > 0;
  }

  /** Entries by state. */
  counts(): LedgerCounts {
    const counts: LedgerCounts = { received: 0, delivering: 0, answered: 0, dead: 0 };
    for (const row of this.#sql.all("SELECT state, count(*) AS n FROM ledger GROUP BY state")) {
      counts[row["state"] as EntryState] = Number(row["n"]);
    }
    return counts;
  }

  /** Deletes up to `limit` entries that were settled before `before`. */
  prune(before: number, limit: number): void {
    this.#sql.all(
      "DELETE FROM ledger WHERE seq IN (SELECT seq FROM ledger WHERE settled_at < ? LIMIT ?)",
      before,
      limit,
    );
  }
}

function dueEntry(row: Row): DueEntry | undefined {
  const parsed = deliverySchema.safeParse(parseJson(String(row["delivery"])));
  if (!parsed.success) return undefined;
  return { key: String(row["key"]), attempt: Number(row["attempts"]), delivery: parsed.data };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
