import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BUNDLE_FILE, FROM_SOURCE } from "../contract/names.ts";
import { programsFolder } from "../process/programs.ts";

/** The hash of the bundle that this file belongs to. In the bundle it is one folder deep, too. */
export function runningBundle(): string {
  try {
    return readFileSync(join(programsFolder(), BUNDLE_FILE), "utf8").trim();
  } catch {
    return FROM_SOURCE;
  }
}
