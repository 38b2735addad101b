import { dirname, join } from "node:path";
import type { Config, ConfigProblem } from "../contract/config/index.ts";
import type { ConfigReading } from "../contract/config/text.ts";
import { cronProblem } from "./cron.ts";
import { writeFileAtomic } from "./files.ts";
import { withLock } from "./lock.ts";

/**
 * A config that was read, checked further for what the schema cannot tell: whether cron expressions are
 * some. Gateway, supervisor and command line check alike, so that what the one calls valid starts the other.
 */
export async function wholeReading(reading: ConfigReading): Promise<ConfigReading> {
  if (!reading.result.ok) return reading;
  const problems = await checkSchedules(reading.result.config);
  return problems.length === 0 ? reading : { ...reading, result: { ok: false, problems } };
}

/**
 * Returns what is wrong with a config's schedules beyond its schema. A time that has passed is no problem: it
 * is what every `at` comes to, and must not stop the next start.
 */
export async function checkSchedules({ schedules }: Pick<Config, "schedules">): Promise<ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  for (const [name, schedule] of Object.entries(schedules)) {
    const problem = await cronProblem(schedule);
    if (problem !== undefined) problems.push({ path: `schedules.${name}.cron`, message: problem });
  }
  return problems;
}

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
