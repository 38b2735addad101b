import type { Schedule } from "../../contract/config/schedules.ts";
import { StewardError } from "../../contract/errors.ts";
import { cronProblem } from "../../process/cron.ts";
import { periodOf } from "./times.ts";

const SHORTEST_PERIOD_MS = 60_000;

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
