import * as z from "zod/mini";
import { addColdStart, type ColdStart, readColdStarts } from "../contract/cold-starts.ts";
import type { SandboxStatus } from "../contract/control.ts";
import type { Sql } from "../edge/ledger/sql.ts";
import type { Clock } from "../edge/ports.ts";
import type { ContainerFacts } from "./container-lifecycle.ts";

const NOTE = "lastUse";
/** Longest lag of the note in milliseconds: every event is a use, and a note is a write to disk. */
const NOTED_EVERY_MS = 10_000;

const HOUR_MS = 3_600_000;
const VISITOR_WAKES_PER_HOUR = 3;
const times = z.array(z.number());
/** Most browsers that are remembered. The one that was let in first is dropped. */
const MOST_BROWSERS = 100;
const ids = z.array(z.string());

/** The few facts about the container that must outlive the Durable Object's memory. */
export class ContainerMemory {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.all("CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  }

  /** Returns the note of this name; `undefined` if there is none. */
  read(name: string): string | undefined {
    const [row] = this.#sql.all("SELECT value FROM notes WHERE name = ?", name);
    return typeof row?.["value"] === "string" ? row["value"] : undefined;
  }

  /** Replaces a note. */
  write(name: string, value: string): void {
    this.#sql.all(
      "INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      name,
      value,
    );
  }

  /** Restarts of the gateway in former runs, plus the ends of runs that were not requested. */
  get restarts(): number {
    return Number(this.read("restarts") ?? 0);
  }

  /** Returns the note as a time, ISO 8601; the epoch if there is none. */
  time(name: string): string {
    return new Date(Number(this.read(name) ?? 0)).toISOString();
  }

  /** Returns the container's last starts, if there are any. */
  coldStart(): Pick<SandboxStatus, "coldStartMs" | "coldStarts"> {
    const coldStarts = readColdStarts(this.read("coldStarts"));
    const measured = coldStarts.find(({ ended }) => ended === "ready");
    return {
      ...(measured && { coldStartMs: measured.ms }),
      ...(coldStarts.length > 0 && { coldStarts }),
    };
  }

  /** Facts about the last run. */
  facts(): Omit<ContainerFacts, "restored" | "restoreFailure"> {
    return {
      startedAt: this.time("startedAt"),
      stoppedAt: this.time("stoppedAt"),
      crash: this.read("crash") ?? "",
      startIsOpen: this.startIsOpen,
      starts: this.coldStart(),
    };
  }

  /**
   * Records the beginning of a start.
   *
   * @param environment The digest of the container's variables.
   * @returns the run's own tokens.
   */
  startBegins(environment: string, now: number): { token: string; brokerToken: string } {
    const [token, brokerToken] = [crypto.randomUUID(), crypto.randomUUID()];
    this.write("controlToken", token);
    this.write("brokerToken", brokerToken);
    this.write("startedAt", String(now));
    this.write("environment", environment);
    return { token, brokerToken };
  }

  /** Records the end of a run, with its restarts. */
  runEnds({ crash, restarts }: { crash: string; restarts: number }, now: number): void {
    this.write("stoppedAt", String(now));
    this.write("crash", crash);
    if (restarts > 0) this.write("restarts", String(this.restarts + restarts));
  }

  /** True if the last start has not ended yet. */
  get startIsOpen(): boolean {
    return this.read("coldStartOf") !== this.read("startedAt");
  }

  /** Records the end of a start. Only its first end counts. */
  startEnds(ended: ColdStart["ended"], now: number): void {
    if (!this.startIsOpen) return;
    const startedAt = this.read("startedAt") ?? "";
    const start = { at: this.time("startedAt"), ms: now - Number(startedAt), ended };
    this.write("coldStarts", JSON.stringify(addColdStart(this.coldStart().coldStarts ?? [], start)));
    this.write("coldStartOf", startedAt);
  }

  /**
   * Lets visitors wake the container three times an hour, so that strangers cannot keep it awake at the operator's
   * cost. @returns true if this one may.
   */
  grantVisitor(now: number): boolean {
    const recent = times
      .parse(JSON.parse(this.read("visitorWakes") ?? "[]"))
      .filter((time) => now - time < HOUR_MS);
    if (recent.length >= VISITOR_WAKES_PER_HOUR) return false;
    this.write("visitorWakes", JSON.stringify([...recent, now]));
    return true;
  }

  /** Remembers a browser that the gateway has let in, or forgets one whose access was revoked. */
  noteBrowser(deviceId: string, isLetIn: boolean): void {
    const known = this.#browsers();
    if (known.includes(deviceId) === isLetIn) return;
    const others = known.filter((one) => one !== deviceId);
    const kept = isLetIn ? [...others, deviceId].slice(-MOST_BROWSERS) : others;
    this.write("browsers", JSON.stringify(kept));
  }

  /**
   * Returns true if the gateway has let this browser in. Each time it is let in counts once, so that one whose access was
   * revoked cannot wake the container again.
   */
  takeBrowser(deviceId: string): boolean {
    const isKnown = this.#browsers().includes(deviceId);
    this.noteBrowser(deviceId, false);
    return isKnown;
  }

  #browsers(): string[] {
    return ids.parse(JSON.parse(this.read("browsers") ?? "[]"));
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

  /** Milliseconds since the epoch; 0 if it was never used. */
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
