import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ChannelHealth } from "../../contract/control.ts";
import { isErrorCode, reason } from "../../contract/errors.ts";
import { type FetchedPlatform, intakeQuery, readIntakeRow, type IntakeState } from "../../process/intake.ts";

/**
 * Silence, in milliseconds, after which fetching counts as stalled: longer than three long polls or four heartbeats.
 */
const STALLED_MS = 180_000;

const STALLED = {
  telegram: reason("telegram_stalled", "polling has stalled"),
  discord: reason("discord_stalled", "the connection is silent"),
};

/**
 * Returns a bot's intake state. Without `bot`, returns the most recent intake state of any bot. Returns `undefined`
 * if no process that uses this data directory has recorded such a state.
 */
export type ReadIntake = (bot?: string) => IntakeState | undefined;

/**
 * Returns a function that reads the platform's intake state. The function returns `undefined` until the intake table
 * exists.
 */
export function intakeReader(database: DatabaseSync, platform: FetchedPlatform): ReadIntake {
  let query: StatementSync | undefined;
  return (bot) => {
    try {
      query ??= database.prepare(intakeQuery(platform));
    } catch {
      return undefined;
    }
    return readIntakeRow(query.get(bot ?? null));
  };
}

export function intakeHealth(
  intake: IntakeState | undefined,
  platform: FetchedPlatform,
  now: number,
): Pick<ChannelHealth, "polledAt" | "reason"> {
  if (intake === undefined || !intake.held) return {};
  const { mode, startedAt = 0, polledAt, failure } = intake;
  const fetches = mode !== "webhook";
  const polled = fetches && polledAt !== undefined && { polledAt: new Date(polledAt).toISOString() };
  if (failure !== undefined && isErrorCode(failure.code))
    return { ...polled, reason: reason(failure.code, failure.detail) };
  const stalled = fetches && now - Math.max(polledAt ?? 0, startedAt) > STALLED_MS;
  return { ...polled, ...(stalled && { reason: STALLED[platform] }) };
}
