import { readFileSync } from "node:fs";
import { BUNDLE_FILE, FROM_SOURCE } from "../contract/names.ts";

/** The hash of the bundle that this file belongs to. In the bundle it is one folder deep, too. */
export function runningBundle(): string {
  try {
    return readFileSync(new URL(`../${BUNDLE_FILE}`, import.meta.url), "utf8").trim();
  } catch {
    return FROM_SOURCE;
  }
}
