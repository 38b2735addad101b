import type { Config, ConfigProblem } from "../contract/config/index.ts";
import type { Schedule } from "../contract/config/schedules.ts";

/**
 * Parses a cron expression of five fields. If daylight saving time skips a run's local time, the run is due right
 * after the gap. If a run's local time occurs twice, the run is due once. Neither applies to an expression with
 * several hours or minutes: skipped runs are omitted, and runs at a repeated time are due twice.
 *
 * @throws Error if the expression is invalid.
 */
export async function readCron(expression: string, timezone = "UTC") {
  const { Cron } = await import("croner");
  return new Cron(expression, { mode: "5-part", timezone, paused: true });
}

/** Describes a cron expression in words. Returns the expression itself if the library cannot describe it. */
export async function cronWords(expression: string): Promise<string> {
  const { default: cronstrue } = await import("cronstrue");
  try {
    return cronstrue.toString(expression, { use24HourTimeFormat: true });
  } catch {
    return expression;
  }
}

/**
 * Converts a local time such as `2027-01-31 09:00` to ISO 8601. Returns `text` unchanged if it has another format or
 * the zone is unknown.
 */
export async function readLocalTime(text: string, timezone = "UTC"): Promise<string> {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?$/.test(text)) return text;
  const { Cron } = await import("croner");
  const whole = `${text.replace(" ", "T")}:00`.slice(0, 19);
  try {
    const time = new Cron(whole, { timezone, paused: true }).nextRun(new Date(0));
    return time?.toISOString() ?? text;
  } catch {
    return text;
  }
}

/** Returns the reason why a cron expression cannot be used; `undefined` if it is valid or missing. */
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

/** Finds invalid cron expressions, which the schema cannot detect. Accepts an `at` in the past. */
export async function checkSchedules({ schedules }: Pick<Config, "schedules">): Promise<ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  for (const [name, schedule] of Object.entries(schedules)) {
    const problem = await cronProblem(schedule);
    if (problem !== undefined) problems.push({ path: `schedules.${name}.cron`, message: problem });
  }
  return problems;
}
