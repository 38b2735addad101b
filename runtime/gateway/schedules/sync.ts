import type { Config } from "../../contract/config/index.ts";
import type { Schedule } from "../../contract/config/schedules.ts";
import type { Log } from "../../contract/log.ts";
import type { ScheduleStore } from "./store.ts";
import { dueAfter } from "./times.ts";
import { wantedSchedules } from "./wanted.ts";

/** A time in the config that passed no longer ago than this is run for: a deployment takes a while. */
const JUST_NOW_MS = 10 * 60_000;

/** What {@link syncSchedules} works with. */
export interface SyncOptions {
  store: ScheduleStore;
  config: Pick<Config, "schedules" | "agent">;
  now: number;
  log: Log;
}

/**
 * Makes the stored schedules of the config those that the config names now. One that did not change
 * keeps its times, so that a restart neither moves nor repeats it.
 */
export async function syncSchedules({ store, config, now, log }: SyncOptions): Promise<void> {
  const wanted = wantedSchedules(config);
  const stored = store.list().filter(({ source }) => source === "config");
  for (const { id } of stored) if (!wanted.has(id)) store.remove(id);
  for (const [id, spec] of wanted) {
    const before = stored.find((one) => one.id === id);
    if (before !== undefined && JSON.stringify(before.spec) === JSON.stringify(spec)) continue;
    const nextAt = await firstTime(spec, now);
    if (nextAt === undefined && spec.enabled) log.warn("a schedule of the config is past", { id });
    store.put({ id, source: "config", spec, createdAt: now, ...(nextAt !== undefined && { nextAt }) });
  }
}

async function firstTime(spec: Schedule, now: number): Promise<number | undefined> {
  if (!spec.enabled) return undefined;
  return dueAfter(spec, now, spec.at === undefined ? now : now - JUST_NOW_MS);
}
