import type { GenerationManifest } from "../../contract/backup.ts";

/** How much a generation holds. */
type Counts = GenerationManifest["counts"];

/** What nobody loses by half on purpose. Files are not among it: an assistant may well tidy its workspace. */
const WATCHED = ["sessions", "messages", "approvals"] as const;
/** Below this a fall says nothing: one conversation more or less is half of two. */
const FEWEST = 20;

/** How a copy has shrunk so much against the one before that it looks like a loss; `undefined` where it has not. */
export function shrank(before: Counts, now: Counts): string | undefined {
  const fallen = WATCHED.filter((name) => before[name] >= FEWEST && now[name] < before[name] / 2);
  if (fallen.length === 0) return undefined;
  return fallen.map((name) => `${name} fell from ${before[name]} to ${now[name]}`).join(", ");
}
