import * as z from "zod/mini";
import { type Role, ROLES } from "../../contract/config/rights.ts";
import { parseJson } from "../../shared/json.ts";
import { transaction } from "../../process/database.ts";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { schedule as scheduleSchema, type Schedule } from "../../contract/config/schedules.ts";

/** Time that an ended or missed run is known. */
export const KEEP_RUNS_MS = 7 * 24 * 3_600_000;

/** Maker of a schedule. */
export type ScheduleSource = "config" | "chat" | "cli";

/** One schedule as it is kept. Times in milliseconds since the epoch. */
export interface StoredSchedule {
  id: string;
  source: ScheduleSource;
  spec: Schedule;
  /** Roles of the people who made it in a chat. Not there: the operator made it, or a version that did not record them. */
  madeBy?: readonly Role[];
  createdAt: number;
  /** Not there: it is not due again, or is switched off. */
  nextAt?: number;
  lastAt?: number;
  lastOutcome?: string;
}

/** A run that has begun and is not ended. */
export interface PendingRun {
  schedule: StoredSchedule;
  dueAt: number;
  begunAt: number;
  /** Attempts that failed. */
  attempts: number;
}

/** Consequence of a schedule's falling due. */
export interface Begin {
  /** The time that is run for. */
  dueAt?: number;
  missed: number;
  nextAt?: number;
}

type Row = Record<string, SQLOutputValue>;

const COLUMNS = {
  schedules: ["id", "source", "spec", "created_at", "next_at", "last_at", "last_outcome", "made_by"],
  schedule_runs: ["schedule", "due_at", "state", "count", "attempts", "at", "next_at", "note"],
} as const;

/** Rows of a schedule that was removed, by table, with the runs that were pending. */
export type RemovedSchedule = Record<keyof typeof COLUMNS, Record<string, string | number | null>[]>;

/**
 * The schedules and their runs. A run is pending from the transaction that moves its schedule on, so
 * a crash neither loses it nor doubles it.
 */
export class ScheduleStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Every schedule that this version can read, by id. */
  list(): StoredSchedule[] {
    return this.#all("SELECT * FROM schedules ORDER BY id").flatMap(readSchedule);
  }

  get(id: string): StoredSchedule | undefined {
    return this.#all("SELECT * FROM schedules WHERE id = ?", id).flatMap(readSchedule)[0];
  }

  /** Adds a schedule, or puts another in its place; what is known of its last run stays. */
  put({ id, source, spec, madeBy, createdAt, nextAt }: StoredSchedule): void {
    this.#all(
      `INSERT INTO schedules (id, source, spec, made_by, created_at, next_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET source = excluded.source, spec = excluded.spec,
         made_by = excluded.made_by, created_at = excluded.created_at, next_at = excluded.next_at`,
      id,
      source,
      JSON.stringify(spec),
      madeBy === undefined ? null : JSON.stringify(madeBy),
      createdAt,
      nextAt ?? null,
    );
  }

  /** Removes a schedule and what is pending of it. Returns their rows; `undefined` if there is none. */
  remove(id: string): RemovedSchedule | undefined {
    return transaction(this.#database, () => {
      const runs = this.#all(
        "DELETE FROM schedule_runs WHERE schedule = ? AND state = 'pending' RETURNING *",
        id,
      );
      const schedules = this.#all("DELETE FROM schedules WHERE id = ? RETURNING *", id);
      return schedules.length === 0 ? undefined : ({ schedules, schedule_runs: runs } as RemovedSchedule);
    });
  }

  /** Restores what {@link remove} returned. False: a schedule has its id again, or the rows are of another form. */
  restore(removed: RemovedSchedule): boolean {
    const [schedule] = removed.schedules;
    if (schedule === undefined || readSchedule(schedule).length === 0) return false;
    return transaction(this.#database, () => {
      if (this.get(String(schedule["id"])) !== undefined) return false;
      for (const [table, names] of Object.entries(COLUMNS)) {
        const insert = `INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => "?").join()})`;
        for (const row of removed[table as keyof typeof COLUMNS])
          this.#all(insert, ...names.map((name) => row[name] ?? null));
      }
      return true;
    });
  }

  /** Moves a schedule's next time, for a clock that was set. */
  move(id: string, nextAt: number): void {
    this.#all("UPDATE schedules SET next_at = ? WHERE id = ?", nextAt, id);
  }

  /** The schedules that are due. */
  due(now: number): StoredSchedule[] {
    return this.#all("SELECT * FROM schedules WHERE next_at <= ? ORDER BY next_at", now).flatMap(
      readSchedule,
    );
  }

  /**
   * Moves a due schedule on and begins its run, unless the run before it is still pending. Returns how
   * many times were missed.
   */
  begin(schedule: StoredSchedule, { dueAt, missed, nextAt }: Begin, now: number): number {
    const { id, nextAt: due = 0 } = schedule;
    return transaction(this.#database, () => {
      const moved = this.#all(
        "UPDATE schedules SET next_at = ? WHERE id = ? AND next_at = ? RETURNING id",
        nextAt ?? null,
        id,
        due,
      );
      if (moved.length === 0) return 0;
      const busy = this.#all("SELECT 1 FROM schedule_runs WHERE schedule = ? AND state = 'pending'", id);
      const runs = dueAt !== undefined && busy.length === 0;
      const left = dueAt !== undefined && !runs ? missed + 1 : missed;
      if (runs) this.#insertRun(id, dueAt, "pending", 1, now);
      // The first of the times that passed represents all of them.
      if (left > 0) this.#insertRun(id, due, "missed", left, now);
      if (!runs && isOver(schedule)) this.#all("DELETE FROM schedules WHERE id = ?", id);
      this.#all("DELETE FROM schedule_runs WHERE at < ? AND state <> 'pending'", now - KEEP_RUNS_MS);
      return left;
    });
  }

  /** Begins a run now, beside the schedule's own times. False: the run before it has not ended. */
  runNow(id: string, now: number): boolean {
    return transaction(this.#database, () => {
      const busy = this.#all("SELECT 1 FROM schedule_runs WHERE schedule = ? AND state = 'pending'", id);
      if (busy.length === 0) this.#insertRun(id, now, "pending", 1, now);
      return busy.length === 0;
    });
  }

  #insertRun(id: string, dueAt: number, state: "pending" | "missed", count: number, now: number): void {
    this.#all(
      `INSERT INTO schedule_runs (schedule, due_at, state, count, at, next_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (schedule, due_at) DO NOTHING`,
      id,
      dueAt,
      state,
      count,
      now,
      state === "pending" ? now : null,
    );
  }

  /** The pending runs whose next attempt is due. */
  pending(now: number): PendingRun[] {
    return this.#all(
      `SELECT schedules.*, due_at, at, attempts FROM schedule_runs JOIN schedules ON id = schedule
       WHERE state = 'pending' AND schedule_runs.next_at <= ? ORDER BY due_at`,
      now,
    ).flatMap((row) =>
      readSchedule(row).map((schedule) => ({
        schedule,
        dueAt: Number(row["due_at"]),
        begunAt: Number(row["at"]),
        attempts: Number(row["attempts"]),
      })),
    );
  }

  /** Notes a failed attempt; the next one is due at `nextAt`. */
  retry({ schedule, dueAt }: PendingRun, nextAt: number, note: string): void {
    this.#all(
      `UPDATE schedule_runs SET attempts = attempts + 1, next_at = ?, note = ?
       WHERE schedule = ? AND due_at = ? AND state = 'pending'`,
      nextAt,
      note,
      schedule.id,
      dueAt,
    );
  }

  /** Brings attempts that are due later than `limit` forward to `time`. */
  retryBy(time: number, limit: number): void {
    this.#all("UPDATE schedule_runs SET next_at = ? WHERE state = 'pending' AND next_at > ?", time, limit);
  }

  /** Ends a run. What was due once and was not written into the config goes with it. */
  end({ schedule, dueAt }: PendingRun, state: "done" | "failed" | "missed", note: string, now: number): void {
    const { id } = schedule;
    transaction(this.#database, () => {
      this.#all(
        `UPDATE schedule_runs SET state = ?, next_at = NULL, at = ?, note = ? WHERE schedule = ? AND due_at = ?`,
        state,
        now,
        note,
        id,
        dueAt,
      );
      this.#all("UPDATE schedules SET last_at = ?, last_outcome = ? WHERE id = ?", now, note, id);
      if (isOver(schedule)) this.#all("DELETE FROM schedules WHERE id = ?", id);
    });
  }

  /** Returns when something is to be done next, later than `after`: a schedule is due, or another attempt. */
  nextAt(after = -1): number | undefined {
    const [row] = this.#all(
      `SELECT min(at) AS at FROM (SELECT min(next_at) AS at FROM schedules WHERE next_at > ?
       UNION ALL SELECT min(next_at) FROM schedule_runs WHERE state = 'pending' AND next_at > ?)`,
      after,
      after,
    );
    return typeof row?.["at"] === "number" ? row["at"] : undefined;
  }

  /** Schedules that were made in chats. */
  get madeInChat(): number {
    return Number(this.#all("SELECT count(*) AS n FROM schedules WHERE source = 'chat'")[0]?.["n"]);
  }

  /** Schedules that are due again. */
  get count(): number {
    return Number(this.#all("SELECT count(*) AS n FROM schedules WHERE next_at IS NOT NULL")[0]?.["n"]);
  }

  /** Runs that were missed or have failed at or after `since`. */
  runs(state: "missed" | "failed", since: number): number {
    const [row] = this.#all(
      `SELECT sum(count) AS n FROM schedule_runs WHERE state = '${state}' AND at >= ?`,
      since,
    );
    return Number(row?.["n"] ?? 0);
  }

  #all(statement: string, ...values: (string | number | null)[]): Row[] {
    return this.#database.prepare(statement).all(...values);
  }
}

/** Tells whether a schedule goes with its only run, since it was due once. In the config it stays, so that it is not begun again. */
function isOver({ source, spec }: StoredSchedule): boolean {
  return spec.at !== undefined && source !== "config";
}

function readSchedule(row: Row): StoredSchedule[] {
  const spec = scheduleSchema.safeParse(JSON.parse(String(row["spec"])));
  if (!spec.success) return [];
  const { next_at: nextAt, last_at: lastAt, last_outcome: lastOutcome } = row;
  return [
    {
      id: String(row["id"]),
      source: row["source"] as ScheduleSource,
      spec: spec.data,
      ...(typeof row["made_by"] === "string" && { madeBy: readMakers(row["made_by"]) }),
      createdAt: Number(row["created_at"]),
      ...(typeof nextAt === "number" && { nextAt }),
      ...(typeof lastAt === "number" && { lastAt }),
      ...(typeof lastOutcome === "string" && { lastOutcome }),
    },
  ];
}

/** Reads the roles of a schedule's makers. What is not known is read as the role with the fewest rights. */
function readMakers(text: string): readonly Role[] {
  return z.array(z.enum(ROLES)).safeParse(parseJson(text)).data ?? ["guest"];
}
