import * as z from "zod/mini";
import type { Platform } from "../contract/delivery.ts";
import type { ErrorCode } from "../contract/errors.ts";

/** A platform from which a host deployment fetches events. */
export type FetchedPlatform = Extract<Platform, "telegram" | "discord">;

/** Columns of every intake table. Times are milliseconds since the epoch. */
const COLUMNS = `
  bot TEXT PRIMARY KEY,
  mode TEXT NOT NULL DEFAULT 'poll',
  holder TEXT,
  expires_at INTEGER,
  started_at INTEGER,
  polled_at INTEGER,
  error_code TEXT,
  error_detail TEXT`;

/** Tables with one row per bot. The fetching process writes the rows, and the gateway reads them. */
export const INTAKE_TABLES: Readonly<Record<FetchedPlatform, string>> = {
  telegram: `CREATE TABLE IF NOT EXISTS telegram_intake (${COLUMNS}, next_offset INTEGER, last_update_at INTEGER)`,
  discord: `CREATE TABLE IF NOT EXISTS discord_intake (
    ${COLUMNS}, session TEXT, resume_url TEXT, sequence INTEGER, user TEXT)`,
};

const rowSchema = z.object({
  mode: z.enum(["poll", "webhook", "connection"]),
  holder: z.nullable(z.string()),
  started_at: z.nullable(z.number()),
  polled_at: z.nullable(z.number()),
  error_code: z.nullable(z.string()),
  error_detail: z.nullable(z.string()),
});

/**
 * Returns the query for a bot's row. The query's parameter is the bot's id; with NULL, the query selects the row
 * whose lease expires last.
 */
export function intakeQuery(platform: FetchedPlatform): string {
  return `SELECT mode, holder, started_at, polled_at, error_code, error_detail FROM ${platform}_intake
    WHERE bot = coalesce(?, bot) ORDER BY expires_at DESC LIMIT 1`;
}

/** State of fetching one bot's events. */
export interface IntakeState {
  mode: "poll" | "webhook" | "connection";
  /** True if a process acquired the lease and did not release it, perhaps because it died. */
  held: boolean;
  /** Time at which the holder of the lease acquired it, in milliseconds since the epoch. */
  startedAt?: number;
  /** Time at which the platform last responded. */
  polledAt?: number;
  failure?: { code: ErrorCode; detail: string };
}

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
