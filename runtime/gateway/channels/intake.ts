import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ChannelHealth } from "../../contract/control.ts";
import { isErrorCode, reason } from "../../contract/errors.ts";
import { type FetchedPlatform, intakeQuery, readIntakeRow, type IntakeState } from "../../process/intake.ts";

/** More than three long polls, or four heartbeats, in a row that were not answered. */
const STALLED_MS = 180_000;

/** Reason of a silence, by platform. */
const STALLED = {
  telegram: reason("telegram_stalled", "polling has stalled"),
  discord: reason("discord_stalled", "the connection is silent"),
};

/**
 * Returns the intake of a bot's events, or of any bot's; `undefined` where no process of this data directory sees to
 * it.
 */
export type ReadIntake = (bot?: string) => IntakeState | undefined;

/**
 * Reads what the fetching process wrote. Its table is there only where something fetches or has fetched, and may come
 * later than the gateway.
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

/** Returns what the intake's state says about the channel's health at `now`. */
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
