import * as z from "zod/mini";
import { addColdStart, type ColdStart, readColdStarts } from "../contract/cold-starts.ts";
import type { SandboxStatus } from "../contract/control.ts";
import type { Sql } from "../edge/ledger/sql.ts";
import type { Clock } from "../edge/ports.ts";
import type { ContainerFacts } from "./container-lifecycle.ts";

const NOTE = "lastUse";
/** Minimum time, in milliseconds, between two writes of the time at which the container was last used. */
const NOTED_EVERY_MS = 10_000;

const HOUR_MS = 3_600_000;
const VISITOR_WAKES_PER_HOUR = 3;
const times = z.array(z.number());
/** Maximum number of remembered browsers. If the list is full, the browser admitted first is dropped. */
const MAX_BROWSERS = 100;
const ids = z.array(z.string());

/** Facts about the container that must survive an eviction of its object. */
export class ContainerMemory {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.all("CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  }

  read(name: string): string | undefined {
    const [row] = this.#sql.all("SELECT value FROM notes WHERE name = ?", name);
    return typeof row?.["value"] === "string" ? row["value"] : undefined;
  }

  write(name: string, value: string): void {
    this.#sql.all(
      "INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      name,
      value,
    );
  }

  /** Number of gateway restarts in the container's earlier runs. A run that ended unexpectedly adds one restart. */
  get restarts(): number {
    return Number(this.read("restarts") ?? 0);
  }

  /** Returns the time stored under a name, as ISO 8601; the epoch if there is none. */
  time(name: string): string {
    return new Date(Number(this.read(name) ?? 0)).toISOString();
  }

  coldStart(): Pick<SandboxStatus, "coldStartMs" | "coldStarts"> {
    const coldStarts = readColdStarts(this.read("coldStarts"));
    const measured = coldStarts.find(({ ended }) => ended === "ready");
    return {
      ...(measured && { coldStartMs: measured.ms }),
      ...(coldStarts.length > 0 && { coldStarts }),
    };
  }

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
   * Records that a run of the container begins.
   *
   * @param environment Digest of the container's variables.
   * @returns new tokens for this run
   */
  startBegins(environment: string, now: number): { token: string; brokerToken: string } {
    const [token, brokerToken] = [crypto.randomUUID(), crypto.randomUUID()];
    this.write("controlToken", token);
    this.write("brokerToken", brokerToken);
    this.write("startedAt", String(now));
    this.write("environment", environment);
    return { token, brokerToken };
  }

  runEnds({ crash, restarts }: { crash: string; restarts: number }, now: number): void {
    this.write("stoppedAt", String(now));
    this.write("crash", crash);
    if (restarts > 0) this.write("restarts", String(this.restarts + restarts));
  }

  /** True until the outcome of the last start is recorded. */
  get startIsOpen(): boolean {
    return this.read("coldStartOf") !== this.read("startedAt");
  }

  /** Records the outcome of a start. Only the first outcome counts. */
  startEnds(ended: ColdStart["ended"], now: number): void {
    if (!this.startIsOpen) return;
    const startedAt = this.read("startedAt") ?? "";
    const start = { at: this.time("startedAt"), ms: now - Number(startedAt), ended };
    this.write("coldStarts", JSON.stringify(addColdStart(this.coldStart().coldStarts ?? [], start)));
    this.write("coldStartOf", startedAt);
  }

  /**
   * Counts a wake by a visitor. Returns false after three within an hour, so that strangers cannot keep the container
   * awake.
   */
  grantVisitor(now: number): boolean {
    const recent = times
      .parse(JSON.parse(this.read("visitorWakes") ?? "[]"))
      .filter((time) => now - time < HOUR_MS);
    if (recent.length >= VISITOR_WAKES_PER_HOUR) return false;
    this.write("visitorWakes", JSON.stringify([...recent, now]));
    return true;
  }

  /** Remembers an admitted browser, or forgets one whose access was revoked. */
  noteBrowser(deviceId: string, isLetIn: boolean): void {
    const known = this.#browsers();
    if (known.includes(deviceId) === isLetIn) return;
    const others = known.filter((one) => one !== deviceId);
    const kept = isLetIn ? [...others, deviceId].slice(-MAX_BROWSERS) : others;
    this.write("browsers", JSON.stringify(kept));
  }

  /**
   * Removes a browser from the admitted browsers; returns true if the browser was listed. A browser's entry allows
   * only one wake-up of the container.
   */
  consumeBrowser(deviceId: string): boolean {
    const isKnown = this.#browsers().includes(deviceId);
    this.noteBrowser(deviceId, false);
    return isKnown;
  }

  #browsers(): string[] {
    return ids.parse(JSON.parse(this.read("browsers") ?? "[]"));
  }
}

/** Stored time of the container's last use. A recreated Durable Object uses it to continue the idle timeout. */
export class LastUse {
  readonly #notes: ContainerMemory;
  readonly #clock: Clock;
  #at: number;
  #noted: number;

  constructor(notes: ContainerMemory, clock: Clock) {
    this.#notes = notes;
    this.#clock = clock;
    // If the clock was set back, a stored time in the future must not keep the container awake.
    this.#noted = Math.min(Number(notes.read(NOTE) ?? 0), clock());
    this.#at = this.#noted;
  }

  /** Last use in milliseconds since the epoch; 0 if there was none. */
  get at(): number {
    return this.#at;
  }

  now(): void {
    this.#at = this.#clock();
    if (this.#at - this.#noted < NOTED_EVERY_MS) return;
    this.#notes.write(NOTE, String(this.#at));
    this.#noted = this.#at;
  }
}
