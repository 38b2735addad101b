import * as z from "zod/mini";
import type { ErrorCode } from "../../contract/errors.ts";

/**
 * Table of the intake of Telegram's updates on a host, one row a bot: written by the process that polls, read by
 * the gateway. Times are milliseconds since the epoch.
 */
export const INTAKE_TABLE = `CREATE TABLE IF NOT EXISTS telegram_intake (
  bot TEXT PRIMARY KEY,
  mode TEXT NOT NULL DEFAULT 'poll',
  next_offset INTEGER,
  holder TEXT,
  expires_at INTEGER,
  started_at INTEGER,
  polled_at INTEGER,
  last_update_at INTEGER,
  error_code TEXT,
  error_detail TEXT
)`;

/** State of the intake, as {@link INTAKE_STATE_QUERY} gives it. */
const rowSchema = z.object({
  mode: z.enum(["poll", "webhook"]),
  holder: z.nullable(z.string()),
  started_at: z.nullable(z.number()),
  polled_at: z.nullable(z.number()),
  error_code: z.nullable(z.string()),
  error_detail: z.nullable(z.string()),
});

/** Reads a bot's row. */
export const INTAKE_STATE_QUERY =
  "SELECT mode, holder, started_at, polled_at, error_code, error_detail FROM telegram_intake WHERE bot = ?";

/** State of the intake of a bot's updates. */
export interface IntakeState {
  mode: "poll" | "webhook";
  /** Some process is responsible, or was when it died. */
  held: boolean;
  /** Time at which that process took it over. */
  startedAt?: number;
  /** Time at which Telegram last answered. */
  polledAt?: number;
  failure?: { code: ErrorCode; detail: string };
}

/** A row of the table; `undefined` where there is none. */
export function readIntakeRow(row: unknown): IntakeState | undefined {
  const { data } = rowSchema.safeParse(row);
  if (data === undefined) return undefined;
  return {
    mode: data.mode,
    held: data.holder !== null,
    ...(data.started_at !== null && { startedAt: data.started_at }),
    ...(data.polled_at !== null && { polledAt: data.polled_at }),
    ...(data.error_code !== null && {
      failure: { code: data.error_code as ErrorCode, detail: data.error_detail ?? "" },
    }),
  };
}
