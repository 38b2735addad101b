import type { Role } from "../../contract/config/rights.ts";
import type { Schedule } from "../../contract/config/schedules.ts";
import { StewardError } from "../../contract/errors.ts";
import { cronProblem } from "../../process/cron.ts";
import { randomBytes } from "../../process/random.ts";
import type { RemovedSchedule, ScheduleSource, ScheduleStore, StoredSchedule } from "./store.ts";
import { dueAfter, periodOf, type When } from "./times.ts";

const MINUTE_MS = 60_000;
const WHEN = ["at", "every", "cron", "timezone"] as const;
/** Minimum interval between two runs, in minutes, by source. It limits the number of model requests. */
const SHORTEST: Readonly<Record<Exclude<ScheduleSource, "config">, number>> = { chat: 15, cli: 1 };
/** Maximum number of intervals to compare when finding the shortest interval between runs. */
const LOOKED_AT = 100;

const MAX_FROM_CHATS = 100;
/** Maximum number of schedules of one chat, so that it cannot use up {@link MAX_FROM_CHATS}. */
const MAX_FROM_CHAT = 10;

/** A chat's access to the schedules that send messages to the chat. */
export interface SchedulesPort {
  /**
   * Adds a schedule with only those rights that all roles in `madeBy` have. `nextAt` is ISO 8601.
   *
   * @throws StewardError `schedule_invalid` if the schedule is invalid or there are too many.
   */
  add(spec: Schedule, madeBy: readonly Role[]): Promise<{ id: string; nextAt: string }>;
  /** Returns the schedules that send messages to a chat, including those in the config. */
  list(chat: Pick<Schedule["to"], "platform" | "chat">): StoredSchedule[];
  /**
   * Removes one of the chat's schedules.
   *
   * @throws StewardError `schedule_unknown` if the chat has no such schedule; `schedule_invalid` if it is in the
   * config.
   */
  remove(id: string, chat: Pick<Schedule["to"], "platform" | "chat">): void;
}

export function schedulesPort(store: ScheduleStore, clock: () => number): SchedulesPort {
  const list: SchedulesPort["list"] = ({ platform, chat }) =>
    store.list().filter(({ spec: { to } }) => to.platform === platform && to.chat === chat);
  return {
    list,
    async add(spec, madeBy) {
      const ofChat = list(spec.to).filter(({ source }) => source === "chat").length;
      if (ofChat >= MAX_FROM_CHAT) {
        throw new StewardError(
          "schedule_invalid",
          `this chat already has ${MAX_FROM_CHAT} schedules: remove one first`,
        );
      }
      if (store.madeInChat >= MAX_FROM_CHATS) {
        throw new StewardError("schedule_invalid", `chats have already made ${MAX_FROM_CHATS} schedules`);
      }
      const { id, nextAt } = await addSchedule(store, "chat", spec, clock(), madeBy);
      return { id, nextAt: new Date(nextAt).toISOString() };
    },
    remove(id, chat) {
      if (!list(chat).some((one) => one.id === id)) throw unknownSchedule(id);
      removeSchedule(store, id);
    },
  };
}

/** @throws StewardError `schedule_invalid` */
export async function addSchedule(
  store: ScheduleStore,
  source: Exclude<ScheduleSource, "config">,
  spec: Schedule,
  now: number,
  madeBy?: readonly Role[],
): Promise<{ id: string; nextAt: number }> {
  const nextAt = await firstRun(spec, now, source);
  const id = `${source}:${randomBytes(4).toString("hex")}`;
  store.put({ id, source, spec, ...(madeBy && { madeBy }), createdAt: now, nextAt });
  return { id, nextAt };
}

/**
 * Returns a schedule that may be changed in the store.
 *
 * @throws StewardError if the schedule is unknown or is in the config.
 */
function changeable(store: ScheduleStore, id: string, remedy = "set enabled there"): StoredSchedule {
  const found = store.get(id);
  if (found === undefined) throw unknownSchedule(id);
  if (found.source === "config")
    throw new StewardError("schedule_invalid", `${id} is in the config file: ${remedy}`);
  return found;
}

/**
 * Changes a schedule, but not its id, past runs or rights. Reschedules the next run only if the times change. Returns
 * the time of the next run in milliseconds since the epoch, or `undefined` if none is planned.
 */
export async function editSchedule(
  store: ScheduleStore,
  id: string,
  change: (before: Schedule) => Schedule | Promise<Schedule>,
  now: number,
): Promise<number | undefined> {
  const before = changeable(store, id, "edit it there");
  const spec = await change(before.spec);
  const isSameTime = WHEN.every((key) => spec[key] === before.spec[key]);
  if (isSameTime) {
    store.put({ ...before, spec });
    return before.nextAt;
  }
  const nextAt = await firstRun(spec, now, "cli");
  const { nextAt: _, ...rest } = before;
  store.put({ ...rest, spec, createdAt: now, ...(spec.enabled && { nextAt }) });
  return spec.enabled ? nextAt : undefined;
}

export function pauseSchedule(store: ScheduleStore, id: string): void {
  const { nextAt: _, ...schedule } = changeable(store, id);
  store.put({ ...schedule, spec: { ...schedule.spec, enabled: false } });
}

/** Resumes a paused schedule. Returns its next due time in milliseconds since the epoch. */
export async function resumeSchedule(store: ScheduleStore, id: string, now: number): Promise<number> {
  const schedule = changeable(store, id);
  const nextAt = await dueAfter(schedule.spec, schedule.createdAt, now);
  if (nextAt === undefined) throw new StewardError("schedule_invalid", "it is never due");
  store.put({ ...schedule, spec: { ...schedule.spec, enabled: true }, nextAt });
  return nextAt;
}

/** Runs a schedule once now, without changing its times. A one-time schedule is removed after the run. */
export function runSchedule(store: ScheduleStore, id: string, now: number): void {
  if (store.get(id) === undefined) throw unknownSchedule(id);
  if (!store.runNow(id, now))
    throw new StewardError("schedule_invalid", `the previous run of ${id} has not ended`);
}

/** Returns the removed rows, so that the removal can be undone. */
export function removeSchedule(store: ScheduleStore, id: string): RemovedSchedule {
  if (store.get(id)?.source === "config") {
    throw new StewardError("schedule_invalid", `${id} is in the config file: remove it there`);
  }
  const removed = store.remove(id);
  if (removed === undefined) throw unknownSchedule(id);
  return removed;
}

function unknownSchedule(id: string): StewardError {
  return new StewardError("schedule_unknown", `No schedule has the id ${id}.`);
}

/**
 * Returns the time of a new schedule's first run, in milliseconds since the epoch.
 *
 * @throws StewardError `schedule_invalid` with a description of the problem.
 */
export async function firstRun(
  schedule: When,
  now: number,
  source: Exclude<ScheduleSource, "config">,
): Promise<number> {
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
  return (await dueAfter(schedule, now, now)) ?? refuse("it is never due");
}

async function shortestPause(schedule: When, now: number): Promise<number> {
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
