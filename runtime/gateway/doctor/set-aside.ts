import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Stores that could not be read and were renamed, `<name>.corrupt-<time>`, with their whole paths. */
export function setAsideFiles(home: string): string[] {
  return ["", "credentials", "devices"].flatMap((folder) =>
    names(join(home, folder))
      .filter((name) => /\.corrupt-[\dT.Z-]+$/.test(name) && !/-(wal|shm)$/.test(name))
      .map((name) => join(home, folder, name)),
  );
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
