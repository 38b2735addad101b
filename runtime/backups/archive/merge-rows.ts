import type { DatabaseSync } from "node:sqlite";
import type { TenantChat } from "../../contract/tenant.ts";
import { conditionsOf, hasTable } from "./chat-part.ts";
import {
  bestSummary,
  mergeTranscripts,
  type MergedTranscript,
  type Origin,
  type Summary,
  type TranscriptEntry,
} from "./merge.ts";

/**
 * Names of the connection's databases: `main` has the state that all chats share, `theirs` the state of one tenant.
 */
type Schema = "main" | "theirs";

interface Position {
  seq: number;
  position: number;
}

/**
 * Merges one chat's rows from the attached database `theirs` into `main`.
 *
 * @param origin Point at which `theirs` was copied from `main`; `undefined` if it was not copied.
 */
export function mergeRows(database: DatabaseSync, chat: TenantChat, origin: Origin | undefined): void {
  const rows = new ChatRows(database, chat);
  rows.mergeConversations(origin);
  rows.mergeSchedules(origin);
  rows.copy("deliveries", "platform, id", "excluded.answered >= answered AND excluded.at >= at");
  rows.copy("chat_moves", "platform, former");
  rows.copy("chat_actions", "press", "used IS NULL");
  rows.copy("chat_items", "id");
  rows.copy("chat_marks", "conversation, delivery");
  rows.copy("spending", "day, who", "excluded.tokens > tokens");
}

class ChatRows {
  readonly #database: DatabaseSync;
  /** Conversation that is being merged. A browser's conversations are merged one after another. */
  #conversation: string;
  readonly #conditions: Record<Schema, Record<string, string>>;

  constructor(database: DatabaseSync, chat: TenantChat) {
    this.#database = database;
    this.#conversation = `${chat.platform}:${chat.chat}`;
    this.#conditions = { main: conditionsOf(chat, "main"), theirs: conditionsOf(chat, "theirs") };
  }

  /**
   * Copies the chat's rows of a table from the attached database `theirs` into `main`. Replaces an existing row only
   * if `condition` is given and holds.
   */
  copy(table: string, key: string, condition?: string): void {
    if (!this.#has(table)) return;
    // Do not copy `seq`: each database assigns its own.
    const columns = this.#columns(table).filter((one) => one !== "seq");
    const keys = new Set(key.split(", "));
    const set = columns.filter((one) => !keys.has(one)).map((one) => `${one} = excluded.${one}`);
    const conflict =
      condition === undefined ? "DO NOTHING" : `DO UPDATE SET ${set.join(", ")} WHERE ${condition}`;
    this.#database.exec(
      `INSERT INTO main.${table} (${columns.join(", ")}) SELECT ${columns.join(", ")} FROM theirs.${table}
       WHERE ${this.#conditions.theirs[table]} ON CONFLICT (${key}) ${conflict}`,
    );
  }

  mergeConversations(origin: Origin | undefined): void {
    if (!this.#has("messages")) return;
    const { main, theirs } = this.#conditions;
    const others = this.#all(
      `SELECT conversation FROM main.sessions WHERE ${main["sessions"]} AND conversation <> ?1
       UNION SELECT conversation FROM theirs.sessions WHERE ${theirs["sessions"]} AND conversation <> ?1`,
      this.#conversation,
    );
    for (const name of [this.#conversation, ...others.map((row) => String(row["conversation"]))]) {
      this.#conversation = name;
      this.#mergeConversation(origin);
    }
  }

  #mergeConversation(origin: Origin | undefined): void {
    const [ours, theirs] = [this.#transcript("main"), this.#transcript("theirs")];
    const merged = mergeTranscripts(ours, theirs, origin);
    this.#delete(merged.deleted);
    const moved = this.#append(merged);
    if (!merged.oursIsNewer) this.#update("messages", ["conversation", "delivery", "role"]);
    const after = new Map(this.#transcript("main").map(({ key, seq }) => [key, seq]));
    const positions = (entries: readonly TranscriptEntry[]): Position[] =>
      entries.flatMap(({ key, seq }) => {
        const position = after.get(key);
        return position === undefined ? [] : [{ seq, position }];
      });
    this.#mergeSession(merged, {
      ours: positions(ours),
      theirs: positions(theirs),
      all: [...after.values()],
    });
    this.#mergeContext(merged);
    this.#mergeSteps();
    if (moved > 0)
      this.#run("UPDATE main.sqlite_sequence SET seq = max(seq, ?) WHERE name = 'messages'", moved);
  }

  /**
   * Deletes messages that the other side of the merge deleted. Counts them as removed, so that they do not look like
   * data loss.
   */
  #delete(seqs: readonly number[]): void {
    for (const seq of seqs) this.#run("DELETE FROM main.messages WHERE seq = ?", seq);
    if (seqs.length > 0 && hasTable(this.#database, "retention"))
      this.#run("UPDATE main.retention SET messages = messages + ?", seqs.length);
  }

  /**
   * Appends messages to the transcript in database `main`. Messages already in `main` are moved to the end; others
   * are copied from database `theirs`.
   *
   * @returns the last assigned `seq`; 0 if no message was appended
   */
  #append({ appended }: MergedTranscript): number {
    if (appended.length === 0) return 0;
    const columns = this.#columns("messages").filter((one) => one !== "seq");
    const insert = `INSERT INTO main.messages (seq, ${columns.join(", ")})
      SELECT ?, ${columns.join(", ")} FROM theirs.messages WHERE seq = ?`;
    const [row] = this.#all(
      `SELECT max(coalesce((SELECT max(seq) FROM main.messages), 0),
        coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = 'messages'), 0)) AS last`,
    );
    let last = Number(row?.["last"]);
    for (const { from, seq } of appended) {
      last += 1;
      this.#run(from === "ours" ? "UPDATE main.messages SET seq = ? WHERE seq = ?" : insert, last, seq);
    }
    return last;
  }

  #mergeSession(
    { oursIsNewer, theirsIsNewer }: MergedTranscript,
    { ours, theirs, all }: { ours: Position[]; theirs: Position[]; all: number[] },
  ): void {
    const [our] = this.#all("SELECT * FROM main.sessions WHERE conversation = ?", this.#conversation);
    const [their] = this.#all("SELECT * FROM theirs.sessions WHERE conversation = ?", this.#conversation);
    if (their === undefined || (oursIsNewer && !theirsIsNewer)) return;
    const sides = [
      { row: their, positions: theirs },
      ...(oursIsNewer && our !== undefined ? [{ row: our, positions: ours }] : []),
    ];
    const begins = Math.max(
      ...sides.map(({ row, positions }) => positionOf(positions, Number(row["begins_after"]))),
    );
    const summary = bestSummary(
      sides.map(({ row, positions }) => summaryOf(row, positions)),
      all.filter((position) => position > begins),
    );
    const updatedAt = (row: Row): number => Number(row["updated_at"] ?? 0);
    const newest = sides.map(({ row }) => row).toSorted((a, b) => updatedAt(b) - updatedAt(a))[0] ?? their;
    this.#run(
      "INSERT INTO main.sessions (conversation) VALUES (?) ON CONFLICT DO NOTHING",
      this.#conversation,
    );
    this.#run(
      `UPDATE main.sessions SET begins_after = ?, messages = ?, updated_at = ?, model = ?, summary = ?,
         summary_to = ?, token_ratio = ? WHERE conversation = ?`,
      begins,
      all.filter((position) => position > begins).length,
      newest["updated_at"] as number | null,
      newest["model"] as string | null,
      summary?.text ?? null,
      summary?.to ?? 0,
      newest["token_ratio"] as number | null,
      this.#conversation,
    );
  }

  #mergeContext({ oursIsNewer }: MergedTranscript): void {
    const columns = this.#columns("session_context").filter((one) => one !== "seq");
    if (!oursIsNewer)
      this.#run("DELETE FROM main.session_context WHERE conversation = ?", this.#conversation);
    this.#run(
      `INSERT INTO main.session_context (${columns.join(", ")}) SELECT ${columns.join(", ")}
       FROM theirs.session_context WHERE conversation = ? ORDER BY seq
       ON CONFLICT (conversation, delivery) DO NOTHING`,
      this.#conversation,
    );
  }

  #mergeSteps(): void {
    this.#run(
      `DELETE FROM main.steps WHERE conversation = ?1 AND delivery IN (
         SELECT delivery FROM theirs.steps WHERE conversation = ?1)`,
      this.#conversation,
    );
    const columns = this.#columns("steps").filter((one) => one !== "seq");
    const calls = this.#columns("tool_calls").filter((one) => one !== "step");
    for (const { seq } of this.#all(
      "SELECT seq FROM theirs.steps WHERE conversation = ? ORDER BY seq",
      this.#conversation,
    )) {
      const [added] = this.#all(
        `INSERT INTO main.steps (${columns.join(", ")})
         SELECT ${columns.join(", ")} FROM theirs.steps WHERE seq = ? RETURNING seq`,
        Number(seq),
      );
      this.#run(
        `INSERT INTO main.tool_calls (step, ${calls.join(", ")})
         SELECT ?, ${calls.join(", ")} FROM theirs.tool_calls WHERE step = ?`,
        Number(added?.["seq"]),
        Number(seq),
      );
    }
  }

  /**
   * Copies each schedule from `theirs`, unless the same schedule has run more recently in `main`. Schedules deleted
   * in `theirs` are also deleted in `main`.
   */
  mergeSchedules(origin: Origin | undefined): void {
    if (!this.#has("schedules")) return;
    const { main, theirs } = this.#conditions;
    const gone = `${main["schedules"]} AND created_at <= ? AND id NOT IN (SELECT id FROM theirs.schedules)`;
    const removed = this.#all(`DELETE FROM main.schedules WHERE ${gone} RETURNING id`, origin?.at ?? -1);
    const taken = this.#all(
      `SELECT id FROM theirs.schedules AS one WHERE ${theirs["schedules"]} AND NOT EXISTS (
         SELECT 1 FROM main.schedules AS ours WHERE ours.id = one.id
           AND (coalesce(ours.last_at, 0) > coalesce(one.last_at, 0) OR NOT (${main["schedules"]})))`,
    );
    const forget = "DELETE FROM main.schedule_runs WHERE schedule = ? AND state = 'pending'";
    for (const { id } of removed) this.#run(forget, String(id));
    for (const { id } of taken) {
      this.#run(forget, String(id));
      for (const [table, key] of [
        ["schedules", "id"],
        ["schedule_runs", "schedule"],
      ] as const) {
        const columns = this.#columns(table).join(", ");
        this.#run(
          `INSERT OR REPLACE INTO main.${table} (${columns})
           SELECT ${columns} FROM theirs.${table} WHERE ${key} = ?`,
          String(id),
        );
      }
    }
  }

  /** Overwrites rows in the database `main` with the rows of `theirs` that have the same keys. */
  #update(table: string, key: readonly string[]): void {
    const columns = this.#columns(table).filter((one) => one !== "seq" && !key.includes(one));
    const equal = key.map((one) => `${table}.${one} = one.${one}`).join(" AND ");
    this.#run(
      `UPDATE main.${table} SET ${columns.map((name) => `${name} = one.${name}`).join(", ")}
       FROM theirs.${table} AS one WHERE ${equal} AND one.conversation = ?`,
      this.#conversation,
    );
  }

  #transcript(schema: Schema): TranscriptEntry[] {
    return this.#all(
      `SELECT seq, role || ' ' || delivery AS key, at FROM ${schema}.messages WHERE conversation = ? ORDER BY seq`,
      this.#conversation,
    ).map(({ seq, key, at }) => ({ seq: Number(seq), key: String(key), at: Number(at) }));
  }

  #columns(table: string): string[] {
    const of = (schema: Schema): string[] =>
      this.#all(`PRAGMA ${schema}.table_info(${table})`).map(({ name }) => String(name));
    const theirs = new Set(of("theirs"));
    return of("main").filter((name) => theirs.has(name));
  }

  #has(table: string): boolean {
    return this.#columns(table).length > 0;
  }

  #all(statement: string, ...values: (string | number | null)[]): Row[] {
    return this.#database.prepare(statement).all(...values);
  }

  #run(statement: string, ...values: (string | number | null)[]): void {
    this.#database.prepare(statement).run(...values);
  }
}

type Row = Record<string, unknown>;

/** Returns the position of the last message with this `seq` or a lower one; 0 if there is none. */
function positionOf(positions: readonly Position[], seq: number): number {
  return Math.max(0, ...positions.filter((one) => one.seq <= seq).map(({ position }) => position));
}

function summaryOf(row: Row, positions: readonly Position[]): Summary | undefined {
  const { summary, summary_to: to } = row;
  if (typeof summary !== "string") return undefined;
  const covers = new Set(positions.map(({ position }) => position));
  return { text: summary, to: positionOf(positions, Number(to)), covers };
}
