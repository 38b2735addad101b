import {
  DUTY_KEY,
  type DutyRecord,
  dutyOf,
  dutyRecord,
  SHORTEST_DUTY_HOURS,
} from "../../runtime/contract/duty.ts";
import { AGENT } from "../../runtime/contract/names.ts";
import { isTenantId, stateKeys, type TenantId } from "../../runtime/contract/tenant.ts";
import { parseJson } from "../../runtime/shared/json.ts";
import {
  type AccountAccess,
  AccountError,
  listInAccount,
  textInAccount,
  ignoreNotFound,
} from "./account-api.ts";
import type { MeasuredDuty } from "./cost.ts";

export interface DutyReading {
  measured?: MeasuredDuty;
  /**
   * Hours per day that each chat's container is awake. Absent if all chats share one container or nothing was
   * measured.
   */
  chats?: { tenant: TenantId; awakeHours: number }[];
  /** Set if there is no measurement. */
  unmeasured?: string;
}

interface DutyPlace extends AccountAccess {
  bucketName: string;
  /** True if each chat has its own container and usage record. Default: false. */
  isPerChat?: boolean;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Maximum number of object keys to list, at 1,000 per API request. */
const MAX_LISTED = 3_000;
/** Maximum number of usage records to read, one per API request. The API allows 1,200 requests in five minutes. */
const MAX_READ = 100;
const PARALLEL = 8;

const NOTHING = "nothing has run yet";

/**
 * Reads the containers' measured running time from the stack's bucket. Never throws, because the cost can also be
 * estimated without a measurement.
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
    return { unmeasured: `${DUTY_KEY} in the bucket has a format that this version cannot read` };
  return readingOf([{ tenant: AGENT, record }], place);
}

async function readOfChats(place: DutyPlace): Promise<DutyReading> {
  const tenants = await measuredTenants(place);
  if (tenants === undefined) return { unmeasured: "there are too many chats for a preview to read" };
  const records: ChatRecord[] = [];
  const work = async (): Promise<void> => {
    for (let tenant = tenants.pop(); tenant !== undefined; tenant = tenants.pop()) {
      const record = recordIn((await readObject(place, stateKeys(tenant).duty)) ?? "");
      if (record !== undefined) records.push({ tenant, record });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return readingOf(records, place);
}

interface ChatRecord {
  tenant: TenantId;
  record: DutyRecord;
}

/** Returns the chats that have a usage record; `undefined` if there are too many to read in a preview. */
async function measuredTenants(place: DutyPlace): Promise<TenantId[] | undefined> {
  const tenants: TenantId[] = [];
  const query = { prefix: `${AGENT}/tenants/`, per_page: "1000" };
  let listed = 0;
  for await (const { key = "" } of listInAccount<{ key?: string }>(place, objectsIn(place), query)) {
    listed += 1;
    const [, , tenant = ""] = key.split("/");
    if (isTenantId(tenant) && key === stateKeys(tenant).duty) tenants.push(tenant);
    if (listed > MAX_LISTED || tenants.length > MAX_READ) return undefined;
  }
  return tenants;
}

function objectsIn({ bucketName }: DutyPlace): string {
  return `r2/buckets/${bucketName}/objects`;
}

function readObject(place: DutyPlace, key: string): Promise<string | undefined> {
  return textInAccount(place, `${objectsIn(place)}/${key}`, { attempts: 1 }).catch(ignoreNotFound);
}

function recordIn(text: string): DutyRecord | undefined {
  return dutyRecord.safeParse(parseJson(text)).data;
}

/** Adds up the containers' running time. Ignores records whose `sleepAfter` differs from the newest record's. */
function readingOf(records: readonly ChatRecord[], { now, isPerChat }: DutyPlace): DutyReading {
  const newest = records.toSorted((a, b) => Date.parse(b.record.at) - Date.parse(a.record.at))[0];
  if (newest === undefined) return { unmeasured: NOTHING };
  const { sleepAfterMs } = newest.record;
  const all = records
    .filter(({ record }) => record.sleepAfterMs === sleepAfterMs)
    .map(({ tenant, record }) => ({ tenant, duty: dutyOf(record, now) }));
  const longest = Math.floor(Math.max(...all.map(({ duty }) => duty.measuredHours)));
  if (longest < SHORTEST_DUTY_HOURS) {
    return {
      unmeasured: `${SHORTEST_DUTY_HOURS} hours of measurements are needed, and there are ${longest}`,
    };
  }
  const used = all.filter(({ duty }) => duty.measuredHours >= SHORTEST_DUTY_HOURS);
  const sum = (values: number[]): number => Math.round(values.reduce((a, b) => a + b, 0) * 100) / 100;
  return {
    measured: {
      measuredHours: longest,
      awakeHours: sum(used.map(({ duty }) => duty.awakeHours)),
      startsADay: sum(used.map(({ duty }) => duty.startsADay)),
      sleepAfterMs,
      ...(isPerChat === true && { containers: used.length }),
    },
    ...(isPerChat === true && {
      chats: used.map(({ tenant, duty: { awakeHours } }) => ({ tenant, awakeHours })),
    }),
  };
}
