import { DatabaseSync } from "node:sqlite";
import type { GenerationManifest } from "../../contract/backup.ts";

/** How much a copy holds. */
export type Counts = GenerationManifest["counts"];

/** Tables that are counted, and under which name. */
const TABLES = ["sessions", "messages", "schedules"] as const;
/** A list of people that is larger is none. */
export const LARGEST_LIST = 16 * 1024 * 1024;

/** What a copied database holds; nothing where there is none, or where it is of a time before these tables. */
export function countTables(path: string | undefined): Pick<Counts, (typeof TABLES)[number]> {
  const counts = { sessions: 0, messages: 0, schedules: 0 };
  if (path === undefined) return counts;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    for (const table of TABLES) {
      const there = database
        .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
        .get(table);
      if (there === undefined) continue;
      counts[table] = Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
    }
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
