import type { Config } from "../../contract/config/index.ts";
import { sendsTo } from "../../contract/tenant.ts";
import { schedule as scheduleSchema, type Schedule } from "../../contract/config/schedules.ts";

/** Id of the heartbeat. The config's other schedules have ids that begin with `config:`. */
export const HEARTBEAT_ID = "heartbeat";

/** Answer with which the model reports that nothing needs attention. It is not sent. */
export const HEARTBEAT_OK = "HEARTBEAT_OK";

const HEARTBEAT_PROMPT = `If something needs attention, say it; else answer exactly ${HEARTBEAT_OK}`;

/**
 * Returns the config's schedules by id, including disabled ones.
 *
 * @param serves Value of TENANT_VARIABLE. If it names a chat, schedules for other chats are omitted.
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
    // Parsing puts the keys in the same order as in the store. Otherwise, every start would see a change.
    wanted.set(HEARTBEAT_ID, scheduleSchema.parse({ every, to, prompt, sendElsewhere }));
  }
  return wanted;
}

/** Returns a schedule's name in the config: the id without the prefix `config:`. Returns any other id unchanged. */
export function scheduleName(id: string): string {
  return id.replace(/^config:/, "");
}
