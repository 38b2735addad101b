import type { GenerationManifest } from "../contract/backup.ts";
import { reason, type Reason, StewardError } from "../contract/errors.ts";

/** Counts that no one halves on purpose. Files are not among them: an assistant may well tidy its workspace. */
const WATCHED = ["sessions", "messages", "approvals"] as const;
/** Below this a fall says nothing: one conversation more or less is half of two. */
const FEWEST = 20;

/** The newest ones that are kept however old they are. */
const NEWEST = 10;
/** Days on which one is kept. */
const DAYS = 14;
const DAY_MS = 24 * 3_600_000;

/** Looks that may fail, or take long, before the age of the newest backup counts as a problem. */
const LATE_LOOKS = 3;

/** Facts that decide about a generation. Names sort by age; `createdAt` is ISO 8601. */
interface Aged {
  id: string;
  createdAt: string;
}

/**
 * The generations that are not kept: beyond the newest ten, all but the last of each day (UTC) of the last
 * fourteen. Never the only one.
 */
export function expired(generations: readonly Aged[], now: number): string[] {
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
 * The newest generation whose config was valid when it was made.
 *
 * @throws StewardError `config_no_good` where there is none.
 */
export function lastGood(generations: readonly GenerationManifest[]): GenerationManifest {
  const found = generations.find(({ configValid }) => configValid);
  if (found === undefined) throw new StewardError("config_no_good");
  return found;
}

/**
 * Returns what is wrong if the state was last looked at too long ago. Times in milliseconds.
 *
 * @param lookedAt time at which the state was last copied, or known to be as the newest copy has it
 * @param everyMs interval of the looks
 */
export function lateness(lookedAt: number, now: number, everyMs: number): Reason | undefined {
  if (now - lookedAt <= LATE_LOOKS * everyMs) return undefined;
  const since = new Date(lookedAt).toISOString();
  return reason("backup_late", `What has changed since ${since} may be in none.`);
}

/** Counts of a generation. */
type Counts = GenerationManifest["counts"];

/** Returns how a copy has shrunk so much against the one before that it looks like a loss; `undefined` where it has not. */
export function shrank(before: Counts, now: Counts): string | undefined {
  const fallen = WATCHED.filter((name) => before[name] >= FEWEST && now[name] < before[name] / 2);
  if (fallen.length === 0) return undefined;
  return fallen.map((name) => `${name} fell from ${before[name]} to ${now[name]}`).join(", ");
}
