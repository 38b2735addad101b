import type { Config } from "../../contract/config/index.ts";
import { parseDuration } from "../../contract/duration.ts";
import { localTime } from "../local-time.ts";

const DAY_MS = 24 * 3_600_000;

/**
 * Whether a session begins anew with a message that comes now. It does where the daily time lies between
 * the last message and this one, or where that was too long ago. Times in milliseconds since the epoch.
 */
export function isResetDue(
  rules: Config["sessions"]["reset"],
  lastAt: number | undefined,
  now: number,
): boolean {
  if (lastAt === undefined) return false;
  const { dailyAt, timezone = "UTC", idle } = rules;
  if (idle !== undefined && now - lastAt >= (parseDuration(idle) ?? Number.POSITIVE_INFINITY)) return true;
  if (dailyAt === undefined || now <= lastAt) return false;
  if (now - lastAt >= 2 * DAY_MS) return true;
  // The day begins at that time by the clock on the wall, so a change to summer time needs no sum.
  return dayOf(now, dailyAt, timezone) > dayOf(lastAt, dailyAt, timezone);
}

/** The date by the wall's clock; before the daily time it is still the day before. */
function dayOf(at: number, dailyAt: string, timeZone: string): string {
  // That locale writes YYYY-MM-DD HH:MM.
  const [date = "", time = ""] = localTime(at, timeZone, { locale: "sv-SE", dateStyle: "short" }).split(" ");
  if (time >= dailyAt) return date;
  return new Date(Date.parse(`${date}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
}
