import type { Config, ConfigProblem } from "../contract/config/index.ts";
import type { Schedule } from "../contract/config/schedules.ts";

/**
 * A cron expression of five fields. The library is loaded for the first one.
 *
 * A local time that the change to summer time leaves out is due right behind the gap, one that the
 * change back repeats is due once; an expression that is due every hour is due in both.
 *
 * @throws Error where the expression is wrong; its message says what about it.
 */
export async function readCron(expression: string, timezone = "UTC") {
  const { Cron } = await import("croner");
  return new Cron(expression, { mode: "5-part", timezone, paused: true });
}

/** Returns what is wrong with a cron expression, `undefined` where nothing is. */
export async function cronProblem({
  cron,
  timezone,
}: Pick<Schedule, "cron" | "timezone">): Promise<string | undefined> {
  if (cron === undefined) return undefined;
  try {
    const next = (await readCron(cron, timezone)).nextRun();
    return next === null ? "is never due" : undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return `is not a cron expression of five fields (${message})`;
  }
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
