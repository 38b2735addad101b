import { dirname, join } from "node:path";
import type { ConfigReading } from "../contract/config/text.ts";
import { checkSchedules } from "./cron.ts";
import { writeFileAtomic } from "./files.ts";
import { withLock } from "./lock.ts";

/** Checks the cron expressions of a valid config, because the schema cannot. */
export async function withScheduleChecks(reading: ConfigReading): Promise<ConfigReading> {
  if (!reading.result.ok) return reading;
  const problems = await checkSchedules(reading.result.config);
  return problems.length === 0 ? reading : { ...reading, result: { ok: false, problems } };
}

/**
 * Runs `work` while holding the config file's lock. `work` must be short, because it blocks every process that waits
 * for the lock.
 */
export function withConfigLock<T>(path: string, work: () => T): T {
  return withLock(join(dirname(path), "config.lock"), work);
}

/**
 * Saves the given text as a copy next to the config file.
 *
 * @returns The copy's path.
 */
export function saveConfigCopy(path: string, text: string, now: number): string {
  const copy = `${path}.bak-${new Date(now).toISOString().replaceAll(":", "-")}`;
  writeFileAtomic(copy, text);
  return copy;
}
