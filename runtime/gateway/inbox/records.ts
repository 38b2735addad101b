import type { ReplyTarget } from "../../contract/message.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Delivery, Platform } from "../../contract/delivery.ts";
import { isStoreError, transaction, lightTransaction } from "../../process/database.ts";
import type { FirstWordReport } from "../../contract/control.ts";

/**
 * Maximum age of an unchanged record, in milliseconds. This is longer than the edge keeps events, so that a
 * redelivered event still finds its record.
 */
const KEEP_MS = 9 * 24 * 3_600_000;

type Key = Pick<Delivery, "platform" | "id">;

interface Unwritten {
  key: Key;
  facts: Partial<DeliveryRecord>;
  at: number;
}

export interface DeliveryRecord {
  /** Number of sent messages of the reply. */
  sent: number;
  answered: boolean;
  /** Id of the last delivery that the reply answers. The reply is recorded under this delivery. */
  owner?: string;
  /** Destination of the reply; absent until it is chosen. */
  target?: ReplyTarget;
  /** Platform-assigned id of the message with the partial reply, or of a notice that the reply will replace. */
  draft?: string;
  /** Notice sent instead of an answer, or while the answer is delayed. */
  said?: string;
}

/**
 * Records which deliveries are answered and how much of each reply was sent. A reply to several deliveries is
 * recorded under the last one.
 *
 * A retry sends a message twice if the gateway crashed before it recorded the message, or if the platform accepted
 * the message after a timeout. Records that cannot be written stay in memory.
 */
export class DeliveryRecords {
  readonly #database: DatabaseSync;
  readonly #read: StatementSync;
  readonly #sent: StatementSync;
  readonly #answered: StatementSync;
  readonly #owner: StatementSync;
  readonly #disown: StatementSync;
  readonly #draft: StatementSync;
  readonly #undraft: StatementSync;
  readonly #said: StatementSync;
  readonly #prune: StatementSync;
  readonly #unwritten = new Map<string, Unwritten>();

  constructor(database: DatabaseSync) {
    const insert = (columns: string, values: string, update: string): StatementSync =>
      database.prepare(
        `INSERT INTO deliveries (platform, id, at, sent, answered${columns}) VALUES (:platform, :id, :at, ${values})
         ON CONFLICT (platform, id) DO UPDATE SET at = excluded.at, ${update}`,
      );
    this.#database = database;
    this.#read = database.prepare("SELECT * FROM deliveries WHERE platform = ? AND id = ?");
    this.#sent = insert(", owner", ":sent, 0, :id", "sent = excluded.sent, owner = coalesce(owner, id)");
    this.#answered = insert("", "0, 1", "answered = 1");
    this.#owner = insert(", owner", "0, 0, :owner", "owner = excluded.owner");
    this.#disown = database.prepare("UPDATE deliveries SET owner = NULL WHERE platform = ? AND id = ?");
    this.#draft = insert(
      ", owner, chat, thread, draft",
      "0, 0, :id, :chat, :thread, :draft",
      "owner = excluded.owner, chat = excluded.chat, thread = excluded.thread, draft = excluded.draft",
    );
    this.#undraft = database.prepare("UPDATE deliveries SET draft = NULL WHERE platform = ? AND id = ?");
    this.#said = insert(", said", "0, 0, :said", "said = excluded.said");
    this.#prune = database.prepare("DELETE FROM deliveries WHERE at < ?");
  }

  of(key: Key): DeliveryRecord {
    return { ...this.#stored(key), ...this.#unwritten.get(recordName(key))?.facts };
  }

  #stored({ platform, id }: Key): DeliveryRecord {
    const row = this.#read.get(platform, id);
    const { sent, answered, owner, chat, thread, draft, said } = row ?? {};
    return {
      sent: Number(sent ?? 0),
      answered: answered === 1,
      ...(typeof owner === "string" && { owner }),
      ...(typeof chat === "string" && {
        target: { chat, ...(typeof thread === "string" && { thread }) },
      }),
      ...(typeof draft === "string" && { draft }),
      ...(typeof said === "string" && { said }),
    };
  }

  /**
   * Groups deliveries that get one reply. The reply is recorded under the last delivery. If an earlier attempt sent a
   * partial reply, the new reply continues in the same message.
   */
  take(platform: Platform, ids: readonly string[], target: ReplyTarget, at: number): void {
    const id = ids.at(-1) ?? "";
    const before = this.of({ platform, id: ids[0] ?? id }).owner ?? id;
    if (ids.length === 1 && before === id) return;
    const own = this.of({ platform, id });
    transaction(this.#database, () => {
      for (const member of ids) this.#owner.run({ platform, id: member, owner: id, at });
      if (own.draft === undefined) this.#locate({ platform, id }, null, target, at);
      if (before !== id && !this.of({ platform, id: before }).answered)
        this.moveDraft(platform, before, id, at);
    });
  }

  /** Undoes {@link take}, so that deliveries can be regrouped. Call it only before any part of the reply is sent. */
  release(platform: Platform, ids: readonly string[]): void {
    transaction(this.#database, () => {
      for (const id of ids) this.#disown.run(platform, id);
    });
  }

  keepDraft(key: Key, draft: string, target: ReplyTarget, at: number): void {
    this.#note([key], { draft, target }, at);
  }

  moveDraft(platform: Platform, from: string, to: string, at: number): void {
    const { draft, target } = this.of({ platform, id: from });
    if (draft === undefined || target === undefined) return;
    transaction(this.#database, () => {
      this.#locate({ platform, id: to }, draft, target, at);
      this.#undraft.run(platform, from);
    });
  }

  /**
   * Records the text of a notice or of the answer to a command. A retry sends this text and does not run the command
   * again.
   */
  say(key: Key, said: string, at: number): void {
    this.#note([key], { said }, at);
  }

  sent(key: Key, sent: number, at: number): void {
    this.#note([key], { sent }, at);
  }

  /** Marks all given deliveries as answered, or none. */
  answer(platform: Platform, ids: readonly string[], at: number): void {
    this.#note(
      ids.map((id) => ({ platform, id })),
      { answered: true },
      at,
    );
  }

  #note(keys: readonly Key[], facts: Partial<DeliveryRecord>, at: number): void {
    for (const key of keys) {
      const before = this.#unwritten.get(recordName(key))?.facts;
      this.#unwritten.set(recordName(key), { key, facts: { ...before, ...facts }, at });
    }
    try {
      transaction(this.#database, () => {
        for (const one of this.#unwritten.values()) this.#write(one);
        if (facts.answered) this.#prune.run(at - KEEP_MS);
      });
      this.#unwritten.clear();
    } catch (error) {
      if (isStoreError(error)) return;
      // Drop the failed changes, or every later write would fail as well.
      for (const key of keys) this.#unwritten.delete(recordName(key));
      throw error;
    }
  }

  #write({ key: { platform, id }, facts: { draft, target, said, sent, answered }, at }: Unwritten): void {
    if (draft !== undefined && target !== undefined) this.#locate({ platform, id }, draft, target, at);
    if (said !== undefined) this.#said.run({ platform, id, said, at });
    if (sent !== undefined) this.#sent.run({ platform, id, sent, at });
    if (answered) this.#answered.run({ platform, id, at });
  }

  #locate({ platform, id }: Key, draft: string | null, target: ReplyTarget, at: number): void {
    const { chat, thread = null } = target;
    this.#draft.run({ platform, id, draft, chat, thread, at });
  }
}

/** Returns a key that is unique across platforms. */
export function recordName({ platform, id }: Key): string {
  return `${platform} ${id}`;
}

/**
 * Upper bounds of the histogram's buckets, in seconds, as in Prometheus. The histogram counts messages by the time
 * that they waited for a notice or the first part of an answer.
 */
const BOUNDS = [1, 2, 5, 10, 30, 60, 120, 300, Number.POSITIVE_INFINITY] as const;
/** Seconds after which the first part of an answer is late: one minute, plus 5 s for the platform. */
const LATE_SECONDS = 65;
/** Limit for each map of {@link FirstWords}. */
const MAX_WAITING = 10_000;

/** Stores how long messages waited for a notice or the first part of an answer. */
export class FirstWords {
  readonly #database: DatabaseSync;
  readonly #add: StatementSync;
  readonly #all: StatementSync;
  /** Arrival times of messages without any response, by `<platform> <id>`. */
  readonly #waiting = new Map<string, number>();
  /** Times of recent first responses, oldest first. */
  readonly #heard = new Map<string, number>();
  #lateAt: number | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec(
      `CREATE TABLE IF NOT EXISTS first_words (bound TEXT PRIMARY KEY, count INTEGER NOT NULL, seconds REAL NOT NULL)
       STRICT, WITHOUT ROWID`,
    );
    this.#add = database.prepare(
      `INSERT INTO first_words VALUES (?, 1, ?)
       ON CONFLICT (bound) DO UPDATE SET count = count + 1, seconds = seconds + excluded.seconds`,
    );
    this.#all = database.prepare("SELECT bound, count, seconds FROM first_words");
  }

  /** `at`: arrival in milliseconds since the epoch. */
  wait(key: string, at: number): void {
    if (this.#waiting.size < MAX_WAITING) this.#waiting.set(key, at);
  }

  /** Records the time of the first response to a message. Later calls for the same message have no effect. */
  record(key: string, now: number): void {
    const at = this.#waiting.get(key);
    if (at === undefined) return;
    this.#waiting.delete(key);
    this.#heard.set(key, now);
    const [oldest] = this.#heard.keys();
    if (this.#heard.size > MAX_WAITING && oldest !== undefined) this.#heard.delete(oldest);
    const seconds = Math.max(0, now - at) / 1_000;
    if (seconds > LATE_SECONDS) this.#lateAt = now;
    const bound = BOUNDS.find((one) => seconds <= one) ?? Number.POSITIVE_INFINITY;
    lightTransaction(this.#database, () => this.#add.run(String(bound), seconds));
  }

  /**
   * Returns the time of the first response to a message, in milliseconds since the epoch; `undefined` if none is
   * recorded.
   */
  firstWordAt(key: string): number | undefined {
    return this.#heard.get(key);
  }

  /** Cancels a measurement without counting it. */
  forget(key: string): void {
    this.#waiting.delete(key);
  }

  get report(): FirstWordReport {
    const rows = new Map(this.#all.all().map((row) => [Number(row["bound"]), row]));
    let count = 0;
    const buckets = BOUNDS.map((bound) => {
      count += Number(rows.get(bound)?.["count"] ?? 0);
      return { le: bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound), count };
    });
    const seconds = [...rows.values()].reduce((sum, row) => sum + Number(row["seconds"]), 0);
    const lateAt = this.#lateAt === undefined ? undefined : new Date(this.#lateAt).toISOString();
    return { buckets, count, seconds, ...(lateAt !== undefined && { lateAt }) };
  }
}
