import * as z from "zod/mini";
import { AGENT } from "./names.ts";

const amount = z.number().check(z.minimum(0));
const time = z.iso.datetime();

/** Reads a {@link DutyRecord}. Apart from it, since the Worker only writes one. */
export const dutyRecord: z.ZodMiniType<DutyRecord> = z.strictObject({
  version: z.literal(1),
  since: time,
  at: time,
  asleep: z.boolean(),
  sleepAfterMs: z.nullable(amount),
  days: z.record(
    z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/)),
    z.strictObject({ awakeMs: amount, starts: amount }),
  ),
});

/**
 * Time that the serverless stack's container was awake, day by day: its Durable Object leaves it in the bucket,
 * and a preview reckons the cost with it.
 */
export const DUTY_KEY = `${AGENT}/duty.json`;

/** So many days are kept, the one under way among them. */
const KEPT_DAYS = 30;

/** Shortest measurement that tells something of a day. */
export const SHORTEST_DUTY_HOURS = 24;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Content of the object at {@link DUTY_KEY}. */
export interface DutyRecord {
  version: 1;
  /** ISO 8601: measured from then on. */
  since: string;
  /** ISO 8601: measured until then. */
  at: string;
  /** It slept then, and has not run since this was written. */
  asleep: boolean;
  /** SANDBOX_SLEEP_AFTER while it was measured; `null` for `never`. */
  sleepAfterMs: number | null;
  /** By UTC day, such as `2026-11-21`; one on which it only slept may be missing. */
  days: Record<string, DutyDay>;
}

/** A day's part. */
interface DutyDay {
  awakeMs: number;
  starts: number;
}

/** Outcome of a record. */
export interface Duty {
  /** For how long it was measured. */
  measuredHours: number;
  /** Hours a day that the container was awake. */
  awakeHours: number;
  /** Times a day that it was started. */
  startsADay: number;
}

/** Reckons over the days that are kept, those asleep until `now` among them. */
export function dutyOf({ since, at, asleep, days }: DutyRecord, now: number): Duty {
  const end = asleep ? Math.max(now, Date.parse(at)) : Date.parse(at);
  const from = Math.max(Date.parse(since), firstDay(end));
  const kept = Object.entries(days).filter(([name]) => name >= dayName(from));
  const sum = (member: "awakeMs" | "starts") => kept.reduce((total, [, one]) => total + one[member], 0);
  const measuredDays = Math.max(end - from, 1) / DAY_MS;
  return {
    measuredHours: Math.max(end - from, 0) / HOUR_MS,
    awakeHours: Math.min(sum("awakeMs") / HOUR_MS / measuredDays, 24),
    startsADay: sum("starts") / measuredDays,
  };
}

/** The UTC day of a time, as a record names it. */
export function dayName(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Returns when the oldest day that is kept began, milliseconds since the epoch. */
export function firstDay(now: number): number {
  return (Math.floor(now / DAY_MS) - KEPT_DAYS + 1) * DAY_MS;
}

/** The days with a time awake; each day gets its part, and none becomes longer than a day. */
export function withAwake(days: DutyRecord["days"], from: number, to: number): DutyRecord["days"] {
  const all = { ...days };
  let start = Math.max(from, firstDay(to));
  while (start < to) {
    const end = Math.min((Math.floor(start / DAY_MS) + 1) * DAY_MS, to);
    const { awakeMs, starts } = all[dayName(start)] ?? { awakeMs: 0, starts: 0 };
    all[dayName(start)] = { awakeMs: Math.min(awakeMs + end - start, DAY_MS), starts };
    start = end;
  }
  return all;
}

/** The time that was measured, for people. */
export function measuredOver(measuredHours: number): string {
  const days = Math.floor(measuredHours / 24);
  return `measured over ${days} ${days === 1 ? "day" : "days"}`;
}
