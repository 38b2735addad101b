import {
  type Admitted,
  type LearnedName,
  MAX_NAMES,
  type NameKind,
  type WantedName,
} from "../../contract/delivery.ts";
import { displayName, hueOf } from "../../shared/display-name.ts";
import type { NameEntry, NamePage, NameQuery, Sighting } from "../ports.ts";
import type { Row, Sql } from "./sql.ts";

/** Maximum number of stored entries. The least recently seen entries are dropped. */
const MAX_ENTRIES = 5_000;
/** Minimum interval between updates of `seen_at`, in milliseconds. It avoids a write per message. */
const SEEN_MS = 60_000;
/** Interval between name lookups on the platform. */
const ASK_AGAIN_MS = 24 * 3_600_000;
/** Interval after a failed lookup. */
const FAILED_AGAIN_MS = 3_600_000;
/** Maximum length of a key, in characters. No platform uses longer ids. */
const LONGEST_KEY = 256;

/**
 * Condition for keys of chats that can receive messages: channels, direct chats, and on Telegram also people and
 * groups.
 */
const IS_CHAT = "(kind = 'channel' OR person_of IS NOT NULL OR key GLOB 'telegram:*')";

export class NameStore {
  readonly #sql: Sql;
  #entries: number | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    // `folded` is the lower-case text that searches match. `person_of` links the key of a direct chat to its person.
    sql.all(
      `CREATE TABLE IF NOT EXISTS ledger_names (
         key TEXT PRIMARY KEY,
         kind TEXT NOT NULL,
         name TEXT,
         folded TEXT NOT NULL,
         person_of TEXT,
         admitted TEXT,
         first_at INTEGER NOT NULL,
         seen_at INTEGER NOT NULL,
         ask_at INTEGER NOT NULL
       ) WITHOUT ROWID`,
    );
    sql.all("CREATE INDEX IF NOT EXISTS ledger_names_seen ON ledger_names (seen_at, key)");
  }

  /** Records people, chats and browsers, with their names if known. A new name replaces the old one. */
  record(sightings: readonly Sighting[], time: number): void {
    for (const { key, kind, name, personOf, admitted, at: now = time } of sightings) {
      if (key.length > LONGEST_KEY) continue;
      const [row] = this.#sql.all("SELECT * FROM ledger_names WHERE key = ?", key);
      const shown = displayName(name) ?? nullable(row?.["name"]);
      const values = {
        key,
        kind,
        name: shown,
        folded: `${shown ?? ""} ${key}`.toLowerCase(),
        person_of: personOf ?? nullable(row?.["person_of"]),
        admitted: admitted ?? nullable(row?.["admitted"]),
        first_at: Number(row?.["first_at"] ?? now),
        seen_at: Math.max(now, Number(row?.["seen_at"] ?? 0)),
        // If the event contains a name, do not look the name up for a day.
        ask_at:
          name === undefined && personOf === undefined ? Number(row?.["ask_at"] ?? 0) : now + ASK_AGAIN_MS,
      };
      const changed =
        row === undefined ||
        values.seen_at >= Number(row["seen_at"]) + SEEN_MS ||
        (["kind", "name", "person_of", "admitted"] as const).some((column) => values[column] !== row[column]);
      if (changed) this.#write(values, row === undefined);
    }
  }

  #write(values: Record<string, string | number | null>, isNew: boolean): void {
    const columns = Object.keys(values);
    this.#sql.all(
      `INSERT OR REPLACE INTO ledger_names (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
      ...Object.values(values),
    );
    if (!isNew) return;
    this.#entries = (this.#entries ?? this.#count() - 1) + 1;
    if (this.#entries <= MAX_ENTRIES) return;
    // Count the rows instead of using `#entries`, which may be wrong after a rolled-back transaction.
    this.#sql.all(
      "DELETE FROM ledger_names WHERE key IN (SELECT key FROM ledger_names ORDER BY seen_at, key LIMIT ?)",
      Math.max(0, this.#count() - MAX_ENTRIES),
    );
    this.#entries = this.#count();
  }

  #count(): number {
    return Number(this.#sql.all("SELECT count(*) AS n FROM ledger_names")[0]?.["n"]);
  }

  /**
   * Returns at most {@link MAX_NAMES} of the keys: those whose name is unknown, or was learned at least a day ago.
   * Omits a key for an hour after a failed lookup.
   */
  dueKeys(keys: readonly string[], now: number): WantedName[] {
    return this.#sql
      .all(
        `SELECT key, kind FROM ledger_names WHERE key IN (SELECT value FROM json_each(?)) AND ask_at <= ? LIMIT ?`,
        JSON.stringify(keys),
        now,
        MAX_NAMES,
      )
      .map(({ key, kind }) => ({ key: String(key), kind: kind as NameKind }));
  }

  /** Stores looked-up names of known keys. */
  storeFound(names: readonly LearnedName[], now: number): void {
    for (const { key, name } of names) {
      const shown = displayName(name) ?? null;
      this.#sql.all(
        `UPDATE ledger_names SET ask_at = ?2, name = coalesce(?3, name),
           folded = iif(?3 IS NULL, folded, ?4) WHERE key = ?1`,
        key,
        now + (shown === null ? FAILED_AGAIN_MS : ASK_AGAIN_MS),
        shown,
        `${shown} ${key}`.toLowerCase(),
      );
    }
  }

  admit(key: string, admitted: Admitted): void {
    this.#sql.all(
      "UPDATE ledger_names SET admitted = ?2 WHERE key = ?1 AND admitted IS NOT ?2",
      key,
      admitted,
    );
  }

  names(keys: readonly string[]): Map<string, NameEntry> {
    const rows = this.#sql.all(
      `SELECT asked.key AS asked, named.* FROM json_each(?) AS given
       JOIN ledger_names AS asked ON asked.key = given.value
       JOIN ledger_names AS named ON named.key = coalesce(asked.person_of, asked.key)`,
      JSON.stringify(keys),
    );
    return new Map(rows.map((row) => [String(row["asked"]), entryOf(row)]));
  }

  entries({ kind, platform, isChat = false, q = "", limit, before }: NameQuery): NamePage {
    const { at, key } = /^(?<at>\d{1,15}) (?<key>.*)$/s.exec(before ?? "")?.groups ?? {};
    const rows = this.#sql.all(
      `SELECT * FROM ledger_names
       WHERE iif(?7, ${IS_CHAT}, person_of IS NULL) AND instr(folded, ?1) > 0 AND (?2 IS NULL OR kind = ?2)
         AND (?3 IS NULL OR substr(key, 1, length(?3)) = ?3) AND (seen_at, key) < (?4, ?5)
       ORDER BY seen_at DESC, key DESC LIMIT ?6`,
      q.toLowerCase(),
      kind ?? null,
      platform === undefined ? null : `${platform}:`,
      Number(at ?? Number.MAX_SAFE_INTEGER),
      key ?? "",
      limit + 1,
      Number(isChat),
    );
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const names = isChat ? this.names(shown.map(({ key }) => String(key))) : undefined;
    return {
      entries: shown.map((row) => {
        const entry = entryOf(row);
        const name = names?.get(entry.key)?.name;
        return name === undefined ? entry : Object.assign(entry, { name });
      }),
      ...(rows.length > limit && last !== undefined && { next: `${last["seen_at"]} ${last["key"]}` }),
    };
  }

  seenSince(time: number, limit: number): Sighting[] {
    const rows = this.#sql.all(
      "SELECT * FROM ledger_names WHERE seen_at >= ? ORDER BY seen_at DESC, key DESC LIMIT ?",
      time,
      limit,
    );
    return rows.map(sightingOf);
  }
}

/**
 * Returns the keys of people and chats whose name or key contains `q`, and of the direct chats of matching people.
 */
export function keysMatching(sql: Sql, q: string): string[] {
  const rows = sql.all(
    `SELECT key FROM ledger_names WHERE instr(folded, ?1) > 0
       OR person_of IN (SELECT key FROM ledger_names WHERE instr(folded, ?1) > 0)`,
    q.toLowerCase(),
  );
  return rows.map(({ key }) => String(key));
}

function sightingOf(row: Row): Sighting {
  return {
    key: String(row["key"]),
    kind: row["kind"] as NameKind,
    ...(row["name"] !== null && { name: String(row["name"]) }),
    ...(row["admitted"] !== null && { admitted: row["admitted"] as Admitted }),
    ...(row["person_of"] !== null && { personOf: String(row["person_of"]) }),
  };
}

function nullable(value: unknown): string | null {
  return value == null ? null : String(value);
}

function entryOf(row: Row): NameEntry {
  const key = String(row["key"]);
  const id = key.slice(key.indexOf(":") + 1);
  const time = (column: string): string => new Date(Number(row[column])).toISOString();
  return {
    key,
    kind: row["kind"] as NameKind,
    platform: key.slice(0, key.indexOf(":")) as NameEntry["platform"],
    id,
    ...(row["name"] !== null && { name: String(row["name"]) }),
    hue: hueOf(key),
    firstSeenAt: time("first_at"),
    lastSeenAt: time("seen_at"),
    ...(row["admitted"] !== null && { admitted: row["admitted"] as Admitted }),
  };
}
