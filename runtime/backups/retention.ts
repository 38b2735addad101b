import type { GenerationManifest } from "../contract/backup.ts";
import { reason, type Reason } from "../contract/errors.ts";

/** Counts that nobody halves on purpose. Files are not among them: an assistant may tidy its workspace. */
const WATCHED = ["sessions", "messages", "approvals"] as const;
/** Smaller counts are not judged: one conversation is half of two. */
const FEWEST = 20;

/** Number of newest generations that are kept at any age. */
const NEWEST = 10;
/** Number of days of which one generation is kept. */
const DAYS = 14;
const DAY_MS = 24 * 3_600_000;

/** Number of looks that may be missed before the age of the newest backup is a problem. */
const LATE_LOOKS = 3;

/** Facts by which a generation is kept. Names sort by age; `createdAt` is ISO 8601. */
interface Aged {
  id: string;
  createdAt: string;
}

/**
 * Returns the names of the generations to remove: all but the newest ten and the last of each day (UTC) of the last
 * fourteen.
 */
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
 * Returns what is wrong if the state was last looked at too long ago. Times in milliseconds.
 *
 * @param lookedAt time at which the state was last copied, or known to be as the newest copy has it
 * @param everyMs interval at which the state is looked at
 */
export function lateReason(lookedAt: number, now: number, everyMs: number): Reason | undefined {
  if (now - lookedAt <= LATE_LOOKS * everyMs) return undefined;
  const since = new Date(lookedAt).toISOString();
  return reason("backup_late", `What has changed since ${since} may be in none.`);
}

/** Counts of a generation. */
type Counts = GenerationManifest["counts"];

/** Describes how a copy has shrunk so much against the one before that it looks like a loss; `undefined` if it has not. */
export function shrinkage(before: Counts, now: Counts): string | undefined {
  const fallen = WATCHED.filter((name) => before[name] >= FEWEST && now[name] < before[name] / 2);
  if (fallen.length === 0) return undefined;
  return fallen.map((name) => `${name} fell from ${before[name]} to ${now[name]}`).join(", ");
}
