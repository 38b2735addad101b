import type { Schedule } from "../../contract/config/schedules.ts";
import { parseDuration } from "../../contract/duration.ts";
import { cronWords, readCron } from "../../process/cron.ts";

export type When = Pick<Schedule, "at" | "every" | "cron" | "timezone">;

/** Maximum number of due times counted for a cron expression. */
const MAX_COUNTED = 1_000;

/**
 * Returns the first due time after `after`; `undefined` if there is none. `every` counts from `createdAt`. All
 * times are milliseconds since the epoch.
 */
export async function dueAfter(when: When, createdAt: number, after: number): Promise<number | undefined> {
  return (await runsAfter(when, createdAt, after, 1))[0];
}

/** Returns the first due times after `after`, at most `most`. See {@link dueAfter}. */
async function runsAfter(when: When, createdAt: number, after: number, most: number): Promise<number[]> {
  if (when.at !== undefined) return [Date.parse(when.at)].filter((at) => at > after);
  if (when.cron !== undefined) {
    const cron = await readCron(when.cron, when.timezone);
    return cron.nextRuns(most, new Date(after)).map((run) => run.getTime());
  }
  const period = periodOf(when);
  const first = createdAt + (Math.floor((after - createdAt) / period) + 1) * period;
  return Array.from({ length: most }, (_, index) => first + index * period);
}

const LOOKED_AHEAD = 3;

export interface UpcomingRuns {
  /** Description such as `At 09:00, Monday through Friday`, without the time zone. */
  words: string;
  /** The next runs, at most three. `at` is ISO 8601; `local` is in the schedule's time zone. */
  next: { at: string; local: string }[];
}

export async function describeUpcomingRuns(
  when: When,
  createdAt: number,
  from: number,
): Promise<UpcomingRuns> {
  const { at, every, cron, timezone = "UTC" } = when;
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  });
  const next = (await runsAfter(when, createdAt, from, LOOKED_AHEAD)).map((time) => {
    const part = Object.fromEntries(clock.formatToParts(time).map(({ type, value }) => [type, value]));
    const local = `${part["weekday"]} ${part["day"]} ${part["month"]} ${part["year"]}, ${part["hour"]}:${part["minute"]} ${part["timeZoneName"]}`;
    return { at: new Date(time).toISOString(), local };
  });
  if (cron !== undefined) return { words: await cronWords(cron), next };
  return { words: at === undefined ? `Every ${every}` : "Once", next };
}

export interface OverdueRuns {
  /** The last due time that has passed; absent if it is before `cutoff`. */
  last?: number;
  /** Number of due times that have passed, including `last`. */
  count: number;
  /** First future due time. */
  next?: number;
}

/** Summarises a schedule's due times until `now`. `from` is the first of these times. */
export async function findOverdueRuns(
  when: When,
  createdAt: number,
  { from, cutoff, now }: { from: number; cutoff: number; now: number },
): Promise<OverdueRuns> {
  const next = await dueAfter(when, createdAt, now);
  const further = next !== undefined && { next };
  const recent = (last: number | undefined) => last !== undefined && last >= cutoff && { last };
  if (when.cron !== undefined) {
    const cron = await readCron(when.cron, when.timezone);
    const slots = (start: number): number[] => {
      const found: number[] = [];
      for (let slot = start; slot <= now && found.length < MAX_COUNTED;) {
        found.push(slot);
        slot = cron.nextRun(new Date(slot))?.getTime() ?? Number.POSITIVE_INFINITY;
      }
      return found;
    };
    // Start at the cutoff or later: `slots` returns at most MAX_COUNTED times, so an earlier start might miss the
    // last due time.
    const first = from >= cutoff ? from : cron.nextRun(new Date(cutoff - 1))?.getTime();
    const last = slots(first ?? Number.POSITIVE_INFINITY).at(-1);
    return { count: slots(from).length, ...recent(last), ...further };
  }
  if (when.every === undefined) return { count: 1, ...recent(from), ...further };
  const period = periodOf(when);
  const steps = Math.floor((now - from) / period);
  return { count: steps + 1, ...recent(from + steps * period), ...further };
}

/** Returns the schedule's period in milliseconds; infinite if it has no `every`. */
export function periodOf({ every = "" }: When): number {
  return parseDuration(every) ?? Number.POSITIVE_INFINITY;
}
