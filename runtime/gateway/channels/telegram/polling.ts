import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ChannelHealth } from "../../../contract/control.ts";
import { isErrorCode, reason } from "../../../contract/errors.ts";
import { INTAKE_STATE_QUERY, readIntakeRow, type IntakeState } from "../../../process/telegram/intake.ts";

/** More than three long polls in a row that were not answered. */
const STALLED_MS = 180_000;

/** Intake of a bot's updates; `undefined` where no process of this data directory sees to it. */
export type ReadIntake = (bot: string) => IntakeState | undefined;

/**
 * Reads what the polling process wrote. Its table is there only where something polls or has polled,
 * and may come later than the gateway.
 */
export function intakeReader(database: DatabaseSync): ReadIntake {
  let query: StatementSync | undefined;
  return (bot) => {
    try {
      query ??= database.prepare(INTAKE_STATE_QUERY);
    } catch {
      return undefined;
    }
    return readIntakeRow(query.get(bot));
  };
}

/** Returns what the intake's state says about the channel's health at `now`. */
export function intakeHealth(
  intake: IntakeState | undefined,
  now: number,
): Pick<ChannelHealth, "polledAt" | "reason"> {
  if (intake === undefined || !intake.held) return {};
  const { mode, startedAt = 0, polledAt, failure } = intake;
  const polled = mode === "poll" && polledAt !== undefined && { polledAt: new Date(polledAt).toISOString() };
  if (failure !== undefined && isErrorCode(failure.code))
    return { ...polled, reason: reason(failure.code, failure.detail) };
  const stalled = mode === "poll" && now - Math.max(polledAt ?? 0, startedAt) > STALLED_MS;
  return { ...polled, ...(stalled && { reason: reason("telegram_stalled", "polling has stalled") }) };
}
