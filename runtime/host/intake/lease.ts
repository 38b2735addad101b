import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Sql, SqlValue } from "../../edge/ledger/sql.ts";
import type { Clock } from "../../edge/ports.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import { hasEnded } from "../../process/ended.ts";
import { type FetchedPlatform, INTAKE_TABLES, type IntakeState } from "../../process/intake.ts";

/** A holder that has not renewed its lease for this long is taken to be gone. */
const LEASE_MS = 60_000;

/** Dependencies of a lease. */
export interface LeaseOptions {
  sql: Sql;
  bot: string;
  /** This process, unlike any other that ever was. */
  holder: string;
  /** Tells whether the process of another holder is known to be dead: its lease is then free at once. */
  isGone(holder: string): boolean;
  clock: Clock;
}

/**
 * One bot's row: the process that fetches its events, and how that goes. It is in the ledger's database. Intakes add
 * their place in the platform's stream.
 */
export class IntakeLease {
  protected readonly sql: Sql;
  protected readonly bot: string;
  protected readonly clock: Clock;
  readonly #table: string;
  readonly #holder: string;
  readonly #isGone: (holder: string) => boolean;

  /** Creates the table and the row where they are missing. */
  constructor(platform: FetchedPlatform, { sql, bot, holder, isGone, clock }: LeaseOptions) {
    this.sql = sql;
    this.bot = bot;
    this.clock = clock;
    this.#table = `${platform}_intake`;
    this.#holder = holder;
    this.#isGone = isGone;
    sql.all(INTAKE_TABLES[platform]);
    sql.all(`INSERT INTO ${this.#table} (bot) VALUES (?) ON CONFLICT (bot) DO NOTHING`, bot);
  }

  /** Takes the lease or renews it. False: another process has it. */
  take(mode: IntakeState["mode"]): boolean {
    return this.sql.transaction(() => {
      const { holder: other, expires_at: expires } = this.row("holder", "expires_at");
      const now = this.clock();
      const isOthers =
        typeof other === "string" &&
        other !== this.#holder &&
        Number(expires ?? 0) > now &&
        !this.#isGone(other);
      if (isOthers) return false;
      const started = other === this.#holder ? {} : { started_at: now };
      this.change({ mode, holder: this.#holder, expires_at: now + LEASE_MS, ...started });
      return true;
    });
  }

  /** Gives the lease back, where it is this process's. */
  release(): void {
    if (this.#isHeld()) this.change({ holder: null, expires_at: null, error_code: null, error_detail: null });
  }

  /** Keeps why no events come in, for the gateway to tell. */
  failed(code: ErrorCode, detail: string): void {
    if (this.#isHeld()) this.change({ error_code: code, error_detail: detail });
  }

  /** The platform has answered: nothing is wrong any more. `more` are columns of the intake's own. */
  protected heard(more: Record<string, SqlValue> = {}): void {
    this.change({ polled_at: this.clock(), error_code: null, error_detail: null, ...more });
  }

  /** Returns columns of the row. */
  protected row(...columns: readonly string[]): Record<string, SqlValue> {
    return this.sql.all(`SELECT ${columns.join(", ")} FROM ${this.#table} WHERE bot = ?`, this.bot)[0] ?? {};
  }

  /** Sets columns of the row. */
  protected change(values: Record<string, SqlValue>): void {
    const set = Object.keys(values).map((column) => `${column} = ?`);
    this.sql.all(
      `UPDATE ${this.#table} SET ${set.join(", ")} WHERE bot = ?`,
      ...Object.values(values),
      this.bot,
    );
  }

  #isHeld(): boolean {
    return this.row("holder")["holder"] === this.#holder;
  }
}

/** Returns a name for this process that says on which machine it runs and under which process id. */
export function processHolder(): string {
  return `${hostname()}/${process.pid}/${randomUUID()}`;
}

/**
 * Tells whether the process behind a holder's name is known to be dead, so that a restart after a crash continues at
 * once. Processes on another machine, or in another container, are not known.
 */
export function holderIsGone(holder: string): boolean {
  const [machine, id] = holder.split("/");
  const pid = Number(id);
  if (machine !== hostname() || !Number.isInteger(pid) || pid <= 0) return false;
  // This process is not that holder, so that one had the same id before it.
  if (pid === process.pid) return true;
  return hasEnded(pid);
}
