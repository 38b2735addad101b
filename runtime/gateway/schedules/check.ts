import type { Schedule } from "../../contract/config/schedules.ts";
import { StewardError } from "../../contract/errors.ts";
import { cronProblem } from "../../process/cron.ts";
import type { ScheduleSource } from "./store.ts";
import { dueAfter, periodOf } from "./times.ts";

const MINUTE_MS = 60_000;
/** The shortest pause between two runs, in minutes. Each may be a model's answer, and a chat is not the operator's alone. */
const SHORTEST: Readonly<Record<Exclude<ScheduleSource, "config">, number>> = { chat: 15, cli: 1 };
/** Runs that are looked at for the shortest pause: more than a cron expression has in a day of quarter hours. */
const LOOKED_AT = 100;

/**
 * Checks a schedule that a person or the agent makes now.
 *
 * @throws StewardError `schedule_invalid` with what is wrong.
 */
export async function checkNew(
  schedule: Schedule,
  now: number,
  source: Exclude<ScheduleSource, "config">,
): Promise<void> {
  const { at, every } = schedule;
  const refuse = (problem: string): never => {
    throw new StewardError("schedule_invalid", problem);
  };
  if (at !== undefined && Date.parse(at) <= now) refuse(`at: ${at} has passed`);
  const problem = await cronProblem(schedule);
  if (problem !== undefined) refuse(`cron: ${problem}`);
  const minutes = SHORTEST[source];
  if ((await shortestPause(schedule, now)) < minutes * MINUTE_MS) {
    refuse(`${every === undefined ? "cron" : "every"}: two runs must be ${minutes}m or more apart`);
  }
}

async function shortestPause(schedule: Schedule, now: number): Promise<number> {
  if (schedule.every !== undefined) return periodOf(schedule);
  let shortest = Number.POSITIVE_INFINITY;
  let due = await dueAfter(schedule, now, now);
  for (let count = 0; count < LOOKED_AT && due !== undefined; count += 1) {
    const next = await dueAfter(schedule, now, due);
    if (next !== undefined) shortest = Math.min(shortest, next - due);
    due = next;
  }
  return shortest;
}
