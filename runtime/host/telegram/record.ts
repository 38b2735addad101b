import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Sql } from "../../edge/ledger/sql.ts";
import type { Clock } from "../../edge/ports.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import { hasEnded } from "../../process/ended.ts";
import { INTAKE_TABLE } from "../../process/telegram/intake.ts";

/** A holder that is not heard of for this long is taken to be gone. Renewed three times meanwhile. */
const LEASE_MS = 60_000;
/**
 * After a week without updates Telegram begins with another, random id
 * (https://core.telegram.org/bots/api#update), which an offset from before would confirm unread.
 */
const OFFSET_KEEPS_MS = 6 * 24 * 3_600_000;

/** Dependencies of the record of a bot's intake. */
export interface IntakeRecordOptions {
  sql: Sql;
  bot: string;
  /** This process, unlike any other that ever was. */
  holder: string;
  /** Tells whether the process of another holder is known to be dead: its lease is then free at once. */
  isGone(holder: string): boolean;
  clock: Clock;
}

/** One bot's row: who polls for it, where, and how that goes. Beside the ledger, in the same file. */
export class IntakeRecord {
  readonly #options: IntakeRecordOptions;

  /** Creates the table and the row where they are missing. */
  constructor(options: IntakeRecordOptions) {
    this.#options = options;
    const { sql, bot } = options;
    sql.all(INTAKE_TABLE);
    sql.all("INSERT INTO telegram_intake (bot) VALUES (?) ON CONFLICT (bot) DO NOTHING", bot);
  }

  /** Takes the lease or renews it. False: another process has it. */
  take(mode: "poll" | "webhook"): boolean {
    const { sql, bot, holder, isGone, clock } = this.#options;
    return sql.transaction(() => {
      const [row] = sql.all("SELECT holder, expires_at FROM telegram_intake WHERE bot = ?", bot);
      const [other, expires] = [row?.["holder"], Number(row?.["expires_at"] ?? 0)];
      const now = clock();
      const isOthers = typeof other === "string" && other !== holder && expires > now && !isGone(other);
      if (isOthers) return false;
      sql.all(
        `UPDATE telegram_intake SET mode = ?, expires_at = ?,
           started_at = CASE WHEN holder = ? THEN started_at ELSE ? END, holder = ? WHERE bot = ?`,
        mode,
        now + LEASE_MS,
        holder,
        now,
        holder,
        bot,
      );
      return true;
    });
  }

  /** Gives the lease back, where it is this process's. */
  release(): void {
    const { sql, bot, holder } = this.#options;
    sql.all(
      `UPDATE telegram_intake SET holder = NULL, expires_at = NULL, error_code = NULL, error_detail = NULL
       WHERE bot = ? AND holder = ?`,
      bot,
      holder,
    );
  }

  /** Returns the offset to continue at, `undefined` if Telegram decides. */
  offset(): number | undefined {
    const { sql, bot, clock } = this.#options;
    const [row] = sql.all("SELECT next_offset, last_update_at FROM telegram_intake WHERE bot = ?", bot);
    const [offset, at] = [row?.["next_offset"], row?.["last_update_at"]];
    if (typeof offset !== "number" || typeof at !== "number") return undefined;
    return clock() - at > OFFSET_KEEPS_MS ? undefined : offset;
  }

  /** Telegram has answered. `nextOffset`: updates came, and every one below it is in the ledger. */
  answered(nextOffset?: number): void {
    const { sql, bot, clock } = this.#options;
    const now = clock();
    sql.all(
      `UPDATE telegram_intake SET polled_at = ?, error_code = NULL, error_detail = NULL,
         next_offset = coalesce(?, next_offset),
         last_update_at = CASE WHEN ? IS NULL THEN last_update_at ELSE ? END WHERE bot = ?`,
      now,
      nextOffset ?? null,
      nextOffset ?? null,
      now,
      bot,
    );
  }

  /** Why no updates come in, for the gateway to tell. */
  failed(code: ErrorCode, detail: string): void {
    const { sql, bot, holder } = this.#options;
    sql.all(
      "UPDATE telegram_intake SET error_code = ?, error_detail = ? WHERE bot = ? AND holder = ?",
      code,
      detail,
      bot,
      holder,
    );
  }
}

/** A name for this process that says on which machine it runs and under which process id. */
export function processHolder(): string {
  return `${hostname()}/${process.pid}/${randomUUID()}`;
}

/**
 * Tells whether the process behind a holder's name is known to be dead, so that a restart after a crash goes
 * on at once. What runs on another machine, or in another container, is not known.
 */
export function holderIsGone(holder: string): boolean {
  const [machine, id] = holder.split("/");
  const pid = Number(id);
  if (machine !== hostname() || !Number.isInteger(pid) || pid <= 0) return false;
  // This process is not that holder, so that one had the same id before it.
  if (pid === process.pid) return true;
  return hasEnded(pid);
}
