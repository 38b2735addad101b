import * as z from "zod/mini";
import { AGENT } from "./names.ts";

const amount = z.number().check(z.minimum(0));
const time = z.iso.datetime();

/** Reads a {@link DutyRecord}. Apart from the type, since the Worker only writes one. */
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
 * Object in the bucket that says how long the serverless stack's container was awake. Its Durable Object writes it, and a
 * preview estimates the cost with it.
 */
export const DUTY_KEY = `${AGENT}/duty.json`;

/** Shortest measurement that is used. */
export const SHORTEST_DUTY_HOURS = 24;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Content of the object at {@link DUTY_KEY}. */
export interface DutyRecord {
  version: 2;
  /** Start of the measurement, ISO 8601. */
  since: string;
  /** End of the measurement, ISO 8601. */
  at: string;
  /** The container slept at the end, and has not run since this was written. */
  asleep: boolean;
  /** SANDBOX_SLEEP_AFTER during the measurement; `null` for `never`. */
  sleepAfterMs: number | null;
  /** Time awake during the measurement. */
  awakeMs: number;
  /** Starts during the measurement. */
  starts: number;
}

/** Averages of a record. */
export interface Duty {
  /** Length of the measurement. */
  measuredHours: number;
  /** Hours awake a day. */
  awakeHours: number;
  startsADay: number;
}

/** Returns a record's averages. A container that slept at its end is taken to sleep until `now`. */
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

/** Returns the length of a measurement, for people. */
export function formatSpan(measuredHours: number): string {
  const days = Math.floor(measuredHours / 24);
  return `measured over ${days} ${days === 1 ? "day" : "days"}`;
}
