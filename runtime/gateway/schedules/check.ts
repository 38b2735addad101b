import type { Config, ConfigProblem } from "../../contract/config/index.ts";
import type { Schedule } from "../../contract/config/schedules.ts";
import { StewardError } from "../../contract/errors.ts";
import { cronProblem, periodOf } from "./times.ts";

const SHORTEST_PERIOD_MS = 60_000;

/**
 * What is wrong with a config's schedules beyond its schema. A time that has passed is no problem: it
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

/**
 * Checks a schedule that a person or the agent makes now.
 *
 * @throws StewardError `schedule_invalid` with what is wrong.
 */
export async function checkNew(schedule: Schedule, now: number): Promise<void> {
  const { at, every } = schedule;
  const refuse = (problem: string): never => {
    throw new StewardError("schedule_invalid", problem);
  };
  if (at !== undefined && Date.parse(at) <= now) refuse(`at: ${at} has passed`);
  if (every !== undefined && periodOf(schedule) < SHORTEST_PERIOD_MS) refuse("every: must be 1m or longer");
  const problem = await cronProblem(schedule);
  if (problem !== undefined) refuse(`cron: ${problem}`);
}
