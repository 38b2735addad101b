import type { Sql } from "./sql.ts";

/**
 * How many entries are settled, by state, kept by the database itself with every change: they are
 * asked for by every scrape, and counting a million rows is what neither a host's process nor a bill
 * should bear. Open entries are few, and are counted.
 */
export const TOTALS_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS ledger_totals (
     state TEXT PRIMARY KEY,
     entries INTEGER NOT NULL
   ) WITHOUT ROWID`,
  // Once, for a ledger that is older than this table. Its states get their present names below.
  `INSERT INTO ledger_totals SELECT states.value,
     (SELECT count(*) FROM ledger INDEXED BY ledger_ended WHERE settled_at IS NOT NULL AND state = states.value)
   FROM json_each('["answered", "dead"]') AS states WHERE NOT EXISTS (SELECT 1 FROM ledger_totals)`,
  `CREATE TRIGGER IF NOT EXISTS ledger_state_changed AFTER UPDATE OF state ON ledger
   WHEN old.state <> new.state BEGIN
     UPDATE ledger_totals SET entries = entries + (state = new.state) - (state = old.state)
     WHERE state IN (old.state, new.state);
   END`,
  // The ledger itself records open entries alone; a restored or imported one may come settled.
  `CREATE TRIGGER IF NOT EXISTS ledger_inserted AFTER INSERT ON ledger WHEN new.settled_at IS NOT NULL BEGIN
     UPDATE ledger_totals SET entries = entries + 1 WHERE state = new.state;
   END`,
  `CREATE TRIGGER IF NOT EXISTS ledger_deleted AFTER DELETE ON ledger BEGIN
     UPDATE ledger_totals SET entries = entries - 1 WHERE state = old.state;
   END`,
];

/**
 * Takes over a ledger from before these states: what waits was `received`, what failed `dead`, what was ignored
 * `answered`, and no column told the group. Done once, since afterwards there is no total of `dead`; a new ledger
 * begins with one.
 */
export function renameStates(sql: Sql): void {
  sql.transaction(() => {
    const columns = sql.all("SELECT name FROM pragma_table_info('ledger')").map(({ name }) => name);
    if (!columns.includes("group_id")) sql.all("ALTER TABLE ledger ADD COLUMN group_id TEXT");
    if (sql.all("SELECT 1 FROM ledger_totals WHERE state = 'dead'").length === 0) return;
    // The triggers carry the counts over.
    sql.all("INSERT INTO ledger_totals VALUES ('ignored', 0), ('failed', 0)");
    sql.all("UPDATE ledger SET state = 'failed' WHERE settled_at IS NOT NULL AND state = 'dead'");
    sql.all("UPDATE ledger SET state = 'waiting' WHERE settled_at IS NULL AND state = 'received'");
    sql.all("DELETE FROM ledger_totals WHERE state = 'dead'");
  });
}
