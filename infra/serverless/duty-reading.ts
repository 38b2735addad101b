import {
  DUTY_KEY,
  type DutyRecord,
  dutyOf,
  dutyRecord,
  SHORTEST_DUTY_HOURS,
} from "../../runtime/contract/duty.ts";
import { AGENT } from "../../runtime/contract/names.ts";
import { isTenantId, stateKeys } from "../../runtime/contract/tenant.ts";
import { parseJson } from "../../runtime/shared/json.ts";
import { type AccountAccess, AccountError, listInAccount, textInAccount, unlessGone } from "./account-api.ts";
import type { MeasuredDuty } from "./cost.ts";

/** Measurements of a deployed stack. */
export interface DutyReading {
  measured?: MeasuredDuty;
  /** Why there is nothing. */
  unmeasured?: string;
}

/** Place of the records. */
interface DutyPlace extends AccountAccess {
  bucketName: string;
  /** Each chat has a container and a record of its own. Default: one container serves all chats. */
  isPerChat?: boolean;
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Bounds of what a preview reads of the chats' records. An account accepts 1,200 requests in five minutes.
 */
const MOST_LISTED = 3_000;
const MOST_READ = 100;
const PARALLEL = 8;

const NOTHING = "nothing has run yet";

/**
 * Reads how long the deployed containers are awake from the stack's bucket, for which the API token has its
 * permission already. An estimate has another figure to go by, so nothing here is a failure.
 */
export async function readDuty(place: DutyPlace): Promise<DutyReading> {
  try {
    return await (place.isPerChat === true ? readOfChats(place) : readOfAll(place));
  } catch (error) {
    if (error instanceof AccountError && error.status > 0) {
      return { unmeasured: `Cloudflare answered ${error.status}` };
    }
    return { unmeasured: error instanceof Error ? error.message : String(error) };
  }
}

async function readOfAll(place: DutyPlace): Promise<DutyReading> {
  const text = await readObject(place, DUTY_KEY);
  if (text === undefined) return { unmeasured: NOTHING };
  const record = recordIn(text);
  if (record === undefined)
    return { unmeasured: `${DUTY_KEY} in the bucket is none that this version reads` };
  return readingOf([record], place);
}

async function readOfChats(place: DutyPlace): Promise<DutyReading> {
  const keys = await dutyKeys(place);
  if (keys === undefined) return { unmeasured: "there are more chats than a preview reads" };
  const records: DutyRecord[] = [];
  const work = async (): Promise<void> => {
    for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
      const record = recordIn((await readObject(place, key)) ?? "");
      if (record !== undefined) records.push(record);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return readingOf(records, place);
}

/** Returns the keys of the chats' records; `undefined` if there are more than a preview reads. */
async function dutyKeys(place: DutyPlace): Promise<string[] | undefined> {
  const keys: string[] = [];
  const query = { prefix: `${AGENT}/tenants/`, per_page: "1000" };
  let listed = 0;
  for await (const { key = "" } of listInAccount<{ key?: string }>(place, objectsIn(place), query)) {
    listed += 1;
    const [, , tenant = ""] = key.split("/");
    if (isTenantId(tenant) && key === stateKeys(tenant).duty) keys.push(key);
    if (listed > MOST_LISTED || keys.length > MOST_READ) return undefined;
  }
  return keys;
}

function objectsIn({ bucketName }: DutyPlace): string {
  return `r2/buckets/${bucketName}/objects`;
}

function readObject(place: DutyPlace, key: string): Promise<string | undefined> {
  return textInAccount(place, `${objectsIn(place)}/${key}`, { attempts: 1 }).catch(unlessGone);
}

function recordIn(text: string): DutyRecord | undefined {
  return dutyRecord.safeParse(parseJson(text)).data;
}

/** Adds up the records of containers that have the newest record's wait before sleep. */
function readingOf(records: readonly DutyRecord[], { now, isPerChat }: DutyPlace): DutyReading {
  const newest = records.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))[0];
  if (newest === undefined) return { unmeasured: NOTHING };
  const { sleepAfterMs } = newest;
  const all = records.filter((one) => one.sleepAfterMs === sleepAfterMs).map((one) => dutyOf(one, now));
  const longest = Math.floor(Math.max(...all.map(({ measuredHours }) => measuredHours)));
  if (longest < SHORTEST_DUTY_HOURS) {
    return { unmeasured: `it takes ${SHORTEST_DUTY_HOURS} hours, and there are ${longest}` };
  }
  const used = all.filter(({ measuredHours }) => measuredHours >= SHORTEST_DUTY_HOURS);
  const sum = (values: number[]): number => Math.round(values.reduce((a, b) => a + b, 0) * 100) / 100;
  return {
    measured: {
      measuredHours: longest,
      awakeHours: sum(used.map(({ awakeHours }) => awakeHours)),
      startsADay: sum(used.map(({ startsADay }) => startsADay)),
      sleepAfterMs,
      ...(isPerChat === true && { containers: used.length }),
    },
  };
}
