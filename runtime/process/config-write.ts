import { dirname, join } from "node:path";
import { writeFileAtomic } from "./files.ts";
import { withLock } from "./lock.ts";

/** Runs `work` while nobody else changes the config file. Short, as `withLock` has it. */
export function withConfigLock<T>(path: string, work: () => T): T {
  return withLock(join(dirname(path), "config.lock"), work);
}

/**
 * Keeps the config file as it was beside it, before it is replaced.
 *
 * @returns the copy's path.
 */
export function keepCopy(path: string, text: string, now: number): string {
  const copy = `${path}.bak-${new Date(now).toISOString().replaceAll(":", "-")}`;
  writeFileAtomic(copy, text);
  return copy;
}
