import type { Config } from "../../contract/config/index.ts";
import { sendsTo } from "../../contract/tenant.ts";
import { schedule as scheduleSchema, type Schedule } from "../../contract/config/schedules.ts";

/** The heartbeat is a schedule of its own. Its id is none that a name in the config can make. */
export const HEARTBEAT_ID = "heartbeat";

/** Answer of the agent to the heartbeat where it has nothing to say. It is not sent. */
export const HEARTBEAT_OK = "HEARTBEAT_OK";

const HEARTBEAT_PROMPT = `If something needs attention, say it; else answer exactly ${HEARTBEAT_OK}`;

/**
 * Returns the schedules of a config by their ids, including those that are switched off.
 *
 * @param serves Value of TENANT_VARIABLE: schedules for other chats belong to other containers.
 */
export function configSchedules(
  { schedules, agent: { heartbeat } }: Pick<Config, "schedules" | "agent">,
  serves?: string,
): Map<string, Schedule> {
  const wanted = new Map<string, Schedule>();
  for (const [name, schedule] of Object.entries(schedules))
    if (sendsTo(serves, schedule.to)) wanted.set(`config:${name}`, schedule);
  if (heartbeat !== undefined && sendsTo(serves, heartbeat.to)) {
    const { every, to, prompt = HEARTBEAT_PROMPT, sendElsewhere } = heartbeat;
    // In the schema's own order, as a stored one is read: else every start would take it for changed.
    wanted.set(HEARTBEAT_ID, scheduleSchema.parse({ every, to, prompt, sendElsewhere }));
  }
  return wanted;
}

/** Returns what people call a schedule: its name in the config, else its id. */
export function scheduleName(id: string): string {
  return id.replace(/^config:/, "");
}
