import { parseJson } from "../../shared/json.ts";
import {
  type Admitted,
  deliverySchema,
  type Delivery,
  type DeliveryNotice,
} from "../../contract/delivery.ts";
import { Chats, chatKeyOf, Turns, WINDOW, type LedgerTurn } from "./chats.ts";
import type {
  EntryState,
  LedgerCounts,
  LedgerDetails,
  LedgerPage,
  LedgerQuery,
  ReplayResult,
} from "../ports.ts";
import { detailsOf, listEntries, MAX_ATTEMPTS } from "./listing.ts";
import { NameStore } from "./names.ts";
import { excerptOf, peopleOf } from "./people.ts";
import { prepareLedger } from "./schema.ts";
import type { Row, Sql } from "./sql.ts";
import { carriedMessage, isRelevant } from "./versions.ts";

export interface SettledAs {
  state: "answered" | "ignored" | "failed";
  /** The reason; contains no secret. */
  note: string;
  group?: string | undefined;
  /** Milliseconds by which the first text (answer or notice) preceded the gateway's result. */
  firstWordMs?: number | undefined;
  admitted?: Admitted | undefined;
}

/**
 * `known`: already recorded; the platform sent the event again. `left`: not recorded, because it is an edit or deletion
 * that affects no answer.
 */
export type RecordOutcome = "recorded" | "known" | "left";

export interface DueEntry {
  key: string;
  /** Number of deliveries started, including this one. */
  attempt: number;
  delivery: Delivery;
}

export interface DueChat {
  chatKey: string;
  /** Id of the event before these entries, if that event is not settled yet. */
  after?: string;
  entries: readonly [DueEntry, ...DueEntry[]];
}

/** Milliseconds that a message waits before its chat receives a notice. */
const NOTICE_MS = 60_000;

/**
 * Maximum total length, in characters, of the events in one delivery. It keeps the request below the gateway's limit
 * of 2 MiB of UTF-8. A longer event is delivered alone.
 */
const LONGEST = 512 * 1024;

/** Maximum size, in bytes, of an event that {@link LedgerStore.recent} returns. */
const LONGEST_RECENT = 128 * 1024;
/** Maximum total size, in bytes, of the events that {@link LedgerStore.recent} returns. The gateway accepts 2 MiB. */
const MAX_RECENT = 1.5 * 1024 * 1024;

const LONGEST_REASON = 200;

const UNREADABLE = "this version cannot read the entry";

/** Stores verified events until they are pruned. */
export class LedgerStore {
  readonly chats: Chats;
  readonly names: NameStore;
  readonly #sql: Sql;
  readonly #turns: Turns;

  /**
   * Prepares the tables and resets entries that a crash interrupted.
   *
   * @throws StewardError as {@link prepareLedger} does
   */
  constructor(sql: Sql) {
    this.#sql = sql;
    this.chats = new Chats(sql);
    this.#turns = new Turns(sql);
    sql.transaction(() => {
      prepareLedger(sql);
      // The interrupted attempt's outcome is unknown, so `attempts` does not count it.
      sql.all(
        `UPDATE ledger SET state = 'waiting', attempts = attempts - 1
         WHERE settled_at IS NULL AND state = 'delivering'`,
      );
      this.#turns.rebuild();
    });
    this.names = new NameStore(sql);
  }

  record(delivery: Delivery, now = delivery.receivedAt): RecordOutcome {
    const carried = carriedMessage(delivery);
    if (carried !== undefined && !isRelevant(this.#sql, delivery, carried)) return "left";
    const isChange = carried?.change !== undefined;
    const { sender, place, sightings } = peopleOf(delivery);
    const inserted = this.#sql.all(
      // A delay notice is due NOTICE_MS after the event's receipt, or immediately if the chat's oldest waiting event
      // will not be retried within NOTICE_MS. Edits and deletions get no notice.
      `INSERT INTO ledger (key, conversation, delivery, state, received_at, next_at, notice_at, message, sender,
         place, times)
       VALUES (?1, ?2, ?3, 'waiting', ?4, ?4, ?4 + iif(
         coalesce((SELECT next_at FROM ledger_turns WHERE conversation = ?2), 0) > ?4 + ?5, 0, ?5), ?6, ?7, ?8,
         json_object('recorded', ?9))
       ON CONFLICT (key) DO NOTHING RETURNING seq`,
      `${delivery.platform}:${delivery.id}`,
      chatKeyOf(delivery),
      JSON.stringify(delivery),
      delivery.receivedAt,
      isChange ? null : NOTICE_MS,
      carried === undefined || carried.change === "deletion" ? null : carried.message,
      sender ?? null,
      place ?? null,
      now,
    );
    if (inserted.length === 0) return "known";
    this.names.record(sightings, delivery.receivedAt);
    return "recorded";
  }

  /**
   * Marks due entries as `delivering` and returns them by chat. Takes at most `limit` chats, starting with chats that
   * have no delivery in progress. Adds chats that have a delivery in progress only until this call has taken
   * `followerLimit` chats in total. Settles an unreadable entry as failed, so that it does not block its chat.
   * Records that an event received before `readyAt` waited for the gateway's start.
   */
  take(
    now: number,
    limit: number,
    followerLimit = limit,
    except: Iterable<string> = [],
    readyAt = 0,
  ): DueChat[] {
    // This check is cheaper than a transaction, and most calls find nothing due.
    if (!this.#turns.isDue(now)) return [];
    // The ledger resets `delivering` entries to `waiting` when it is opened, so losing this write in a power cut is
    // harmless.
    return this.#sql.lightTransaction(() => {
      const taken: DueChat[] = [];
      const passed = new Set(except);
      const takeAll = (follows: boolean, most: number): void => {
        let again = true;
        while (again && taken.length < most) {
          const turns = this.#turns.due(now, follows, most - taken.length, passed);
          const begun = turns.flatMap((turn) => this.#begin(turn, now, readyAt) ?? []);
          for (const { chatKey } of begun) passed.add(chatKey);
          taken.push(...begun);
          // If an unreadable entry was marked as failed, look for due entries again: the chat's next entry may now be
          // due.
          again = begun.length < turns.length;
        }
      };
      takeAll(false, limit);
      takeAll(true, Math.min(limit, followerLimit));
      return taken;
    });
  }

  /** Marks the chat's next entry and the due ones after it as `delivering`. */
  #begin({ chatKey, seq: from }: LedgerTurn, now: number, readyAt: number): DueChat | undefined {
    const rows = this.#sql.all(
      `SELECT seq, key, delivery, state, attempts, next_at, received_at FROM (
         SELECT * FROM ledger WHERE conversation = ? AND settled_at IS NULL ORDER BY seq LIMIT ${WINDOW})
       WHERE seq >= ? ORDER BY seq`,
      chatKey,
      from,
    );
    const entries: DueEntry[] = [];
    let length = 0;
    for (const row of rows) {
      const { seq, key, delivery: text, state, attempts, next_at: nextAt, received_at: receivedAt } = row;
      length += String(text).length;
      if (state !== "waiting" || Number(nextAt) > now) break;
      if (entries.length > 0 && length > LONGEST) break;
      const entry = { key: String(key), attempt: Number(attempts) + 1 };
      const hasWaited = entry.attempt === 1 && readyAt > Number(receivedAt);
      this.#sql.all(
        `UPDATE ledger SET state = 'delivering', attempts = ?, times = json_patch(coalesce(times, '{}'), ?)
         WHERE seq = ?`,
        entry.attempt,
        JSON.stringify({ attempted: now, ...(hasWaited && { started: readyAt }) }),
        Number(seq),
      );
      const delivery = readDelivery(text);
      if (delivery === undefined) this.#end(entry.key, { state: "failed", note: UNREADABLE }, now);
      else entries.push({ ...entry, delivery });
    }
    const after = this.#before(chatKey, from);
    this.#turns.update(chatKey);
    const [first, ...rest] = entries;
    if (first === undefined) return undefined;
    return { chatKey, ...(after !== undefined && { after }), entries: [first, ...rest] };
  }

  #before(chatKey: string, seq: number): string | undefined {
    const [row] = this.#sql.all(
      `SELECT key FROM ledger WHERE conversation = ? AND settled_at IS NULL AND seq < ?
       ORDER BY seq DESC LIMIT 1`,
      chatKey,
      seq,
    );
    // Remove only the platform's prefix: the event id itself may contain colons.
    return row === undefined ? undefined : String(row["key"]).replace(/^[^:]*:/, "");
  }

  /**
   * Returns the events for which a delay notice is due, each event only once, with the reason for the delay if known.
   * Omits events in progress, because the gateway sends their notices itself.
   */
  takeNotices(now: number, limit: number): { delivery: Delivery; notice: DeliveryNotice }[] {
    return this.#sql.lightTransaction(() => {
      const rows = this.#sql.all(
        `SELECT ledger.seq, ledger.state, ledger.delivery, turns.next_at, head.note FROM ledger
         LEFT JOIN ledger_turns AS turns ON turns.conversation = ledger.conversation
         LEFT JOIN ledger AS head ON head.seq = turns.seq
         WHERE ledger.settled_at IS NULL AND ledger.notice_at <= ? ORDER BY ledger.notice_at LIMIT ?`,
        now,
        limit,
      );
      return rows.flatMap(({ seq, state, delivery: text, next_at: nextAt, note }) => {
        const isUnderWay = state === "delivering";
        this.#sql.all(
          "UPDATE ledger SET notice_at = ? WHERE seq = ?",
          isUnderWay ? now + NOTICE_MS : null,
          seq ?? null,
        );
        const delivery = readDelivery(text);
        if (isUnderWay || delivery === undefined) return [];
        const code = /^\d{3} ([a-z_]+)/.exec(String(note))?.[1];
        const notice = {
          ...(code !== undefined && { code }),
          ...(nextAt != null && { nextAt: Number(nextAt) }),
        };
        return [{ delivery, notice }];
      });
    });
  }

  nextNotice(): number | undefined {
    const [row] = this.#sql.all(
      "SELECT min(notice_at) AS at FROM ledger WHERE settled_at IS NULL AND notice_at IS NOT NULL",
    );
    return row?.["at"] == null ? undefined : Number(row["at"]);
  }

  /** Resets `delivering` entries to `waiting` if their keys are not in `active`. */
  release(active: readonly string[]): void {
    this.#updateAll(
      `UPDATE ledger SET state = 'waiting' WHERE settled_at IS NULL AND state = 'delivering'
       AND key NOT IN (SELECT value FROM json_each(?)) RETURNING conversation`,
      JSON.stringify(active),
    );
  }

  /** Fails waiting entries received before `before`. */
  expire(before: number, now: number): Delivery[] {
    const rows = this.#updateAll(
      `UPDATE ledger SET state = 'failed', settled_at = ?, note = coalesce(note, 'never delivered')
       WHERE settled_at IS NULL AND state = 'waiting' AND received_at < ? RETURNING conversation, delivery`,
      now,
      before,
    );
    return rows.flatMap(({ delivery }) => readDelivery(delivery) ?? []);
  }

  recordNotified({ platform, id }: Delivery, told: boolean): void {
    this.#sql.all(
      "UPDATE ledger SET note = note || ?2 WHERE key = ?1 AND state = 'failed'",
      `${platform}:${id}`,
      told ? ". The sender was notified." : ". The sender was not notified.",
    );
  }

  /**
   * Makes entries due now if their time of receipt is later than `limit`. Such entries arrived while the clock was
   * ahead.
   */
  bringForward(now: number, limit: number): void {
    this.#updateAll(
      `UPDATE ledger SET next_at = ? WHERE settled_at IS NULL AND received_at > ? AND next_at > ?
       RETURNING conversation`,
      now,
      limit,
      now,
    );
  }

  /** Makes the waiting entries of these chats due now if their note equals `note`. */
  makeDue(conversations: readonly string[], note: string, now: number): void {
    this.#updateAll(
      `UPDATE ledger SET next_at = ?1 WHERE settled_at IS NULL AND state = 'waiting' AND next_at > ?1
       AND note = ?2 AND conversation IN (SELECT value FROM json_each(?3)) RETURNING conversation`,
      now,
      note,
      JSON.stringify(conversations),
    );
  }

  #updateAll(statement: string, ...values: (string | number)[]): Row[] {
    return this.#sql.transaction(() => {
      const rows = this.#sql.all(statement, ...values);
      const changed = rows.map((row) => String(row["conversation"]));
      for (const chatKey of new Set(changed)) this.#turns.update(chatKey);
      return rows;
    });
  }

  /**
   * Settles an entry. If a power cut undoes this write, the entry is redelivered, and the gateway recognises the
   * duplicate.
   */
  settle(key: string, end: SettledAs, now: number): void {
    this.#sql.lightTransaction(() => {
      const chatKey = this.#end(key, end, now);
      this.#turns.update(chatKey);
      if (end.state === "answered") this.chats.answered(chatKey, now);
    });
  }

  #end(key: string, { state, note, group, firstWordMs, admitted }: SettledAs, now: number): string {
    const [row] = this.#sql.all(
      `UPDATE ledger SET state = ?, settled_at = ?, note = ?, group_id = ?,
         times = json_patch(coalesce(times, '{}'), ?) WHERE key = ?
       RETURNING conversation, sender`,
      state,
      now,
      note,
      group ?? null,
      JSON.stringify(firstWordMs === undefined ? {} : { firstWord: now - firstWordMs }),
      key,
    );
    if (admitted !== undefined && row?.["sender"] != null) this.names.admit(String(row["sender"]), admitted);
    return String(row?.["conversation"]);
  }

  /**
   * Reschedules an entry. Resets the attempts and retry times of the chat's later entries, which wait for this entry.
   */
  postpone(key: string, nextAt: number, note: string, now = nextAt): void {
    this.#sql.transaction(() => {
      const [row] = this.#sql.all(
        `UPDATE ledger SET state = 'waiting', next_at = ?1, note = ?2, attempt_log = json_insert(
           iif(json_array_length(attempt_log) >= ?5, json_remove(attempt_log, '$[0]'), coalesce(attempt_log, '[]')),
           '$[#]', json_object('at', times ->> '$.attempted', 'endedAt', ?4, 'note', substr(?2, 1, ?6)))
         WHERE key = ?3 AND settled_at IS NULL RETURNING conversation`,
        nextAt,
        note,
        key,
        now,
        MAX_ATTEMPTS,
        LONGEST_REASON,
      );
      if (row === undefined) return;
      const chatKey = String(row["conversation"]);
      this.#turns.update(chatKey);
      this.#sql.all(
        `UPDATE ledger SET attempts = 0, next_at = received_at WHERE seq IN (
           SELECT seq FROM ledger WHERE conversation = ? AND settled_at IS NULL ORDER BY seq LIMIT ?)
         AND seq > ? AND state = 'waiting'`,
        chatKey,
        WINDOW,
        this.#turns.seqOf(chatKey) ?? 0,
      );
    });
  }

  nextDue(after = -1): number | undefined {
    return this.#turns.next(after);
  }

  hasOpen(): boolean {
    return this.#sql.all("SELECT 1 FROM ledger WHERE settled_at IS NULL LIMIT 1").length > 0;
  }

  oldestOpen(): number | undefined {
    const [row] = this.#sql.all(
      "SELECT min(received_at) AS at FROM ledger INDEXED BY ledger_open WHERE settled_at IS NULL",
    );
    return row?.["at"] === null || row === undefined ? undefined : Number(row["at"]);
  }

  counts(): LedgerCounts {
    const counts: LedgerCounts = { waiting: 0, delivering: 0, answered: 0, ignored: 0, failed: 0 };
    const rows = this.#sql.all(
      `SELECT state, entries AS n FROM ledger_totals
       UNION ALL
       SELECT state, count(*) FROM ledger INDEXED BY ledger_open WHERE settled_at IS NULL GROUP BY state`,
    );
    for (const row of rows) {
      counts[row["state"] as EntryState] = Number(row["n"]);
    }
    return counts;
  }

  /** Implements {@link Ledger.recent}. To limit memory use, loads at most {@link MAX_RECENT} bytes of events. */
  recent(limit: number): (string | undefined)[] {
    const sizes = this.#sql.all(
      "SELECT seq, octet_length(delivery) AS bytes FROM ledger ORDER BY seq DESC LIMIT ?",
      limit,
    );
    let total = 0;
    const past = sizes.find(({ bytes }) => {
      total += Number(bytes) > LONGEST_RECENT ? 0 : Number(bytes);
      return total > MAX_RECENT;
    });
    const rows = this.#sql.all(
      `SELECT iif(octet_length(delivery) > ?, NULL, delivery) AS delivery FROM ledger
       WHERE seq > ? ORDER BY seq DESC LIMIT ?`,
      LONGEST_RECENT,
      Number(past?.["seq"] ?? 0),
      limit,
    );
    return rows.map(({ delivery }) => (delivery == null ? undefined : String(delivery)));
  }

  list(query: LedgerQuery): LedgerPage {
    return listEntries(this.#sql, query);
  }

  details(key: string): LedgerDetails | undefined {
    return detailsOf(this.#sql, key);
  }

  excerpt(key: string): string | undefined {
    const [row] = this.#sql.all("SELECT delivery FROM ledger WHERE key = ?", key);
    const delivery = row && readDelivery(row["delivery"]);
    return delivery && excerptOf(delivery);
  }

  /** Makes a failed or ignored entry due now. It counts as received now, so that it does not expire immediately. */
  replay(key: string, now: number): ReplayResult {
    return this.#sql.transaction(() => {
      const [row] = this.#sql.all("SELECT state, conversation FROM ledger WHERE key = ?", key);
      if (row === undefined) return "unknown";
      if (row["state"] !== "failed" && row["state"] !== "ignored") return "not_replayable";
      this.#sql.all(
        `UPDATE ledger SET state = 'waiting', attempts = 0, settled_at = NULL, note = NULL, group_id = NULL,
           received_at = ?1, next_at = ?1, times = json_object('recorded', ?1), attempt_log = NULL,
           delivery = CASE WHEN json_valid(delivery) THEN json_set(delivery, '$.receivedAt', ?1) ELSE delivery END
         WHERE key = ?2`,
        now,
        key,
      );
      this.#turns.update(String(row["conversation"]));
      return "replayed";
    });
  }

  prune(before: number, limit: number): void {
    this.#sql.all(
      "DELETE FROM ledger WHERE seq IN (SELECT seq FROM ledger WHERE settled_at < ? LIMIT ?)",
      before,
      limit,
    );
  }
}

function readDelivery(text: unknown): Delivery | undefined {
  return deliverySchema.safeParse(parseJson(String(text))).data;
}
