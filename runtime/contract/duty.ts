import * as z from "zod/mini";
import { AGENT } from "./names.ts";

const amount = z.number().check(z.minimum(0));
const time = z.iso.datetime();

/**
 * Schema of a {@link DutyRecord}. It is separate from the type so that the Worker, which only writes records, need not
 * bundle it.
 */
export const dutyRecord: z.ZodMiniType<DutyRecord> = z.strictObject({
  version: z.literal(2),
  since: time,
  at: time,
  asleep: z.boolean(),
  sleepAfterMs: z.nullable(amount),
  awakeMs: amount,
  starts: amount,
});

/**
 * Key of the object that records how long the serverless stack's container was awake. A preview estimates the cost
 * from it.
 */
export const DUTY_KEY = `${AGENT}/duty.json`;

/** Shorter measurements are ignored. */
export const SHORTEST_DUTY_HOURS = 24;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export interface DutyRecord {
  version: 2;
  /** Start of the measurement, ISO 8601. */
  since: string;
  /** End of the measurement, ISO 8601. */
  at: string;
  /** True if the container was asleep at the end of the measurement and has not run since then. */
  asleep: boolean;
  /** SANDBOX_SLEEP_AFTER during the measurement; `null`: `never`. */
  sleepAfterMs: number | null;
  awakeMs: number;
  starts: number;
}

export interface Duty {
  measuredHours: number;
  /** Per day. */
  awakeHours: number;
  startsADay: number;
}

/**
 * Returns a container's awake time and starts as averages per day, from its record. If the container was asleep when
 * the record ended, the time from then until `now` (milliseconds since the epoch) counts as asleep.
 */
export function dutyOf({ since, at, asleep, awakeMs, starts }: DutyRecord, now: number): Duty {
  const end = asleep ? Math.max(now, Date.parse(at)) : Date.parse(at);
  const measuredMs = Math.max(end - Date.parse(since), 1);
  const aDay = (total: number): number => (total / measuredMs) * DAY_MS;
  return {
    measuredHours: measuredMs / HOUR_MS,
    awakeHours: Math.min(aDay(awakeMs) / HOUR_MS, 24),
    startsADay: aDay(starts),
  };
}

export function formatSpan(measuredHours: number): string {
  const days = Math.floor(measuredHours / 24);
  return `measured over ${days} ${days === 1 ? "day" : "days"}`;
}
