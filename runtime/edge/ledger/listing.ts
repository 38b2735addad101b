import { platformSchema } from "../../contract/delivery.ts";
import { isRecord, parseJson } from "../../shared/json.ts";
import {
  ENTRY_STATES,
  type EntryState,
  type LedgerAttempt,
  type LedgerDetails,
  type LedgerEntry,
  type LedgerPage,
  type LedgerQuery,
} from "../ports.ts";
import { keysMatching } from "./names.ts";
import type { Row, Sql } from "./sql.ts";

/** SQL expression for the platform, the prefix of a key. It must match the index's expression exactly. */
export const PLATFORM = "substr(key, 1, instr(key, ':') - 1)";

/**
 * Returns one page, newest first. Reads about `limit` rows regardless of the ledger's size; with a filter, about
 * `limit` rows for each matching platform and state.
 */
export function listEntries(sql: Sql, query: LedgerQuery): LedgerPage {
  const { state, platform, limit, before = Number.MAX_SAFE_INTEGER } = query;
  const searched = [query.sort, query.q, query.since, query.tenant, query.sender, query.place];
  if (searched.some((value) => value !== undefined)) return searchEntries(sql, query);
  const filtered = state !== undefined || platform !== undefined;
  // One extra row shows whether another page follows.
  const newest = filtered ? newestOfPairs(sql, query, before) : newestOfAll(sql, limit + 1, before);
  const shown = newest.slice(0, limit);
  const last = shown.at(-1);
  const next = newest.length > limit ? last : undefined;
  return { entries: readEntries(sql, shown), ...(next !== undefined && { next }) };
}

/** Maximum rows scanned per page of a search. */
const SEARCHED = 20_000;

const TERMS = {
  received: "seq",
  person: "coalesce((SELECT lower(name) FROM ledger_names WHERE key = sender), sender, '')",
  place: "coalesce((SELECT lower(name) FROM ledger_names WHERE key = place), place, '')",
  outcome: "state",
};

/** Returns one page of a search. If `next` is set, more rows remain to be searched, even if the page is not full. */
function searchEntries(sql: Sql, query: LedgerQuery): LedgerPage {
  const {
    state = null,
    platform = null,
    q = "",
    since = 0,
    limit,
    tenant,
    sender = null,
    place = null,
  } = query;
  // Sorted pages use `before` as a row offset.
  const [before, offset] =
    query.sort === undefined
      ? [query.before ?? Number.MAX_SAFE_INTEGER, 0]
      : [Number.MAX_SAFE_INTEGER, query.before ?? 0];
  const [term = "received"] = /[a-z]+/.exec(query.sort ?? "") ?? [];
  const direction = query.sort?.startsWith("-") === false ? "ASC" : "DESC";
  const named = q === "" ? [] : keysMatching(sql, q);
  const ofTenant =
    tenant === undefined
      ? ""
      : "AND conversation IN (SELECT conversation FROM ledger_tenants WHERE tenant = ?)";
  const [top] = sql.all("SELECT max(seq) AS seq FROM ledger WHERE seq < ?", before);
  if (top === undefined || top["seq"] === null) return { entries: [] };
  const lowest = Math.max(0, Number(top["seq"]) - SEARCHED);
  const found = sql
    .all(
      `SELECT seq FROM ledger WHERE seq < ? AND seq > ? AND received_at >= ? AND (? IS NULL OR state = ?)
         AND (? IS NULL OR ${PLATFORM} = ?) AND (? IS NULL OR sender = ?) AND (? IS NULL OR place = ?)
         AND (instr(lower(key), ?) > 0 OR instr(lower(conversation), ?) > 0
           OR sender IN (SELECT value FROM json_each(?)) OR place IN (SELECT value FROM json_each(?)))
         ${ofTenant}
       ORDER BY ${TERMS[term as keyof typeof TERMS]} ${direction}, seq DESC LIMIT ? OFFSET ?`,
      before,
      lowest,
      since,
      state,
      state,
      platform,
      platform,
      sender,
      sender,
      place,
      place,
      q.toLowerCase(),
      q.toLowerCase(),
      JSON.stringify(named),
      JSON.stringify(named),
      ...(tenant === undefined ? [] : [tenant]),
      limit + 1,
      offset,
    )
    .map(({ seq }) => Number(seq));
  const shown = found.slice(0, limit);
  if (query.sort !== undefined)
    return { entries: readEntries(sql, shown), ...(found.length > limit && { next: offset + limit }) };
  const from = found.length > limit ? shown.at(-1) : lowest + 1;
  const older = sql.all(
    "SELECT received_at FROM ledger WHERE seq < ? ORDER BY seq DESC LIMIT 1",
    from ?? before,
  );
  const isMore = older.length > 0 && Number(older[0]?.["received_at"]) >= since;
  return { entries: readEntries(sql, shown), ...(isMore && from !== undefined && { next: from }) };
}

/** Columns of a listing, without the event and its attempt log, which may be long. */
const COLUMNS = `key, ${PLATFORM} AS platform, conversation, state, attempts, received_at, next_at, settled_at, note,
  group_id, sender, place, times`;

export const MAX_ATTEMPTS = 10;

export function detailsOf(sql: Sql, key: string): LedgerDetails | undefined {
  const [row] = sql.all(`SELECT ${COLUMNS}, attempt_log FROM ledger WHERE key = ?`, key);
  if (row === undefined) return undefined;
  const entry = entryOf(row);
  const log = parseJson(String(row["attempt_log"]));
  const attempts = (Array.isArray(log) ? log : []).map(attemptOf);
  // Add the attempt that settled the entry, because the log lacks it. Expired entries were settled without an
  // attempt.
  const { attempted: at, settled: endedAt } = entry.timeline ?? {};
  if (entry.attempts > 0 && endedAt !== undefined && at !== attempts.at(-1)?.at)
    attempts.push({ ...(at !== undefined && { at }), endedAt, note: entry.note ?? entry.state });
  return { entry, attempts: attempts.slice(-MAX_ATTEMPTS) };
}

function attemptOf({ at, endedAt, note }: Record<string, unknown>): LedgerAttempt {
  return {
    ...(typeof at === "number" && { at: new Date(at).toISOString() }),
    endedAt: new Date(Number(endedAt)).toISOString(),
    note: String(note),
  };
}

function readEntries(sql: Sql, shown: readonly number[]): LedgerEntry[] {
  const rows = sql.all(
    `SELECT seq, ${COLUMNS} FROM ledger WHERE seq IN (SELECT value FROM json_each(?))`,
    JSON.stringify(shown),
  );
  const read = new Map(rows.map((row) => [row["seq"], entryOf(row)]));
  return shown.flatMap((seq) => read.get(seq) ?? []);
}

function newestOfAll(sql: Sql, limit: number, before: number): number[] {
  const rows = sql.all("SELECT seq FROM ledger WHERE seq < ? ORDER BY seq DESC LIMIT ?", before, limit);
  return rows.map(({ seq }) => Number(seq));
}

function newestOfPairs(sql: Sql, { state, platform, limit }: LedgerQuery, before: number): number[] {
  const platforms = platform === undefined ? platformSchema.options : [platform];
  const states = state === undefined ? ENTRY_STATES : [state];
  const pairs = platforms.flatMap((one) => states.map((other) => [one, other] as const));
  return pairs
    .flatMap(([one, other]) =>
      sql.all(
        `SELECT seq FROM ledger WHERE ${PLATFORM} = ? AND state = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
        one,
        other,
        before,
        limit + 1,
      ),
    )
    .map(({ seq }) => Number(seq))
    .sort((a, b) => b - a);
}

/** Keys of the JSON column `times`. Values are milliseconds since the epoch. */
const STEPS = ["recorded", "started", "attempted", "firstWord"] as const;

function entryOf(row: Row): LedgerEntry {
  const time = (column: string): string => new Date(Number(row[column])).toISOString();
  const settled = row["settled_at"] !== null;
  const times = parseJson(String(row["times"]));
  const steps = STEPS.flatMap((step) => {
    const at = isRecord(times) ? times[step] : undefined;
    return typeof at === "number" ? [[step, new Date(at).toISOString()]] : [];
  });
  return {
    key: String(row["key"]),
    platform: String(row["platform"]),
    conversation: String(row["conversation"]),
    state: row["state"] as EntryState,
    attempts: Number(row["attempts"]),
    receivedAt: time("received_at"),
    ...(settled ? { settledAt: time("settled_at") } : { nextAt: time("next_at") }),
    ...(row["note"] !== null && row["note"] !== "" && { note: String(row["note"]) }),
    ...(row["group_id"] !== null && { group: String(row["group_id"]) }),
    ...(row["sender"] !== null && { sender: String(row["sender"]) }),
    ...(row["place"] !== null && { place: String(row["place"]) }),
    timeline: {
      received: time("received_at"),
      ...(Object.fromEntries(steps) as Record<string, string>),
      ...(settled && {
        settled: time("settled_at"),
        ...(row["state"] === "answered" && { reply: time("settled_at") }),
      }),
    },
  };
}
