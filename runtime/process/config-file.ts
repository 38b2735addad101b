import { dirname, join } from "node:path";
import type { ConfigReading } from "../contract/config/text.ts";
import { checkSchedules } from "./cron.ts";
import { writeFileAtomic } from "./files.ts";
import { withLock } from "./lock.ts";

/**
 * A config that was read, checked further for what the schema cannot tell: whether cron expressions are
 * some. Gateway, supervisor and command line check alike, so that what the one calls valid starts the other.
 */
export async function withScheduleChecks(reading: ConfigReading): Promise<ConfigReading> {
  if (!reading.result.ok) return reading;
  const problems = await checkSchedules(reading.result.config);
  return problems.length === 0 ? reading : { ...reading, result: { ok: false, problems } };
}

/** Runs `work` while no one else changes the config file. Keep it short, as `withLock` demands. */
export function withConfigLock<T>(path: string, work: () => T): T {
  return withLock(join(dirname(path), "config.lock"), work);
}

/**
 * Keeps the config file as it was beside it, before it is replaced.
 *
 * @returns the copy's path.
 */
export function saveConfigCopy(path: string, text: string, now: number): string {
  const copy = `${path}.bak-${new Date(now).toISOString().replaceAll(":", "-")}`;
  writeFileAtomic(copy, text);
  return copy;
}
