import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/** Entries of a directory of files that are looked at: one with more was not made by this program. */
const MOST_WALKED = 20_000;

/** Yields what is below a directory, a folder before what is in it, with names relative to it. Follows no link. */
export function* walk(
  directory: string,
  skipped: ReadonlySet<string> = new Set(),
): Generator<{ name: string; entry: Dirent }> {
  const folders = [""];
  let walked = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(join(directory, folder))) {
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (skipped.has(name)) continue;
      walked += 1;
      if (walked > MOST_WALKED) return;
      if (entry.isDirectory()) folders.push(name);
      yield { name, entry };
    }
  }
}

/** Returns the entries of a folder; none if there is no such folder. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
