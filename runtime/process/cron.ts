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

/** Returns a cron expression in English words; the expression itself if the library has none for it. */
export async function cronWords(expression: string): Promise<string> {
  const { default: cronstrue } = await import("cronstrue");
  try {
    return cronstrue.toString(expression, { use24HourTimeFormat: true });
  } catch {
    return expression;
  }
}

/**
 * Reads a local time such as `2027-01-31 09:00` in a time zone. Returns ISO 8601; any other text, and one of an unknown
 * time zone, as it is.
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
