import type { GenerationManifest } from "../contract/backup.ts";
import { reason, type Reason } from "../contract/errors.ts";

/**
 * Counts that suggest data loss if they fall by half. Files are excluded, because an assistant may tidy its workspace.
 */
const WATCHED = ["sessions", "messages", "approvals"] as const;
/**
 * Minimum number of items for a report of data loss. A drop in the number of items of one kind is reported only if
 * the previous backup held at least this many items of that kind.
 */
const FEWEST = 20;

/** Number of newest backups to keep, regardless of their age. */
const NEWEST = 10;
/** Number of past days for which to keep each day's last backup. */
const DAYS = 14;
const DAY_MS = 24 * 3_600_000;

/** Number of missed checks after which the newest backup counts as late. */
const MISSED_CHECKS = 3;

/** Fields of a backup that decide whether to keep it. Ids sort by age; `createdAt` is ISO 8601. */
interface Aged {
  id: string;
  createdAt: string;
}

/**
 * Returns the ids of the backups to remove: all except the newest ten and the last backup of each of the past 14 days
 * (UTC).
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
 * Returns the reason `backup_late` if the last check of the state was too long ago. Times are in milliseconds.
 *
 * @param lookedAt Time of the last backup, or of the last check that found no changes.
 * @param everyMs Interval between checks.
 */
export function lateReason(lookedAt: number, now: number, everyMs: number): Reason | undefined {
  if (now - lookedAt <= MISSED_CHECKS * everyMs) return undefined;
  const since = new Date(lookedAt).toISOString();
  return reason("backup_late", `Changes since ${since} may not be in any backup.`);
}

type Counts = GenerationManifest["counts"];

/** Describes counts that fell so much since the previous backup that data may be lost; `undefined` if none did. */
export function shrinkage(before: Counts, now: Counts): string | undefined {
  const fallen = WATCHED.filter((name) => before[name] >= FEWEST && now[name] < before[name] / 2);
  if (fallen.length === 0) return undefined;
  return fallen.map((name) => `${name} fell from ${before[name]} to ${now[name]}`).join(", ");
}
