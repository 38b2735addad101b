/** The newest ones that are kept however old they are. */
const NEWEST = 10;
/** Days on which one is kept. */
const DAYS = 14;
const DAY_MS = 24 * 3_600_000;

/** What decides about a generation. Names sort by age; `createdAt` is ISO 8601. */
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
