import { parseJson } from "../../runtime/shared/json.ts";
import { DUTY_KEY, dutyOf, dutyRecord, SHORTEST_DUTY_HOURS } from "../../runtime/contract/duty.ts";
import { type AccountAccess, AccountError, textInAccount, unlessGone } from "./account-api.ts";
import type { MeasuredDuty } from "./cost.ts";

/** Measurements of a deployed stack. */
export interface DutyReading {
  measured?: MeasuredDuty;
  /** Why there is nothing. */
  unmeasured?: string;
}

/** Place of the record. */
export interface DutyPlace extends AccountAccess {
  bucketName: string;
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Reads how long the deployed container is awake from the stack's bucket, for which the API token has its
 * permission already. An estimate has another figure to go by, so nothing here is a failure.
 */
export async function readDuty({ bucketName, now, ...access }: DutyPlace): Promise<DutyReading> {
  try {
    const path = `r2/buckets/${bucketName}/objects/${DUTY_KEY}`;
    const text = await textInAccount(access, path, { attempts: 1 }).catch(unlessGone);
    return text === undefined ? { unmeasured: "nothing has run yet" } : measuredIn(text, now);
  } catch (error) {
    if (error instanceof AccountError && error.status > 0) {
      return { unmeasured: `Cloudflare answered ${error.status}` };
    }
    return { unmeasured: error instanceof Error ? error.message : String(error) };
  }
}

function measuredIn(text: string, now: number): DutyReading {
  const read = dutyRecord.safeParse(parseJson(text));
  if (!read.success) return { unmeasured: `${DUTY_KEY} in the bucket is none that this version reads` };
  const { sleepAfterMs } = read.data;
  const { measuredHours, awakeHours, startsADay } = dutyOf(read.data, now);
  if (measuredHours < SHORTEST_DUTY_HOURS) {
    const hours = Math.floor(measuredHours);
    return { unmeasured: `it takes ${SHORTEST_DUTY_HOURS} hours, and there are ${hours}` };
  }
  return {
    measured: {
      measuredHours: Math.floor(measuredHours),
      awakeHours: twoDecimals(awakeHours),
      startsADay: twoDecimals(startsADay),
      sleepAfterMs,
    },
  };
}

function twoDecimals(value: number): number {
  return Math.round(value * 100) / 100;
}
