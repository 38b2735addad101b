import { DatabaseSync } from "node:sqlite";
import type { GenerationManifest } from "../../contract/backup.ts";

/** How much a copy holds. */
export type Counts = GenerationManifest["counts"];

/** Tables that are counted, and under which name. */
const TABLES = ["sessions", "messages", "schedules"] as const;
/** A list of people that is larger is none. */
export const LARGEST_LIST = 16 * 1024 * 1024;

/**
 * Returns what a copied database holds, with what retention has removed from it: a copy is compared with the one before
 * to find a loss, and that is none. Nothing where there is none, or where it is of a time before these tables.
 */
export function countTables(path: string | undefined): Pick<Counts, (typeof TABLES)[number]> {
  const counts = { sessions: 0, messages: 0, schedules: 0 };
  if (path === undefined) return counts;
  const database = new DatabaseSync(path, { readOnly: true });
  const isThere = (table: string): boolean =>
    database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !==
    undefined;
  try {
    for (const table of TABLES) {
      if (!isThere(table)) continue;
      counts[table] = Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
    }
    if (!isThere("retention")) return counts;
    const removed = database.prepare("SELECT messages, sessions FROM retention").get();
    counts.messages += Number(removed?.["messages"] ?? 0);
    counts.sessions += Number(removed?.["sessions"] ?? 0);
    return counts;
  } finally {
    database.close();
  }
}

/** Whether a file lists who may use the bot. */
export function listsApprovals(name: string): boolean {
  return name === "devices/paired.json" || /^credentials\/[^/]+-allowFrom\.json$/.test(name);
}

/** How many a file of {@link listsApprovals} lists; none where it cannot be read. */
export function countApprovals(text: string): number {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return 0;
    if (!("allowFrom" in value)) return Object.keys(value).length;
    return Array.isArray(value.allowFrom) ? value.allowFrom.length : 0;
  } catch {
    return 0;
  }
}
