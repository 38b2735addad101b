import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/** Maximum number of entries to visit. */
const MAX_WALKED = 20_000;

/**
 * Yields everything below a directory, each folder before its content. Names are relative; links are not followed.
 */
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
      if (walked > MAX_WALKED) return;
      if (entry.isDirectory()) folders.push(name);
      yield { name, entry };
    }
  }
}

/** Returns a folder's entries; empty if the folder does not exist. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
