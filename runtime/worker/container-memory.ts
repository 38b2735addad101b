import * as z from "zod/mini";
import { addColdStart, type ColdStart, readColdStarts } from "../contract/cold-starts.ts";
import type { SandboxStatus } from "../contract/control.ts";
import type { Sql } from "../edge/ledger/sql.ts";
import type { Clock } from "../edge/ports.ts";

const NOTE = "lastUse";
/** Longest lag of the note: a use is reported for every event, and a note is a write. */
const NOTED_EVERY_MS = 10_000;

const HOUR_MS = 3_600_000;
const VISITOR_WAKES_PER_HOUR = 3;
const times = z.array(z.number());

/** The few facts about the container that must outlive the Durable Object's memory. */
export class ContainerMemory {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.all("CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  }

  /** The note of this name, `undefined` where there is none. */
  read(name: string): string | undefined {
    const [row] = this.#sql.all("SELECT value FROM notes WHERE name = ?", name);
    return typeof row?.["value"] === "string" ? row["value"] : undefined;
  }

  /** Writes a note over its former value. */
  write(name: string, value: string): void {
    this.#sql.all(
      "INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      name,
      value,
    );
  }

  /** Restarts in the container's former runs, and the ends of those that nobody asked for. */
  get restarts(): number {
    return Number(this.read("restarts") ?? 0);
  }

  /** The note as a time, ISO 8601; the epoch where there is none. */
  time(name: string): string {
    return new Date(Number(this.read(name) ?? 0)).toISOString();
  }

  /** The container's last starts, if there are any. */
  coldStart(): Pick<SandboxStatus, "coldStartMs" | "coldStarts"> {
    const coldStarts = readColdStarts(this.read("coldStarts"));
    const measured = coldStarts.find(({ ended }) => ended === "ready");
    return {
      ...(measured && { coldStartMs: measured.ms }),
      ...(coldStarts.length > 0 && { coldStarts }),
    };
  }

  /** The container is being started. */
  startBegins(now: number): void {
    this.write("startedAt", String(now));
  }

  /** The start under way, or the last one, has not ended yet. */
  get startIsOpen(): boolean {
    return this.read("coldStartOf") !== this.read("startedAt");
  }

  /** The start under way has ended; only its first end counts. */
  startEnds(ended: ColdStart["ended"], now: number): void {
    if (!this.startIsOpen) return;
    const startedAt = this.read("startedAt") ?? "";
    const start = { at: this.time("startedAt"), ms: now - Number(startedAt), ended };
    this.write("coldStarts", JSON.stringify(addColdStart(this.coldStart().coldStarts ?? [], start)));
    this.write("coldStartOf", startedAt);
  }

  /**
   * Grants a visitor's wish to wake the container three times an hour, so that strangers cannot
   * keep it awake at the operator's cost.
   */
  grantVisitor(now: number): boolean {
    const recent = times
      .parse(JSON.parse(this.read("visitorWakes") ?? "[]"))
      .filter((time) => now - time < HOUR_MS);
    if (recent.length >= VISITOR_WAKES_PER_HOUR) return false;
    this.write("visitorWakes", JSON.stringify([...recent, now]));
    return true;
  }
}

/**
 * Time at which the container was last used. It outlives an evicted object; otherwise each object that an alarm creates
 * would restart the wait for the sleep.
 */
export class LastUse {
  readonly #notes: ContainerMemory;
  readonly #clock: Clock;
  #at: number;
  #noted: number;

  constructor(notes: ContainerMemory, clock: Clock) {
    this.#notes = notes;
    this.#clock = clock;
    // A clock that was set back must not keep the container awake until it has caught up.
    this.#noted = Math.min(Number(notes.read(NOTE) ?? 0), clock());
    this.#at = this.#noted;
  }

  /** Milliseconds since the epoch; 0 where it never was. */
  get at(): number {
    return this.#at;
  }

  /** Marks the container as used now. */
  now(): void {
    this.#at = this.#clock();
    if (this.#at - this.#noted < NOTED_EVERY_MS) return;
    this.#notes.write(NOTE, String(this.#at));
    this.#noted = this.#at;
  }
}
