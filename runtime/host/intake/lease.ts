import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Sql, SqlValue } from "../../edge/ledger/sql.ts";
import type { Clock } from "../../edge/ports.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import { hasEnded } from "../../process/ended.ts";
import { type FetchedPlatform, INTAKE_TABLES, type IntakeState } from "../../process/intake.ts";

/** Time after which a lease expires if its holder does not renew it, in milliseconds. */
const LEASE_MS = 60_000;

export interface LeaseOptions {
  sql: Sql;
  bot: string;
  holder: string;
  /** Returns true if the process of another holder is known to be dead, so that its lease can be taken immediately. */
  isGone(holder: string): boolean;
  clock: Clock;
}

/** One bot's row in the ledger: the process that fetches events, and the platform's last response or failure. */
export class IntakeLease {
  protected readonly sql: Sql;
  protected readonly bot: string;
  protected readonly clock: Clock;
  readonly #table: string;
  readonly #holder: string;
  readonly #isGone: (holder: string) => boolean;

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

  /** Acquires or renews the lease. Returns false if another process has it. */
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

  release(): void {
    if (this.#isHeld()) this.change({ holder: null, expires_at: null, error_code: null, error_detail: null });
  }

  failed(code: ErrorCode, detail: string): void {
    if (this.#isHeld()) this.change({ error_code: code, error_detail: detail });
  }

  /** Records a response from the platform and clears the last failure. `more` sets additional columns. */
  protected heard(more: Record<string, SqlValue> = {}): void {
    this.change({ polled_at: this.clock(), error_code: null, error_detail: null, ...more });
  }

  protected row(...columns: readonly string[]): Record<string, SqlValue> {
    return this.sql.all(`SELECT ${columns.join(", ")} FROM ${this.#table} WHERE bot = ?`, this.bot)[0] ?? {};
  }

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

/** Returns a unique name that contains this machine's name and the process id. */
export function processHolder(): string {
  return `${hostname()}/${process.pid}/${randomUUID()}`;
}

/**
 * Returns true if a holder's process is known to be dead. Returns false for processes on other machines or in other
 * containers.
 */
export function holderIsGone(holder: string): boolean {
  const [machine, id] = holder.split("/");
  const pid = Number(id);
  if (machine !== hostname() || !Number.isInteger(pid) || pid <= 0) return false;
  // The holder is an earlier process that had the same id as this process.
  if (pid === process.pid) return true;
  return hasEnded(pid);
}
