import type { Schedule } from "../../contract/config/schedules.ts";
import { parseDuration } from "../../contract/duration.ts";
import { readCron } from "../../process/cron.ts";

/** Time of a schedule: the part of it that this is read from. */
export type When = Pick<Schedule, "at" | "every" | "cron" | "timezone">;

/** Slots of a cron expression that are counted one by one; a longer gap counts as this many. */
const MOST_COUNTED = 1_000;

/**
 * Returns when a schedule is due next, later than `after`; `undefined` where it never is again. Equal steps are
 * counted from `createdAt`. Everything in milliseconds since the epoch.
 */
export async function dueAfter(when: When, createdAt: number, after: number): Promise<number | undefined> {
  if (when.at !== undefined) {
    const at = Date.parse(when.at);
    return at > after ? at : undefined;
  }
  if (when.cron !== undefined) {
    const cron = await readCron(when.cron, when.timezone);
    return cron.nextRun(new Date(after))?.getTime();
  }
  const period = periodOf(when);
  return createdAt + (Math.floor((after - createdAt) / period) + 1) * period;
}

/** Schedule that has fallen due. */
export interface Overdue {
  /** The last time that is no earlier than `cutoff`. */
  last?: number;
  /** The times that have passed, `last` included. */
  count: number;
  /** Time at which it is due next. */
  next?: number;
}

/** Returns what has fallen due from `from`, which is the first such time, up to `now`. */
export async function overdue(
  when: When,
  createdAt: number,
  { from, cutoff, now }: { from: number; cutoff: number; now: number },
): Promise<Overdue> {
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
