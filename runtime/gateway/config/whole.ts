import type { ConfigReading } from "../../contract/config/text.ts";
import { checkSchedules } from "../schedules/check.ts";

/**
 * A config that was read, checked further for what the schema cannot tell: whether cron expressions are
 * some. The gateway and the command line check alike, so that what the one calls valid starts the other.
 */
export async function wholeReading(reading: ConfigReading): Promise<ConfigReading> {
  if (!reading.result.ok) return reading;
  const problems = await checkSchedules(reading.result.config);
  return problems.length === 0 ? reading : { ...reading, result: { ok: false, problems } };
}
