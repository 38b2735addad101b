import * as z from "zod/mini";
import { type Role, ROLES } from "../../contract/config/rights.ts";
import { parseJson } from "../../shared/json.ts";
import { transaction } from "../../process/database.ts";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { schedule as scheduleSchema, type Schedule } from "../../contract/config/schedules.ts";

/** Retention of ended and missed runs, in milliseconds. */
export const KEEP_RUNS_MS = 7 * 24 * 3_600_000;

export type ScheduleSource = "config" | "chat" | "cli";

/** A stored schedule. Times are milliseconds since the epoch. */
export interface StoredSchedule {
  id: string;
  source: ScheduleSource;
  spec: Schedule;
  /**
   * Roles of the people who made the schedule in a chat. Absent if the operator made it, or if an older version
   * stored it.
   */
  madeBy?: readonly Role[];
  createdAt: number;
  /** Next due time; absent if the schedule is disabled or will not run again. */
  nextAt?: number;
  lastAt?: number;
  lastOutcome?: string;
}

export interface PendingRun {
  schedule: StoredSchedule;
  dueAt: number;
  begunAt: number;
  /** Failed attempts. */
  attempts: number;
}

export interface Begin {
  /** Due time of the run to begin; absent if no run should begin. */
  dueAt?: number;
  missed: number;
  nextAt?: number;
}

type Row = Record<string, SQLOutputValue>;

const COLUMNS = {
  schedules: ["id", "source", "spec", "created_at", "next_at", "last_at", "last_outcome", "made_by"],
  schedule_runs: ["schedule", "due_at", "state", "count", "attempts", "at", "next_at", "note"],
} as const;

/** Rows of a schedule and its pending runs, by table. */
export type RemovedSchedule = Record<keyof typeof COLUMNS, Record<string, string | number | null>[]>;

/**
 * Stores schedules and runs. The transaction that advances a schedule also stores its run as pending, so that a crash
 * neither loses nor repeats the run.
 */
export class ScheduleStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Returns the schedules that this version can parse, sorted by id. */
  list(): StoredSchedule[] {
    return this.#all("SELECT * FROM schedules ORDER BY id").flatMap(readSchedule);
  }

  get(id: string): StoredSchedule | undefined {
    return this.#all("SELECT * FROM schedules WHERE id = ?", id).flatMap(readSchedule)[0];
  }

  /** Adds or replaces a schedule. The last run's outcome is preserved. */
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

  /** Removes a schedule with its pending runs. Returns the removed rows; `undefined` if there is no such schedule. */
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

  /** Restores removed rows. Returns false if the id is in use again or this version cannot parse the schedule. */
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

  move(id: string, nextAt: number): void {
    this.#all("UPDATE schedules SET next_at = ? WHERE id = ?", nextAt, id);
  }

  due(now: number): StoredSchedule[] {
    return this.#all("SELECT * FROM schedules WHERE next_at <= ? ORDER BY next_at", now).flatMap(
      readSchedule,
    );
  }

  /**
   * Sets a due schedule's next time, and begins its run unless the previous run is still pending. Returns the number
   * of missed runs.
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
      // One row represents all missed runs, with the due time of the first.
      if (left > 0) this.#insertRun(id, due, "missed", left, now);
      if (!runs && isOver(schedule)) this.#all("DELETE FROM schedules WHERE id = ?", id);
      this.#all("DELETE FROM schedule_runs WHERE at < ? AND state <> 'pending'", now - KEEP_RUNS_MS);
      return left;
    });
  }

  /** Begins a run without changing the schedule's times. Returns false if the previous run has not ended. */
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

  /** Sets the due time of pending attempts to `time` if they are due after `limit`. */
  retryBy(time: number, limit: number): void {
    this.#all("UPDATE schedule_runs SET next_at = ? WHERE state = 'pending' AND next_at > ?", time, limit);
  }

  /** Ends a run. Then removes a one-time schedule, unless it is in the config. */
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

  /** Returns the first time after `after` at which a schedule or attempt is due. */
  nextAt(after = -1): number | undefined {
    const [row] = this.#all(
      `SELECT min(at) AS at FROM (SELECT min(next_at) AS at FROM schedules WHERE next_at > ?
       UNION ALL SELECT min(next_at) FROM schedule_runs WHERE state = 'pending' AND next_at > ?)`,
      after,
      after,
    );
    return typeof row?.["at"] === "number" ? row["at"] : undefined;
  }

  get madeInChat(): number {
    return Number(this.#all("SELECT count(*) AS n FROM schedules WHERE source = 'chat'")[0]?.["n"]);
  }

  /** Number of schedules that have a next due time. */
  get count(): number {
    return Number(this.#all("SELECT count(*) AS n FROM schedules WHERE next_at IS NOT NULL")[0]?.["n"]);
  }

  /** Counts runs that were missed or failed at or after `since`. */
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

/**
 * Returns true if the schedule must be removed after its only run. A schedule in the config stays, or the next start
 * would add and run it again.
 */
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

/**
 * Reads the stored roles of the people who made a schedule. Treats invalid data as the role with the fewest rights.
 */
function readMakers(text: string): readonly Role[] {
  return z.array(z.enum(ROLES)).safeParse(parseJson(text)).data ?? ["guest"];
}
