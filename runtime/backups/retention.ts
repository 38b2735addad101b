import type { GenerationManifest } from "../contract/backup.ts";
import { reason, type Reason } from "../contract/errors.ts";

/** Counts that nobody halves on purpose. Files are excluded, because an assistant may tidy its workspace. */
const WATCHED = ["sessions", "messages", "approvals"] as const;
/** Smaller counts are ignored: one of two conversations is already half. */
const FEWEST = 20;

/** Newest generations that are kept at any age. */
const NEWEST = 10;
/** Days for which one generation each is kept. */
const DAYS = 14;
const DAY_MS = 24 * 3_600_000;

/** Missed checks after which the newest backup counts as late. */
const LATE_LOOKS = 3;

/** Facts that decide on retention. Ids sort by age; `createdAt` is ISO 8601. */
interface Aged {
  id: string;
  createdAt: string;
}

/** Returns the ids to remove: all but the newest ten and the last of each day (UTC) within 14 days. */
export function expiredGenerations(generations: readonly Aged[], now: number): string[] {
  const newestFirst = generations.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const days = new Set<string>();
  return newestFirst
    .filter(({ createdAt }, rank) => {
      const day = createdAt.slice(0, 10);
      const lastOfDay = !days.has(day);
      days.add(day);
      return rank >= NEWEST && !(lastOfDay && now - Date.parse(createdAt) < DAYS * DAY_MS);
    })
    .map(({ id }) => id);
}

/**
 * Returns a reason if the state was last checked too long ago. Times are in milliseconds.
 *
 * @param lookedAt When the state was last backed up, or found equal to the newest backup.
 * @param everyMs Interval between checks.
 */
export function lateReason(lookedAt: number, now: number, everyMs: number): Reason | undefined {
  if (now - lookedAt <= LATE_LOOKS * everyMs) return undefined;
  const since = new Date(lookedAt).toISOString();
  return reason("backup_late", `Changes since ${since} may not be in any backup.`);
}

type Counts = GenerationManifest["counts"];

/**
 * Describes counts that shrank so much since the previous backup that it looks like a loss; `undefined` if none did.
 */
export function shrinkage(before: Counts, now: Counts): string | undefined {
  const fallen = WATCHED.filter((name) => before[name] >= FEWEST && now[name] < before[name] / 2);
  if (fallen.length === 0) return undefined;
  return fallen.map((name) => `${name} fell from ${before[name]} to ${now[name]}`).join(", ");
}
