import type { Schedule } from "../../contract/config/schedules.ts";
import { parseDuration } from "../../contract/duration.ts";
import { cronWords, readCron } from "../../process/cron.ts";

/** Time of a schedule: the part of it that this is read from. */
export type When = Pick<Schedule, "at" | "every" | "cron" | "timezone">;

/** Slots of a cron expression that are counted one by one; a longer gap counts as this many. */
const MOST_COUNTED = 1_000;

/**
 * Returns when a schedule is due next, later than `after`; `undefined` where it never is again. Equal steps are
 * counted from `createdAt`. Everything in milliseconds since the epoch.
 */
export async function dueAfter(when: When, createdAt: number, after: number): Promise<number | undefined> {
  return (await runsAfter(when, createdAt, after, 1))[0];
}

/** Returns the next times, at most `most` of them. See {@link dueAfter}. */
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

/** Runs that an outlook has. */
const LOOKED_AHEAD = 3;

/** Times of a schedule for people. */
export interface UpcomingRuns {
  /** For example `At 09:00, Monday through Friday`; the time zone is not part of it. */
  words: string;
  /** The next runs, at most three. `at` is ISO 8601; `local` is the time on the clocks of the schedule's time zone. */
  next: { at: string; local: string }[];
}

/** Returns the outlook of a schedule after `from`. See {@link dueAfter}. */
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

/** Schedule that has fallen due. */
export interface OverdueRuns {
  /** The last time that is no earlier than `cutoff`. */
  last?: number;
  /** The times that have passed, `last` included. */
  count: number;
  /** Time at which it is due next. */
  next?: number;
}

/** Returns what has fallen due from `from`, which is the first such time, up to `now`. */
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
      for (let slot = start; slot <= now && found.length < MOST_COUNTED;) {
        found.push(slot);
        slot = cron.nextRun(new Date(slot))?.getTime() ?? Number.POSITIVE_INFINITY;
      }
      return found;
    };
    // The last one is looked for from the cutoff: the count may end before it.
    const first = from >= cutoff ? from : cron.nextRun(new Date(cutoff - 1))?.getTime();
    const last = slots(first ?? Number.POSITIVE_INFINITY).at(-1);
    return { count: slots(from).length, ...recent(last), ...further };
  }
  if (when.every === undefined) return { count: 1, ...recent(from), ...further };
  const period = periodOf(when);
  const steps = Math.floor((now - from) / period);
  return { count: steps + 1, ...recent(from + steps * period), ...further };
}

/** Milliseconds between two times of a schedule in equal steps. */
export function periodOf({ every = "" }: When): number {
  return parseDuration(every) ?? Number.POSITIVE_INFINITY;
}
