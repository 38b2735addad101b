import { parseDuration } from "../../runtime/contract/duration.ts";
import { type Duty, formatSpan } from "../../runtime/contract/duty.ts";
import type { InstanceType } from "./container-api.ts";

/**
 * Cloudflare's prices in US dollars, read on 2026-11-20 from https://developers.cloudflare.com/containers/pricing/ and
 * https://developers.cloudflare.com/workers/platform/pricing/.
 */
const PRICES = {
  /** Monthly fee of the Workers Paid plan, which containers require. */
  plan: 5,
  /** Billed while the container runs. */
  memoryGiBSecond: 0.000_002_5,
  diskGBSecond: 0.000_000_07,
  /** CPU time actually used. */
  vcpuSecond: 0.000_02,
  /** Price of the container's Durable Object while the container runs. */
  objectGBSecond: 12.5 / 1_000_000,
} as const;

/** Per month. */
const ALLOWANCES = {
  memoryGiBSeconds: 25 * 3_600,
  diskGBSeconds: 200 * 3_600,
  vcpuSeconds: 375 * 60,
  objectGBSeconds: 400_000,
} as const;

/** https://developers.cloudflare.com/containers/platform/limits/ */
export const INSTANCES: Readonly<Record<InstanceType, { vcpu: number; memoryGiB: number; diskGB: number }>> =
  {
    lite: { vcpu: 1 / 16, memoryGiB: 0.25, diskGB: 2 },
    basic: { vcpu: 1 / 4, memoryGiB: 1, diskGB: 4 },
    "standard-1": { vcpu: 1 / 2, memoryGiB: 4, diskGB: 8 },
    "standard-2": { vcpu: 1, memoryGiB: 6, diskGB: 12 },
    "standard-3": { vcpu: 2, memoryGiB: 8, diskGB: 16 },
    "standard-4": { vcpu: 4, memoryGiB: 12, diskGB: 20 },
  };

/** Memory of every Durable Object: https://developers.cloudflare.com/durable-objects/platform/pricing/ */
const OBJECT_GB = 0.128;

export interface CostInputs {
  instanceType: InstanceType;
  /** `never` or a duration. */
  sleepAfter: string;
  /** Maximum number of containers that run at the same time. Absent if one container serves all chats. */
  maxSandboxes?: number | undefined;
  /**
   * Expected total running time of all containers, in hours a day. If omitted and one container serves all chats, the
   * running time is estimated from `sleepAfter`.
   */
  awakeHours?: number | undefined;
  /** Overrides `awakeHours`. */
  measured?: MeasuredDuty | undefined;
}

/** Measured running time of the container, or of all containers together if each chat has its own. */
export interface MeasuredDuty extends Duty {
  /** Number of containers whose running time was measured; absent if one container serves all chats. */
  containers?: number;
  /** `sleepAfter` during the measurement; `null` for `never`. */
  sleepAfterMs: number | null;
}

/** Assumed number of conversations per day, and length of a conversation in hours. */
const USE = { conversations: 8, hoursEach: 5 / 60 };
/** Fraction of its CPU that the gateway uses while it runs. */
const CPU_SHARE = 0.05;
const DAYS = 365 / 12;
const HOUR_MS = 3_600_000;
/** Smallest relative change that is reported. */
const NOTICED = 0.1;

/**
 * Returns the total hours per day that the containers run, measured or estimated. If `sleepAfter` has changed since
 * the measurement, adjusts the length of each measured run by the difference.
 */
function awakeHoursOf(inputs: CostInputs): number {
  const sleepHours = (parseDuration(inputs.sleepAfter) ?? 0) / HOUR_MS;
  const measured = usableMeasure(inputs);
  const most = 24 * (inputs.maxSandboxes ?? 1);
  if (measured?.sleepAfterMs === null) return Math.min(most, measured.awakeHours);
  if (sleepHours === Number.POSITIVE_INFINITY) return 24;
  if (measured !== undefined) {
    const longer = sleepHours - measured.sleepAfterMs / HOUR_MS;
    return Math.min(most, Math.max(0, measured.awakeHours + measured.startsADay * longer));
  }
  return inputs.awakeHours ?? Math.min(24, USE.conversations * (USE.hoursEach + sleepHours));
}

/**
 * Returns the measurement; `undefined` if `sleepAfter` has since changed to or from `never`, or if `maxSandboxes` has
 * been added or removed.
 */
function usableMeasure({ sleepAfter, maxSandboxes, measured }: CostInputs): MeasuredDuty | undefined {
  if ((maxSandboxes === undefined) !== (measured?.containers === undefined)) return undefined;
  const isNever = parseDuration(sleepAfter) === Number.POSITIVE_INFINITY;
  return isNever === (measured?.sleepAfterMs === null) ? measured : undefined;
}

/**
 * Returns the monthly cost in US dollars: the plan's fee plus usage beyond its allowances. Ignores requests, storage
 * and network traffic, which cost at most cents.
 */
export function monthlyCost(inputs: CostInputs): number {
  const seconds = awakeHoursOf(inputs) * DAYS * 3_600;
  const cost = chargesOf(inputs).reduce(
    (sum, { amount, allowance, price }) => sum + beyond(amount * seconds, allowance) * price,
    PRICES.plan as number,
  );
  return Math.round(cost * 100) / 100;
}

/** Returns a container's monthly cost in US dollars, rounded to cents, before deducting the plan's allowances. */
export function containerCost(inputs: Pick<CostInputs, "instanceType">, awakeHours: number): number {
  const second = chargesOf(inputs).reduce((sum, { amount, price }) => sum + amount * price, 0);
  return Math.round(second * awakeHours * DAYS * 3_600 * 100) / 100;
}

/** Returns the usage per second, the allowance and the price of each resource that a running container uses. */
function chargesOf({ instanceType }: Pick<CostInputs, "instanceType">) {
  const { vcpu, memoryGiB, diskGB } = INSTANCES[instanceType];
  return [
    { amount: memoryGiB, allowance: ALLOWANCES.memoryGiBSeconds, price: PRICES.memoryGiBSecond },
    { amount: diskGB, allowance: ALLOWANCES.diskGBSeconds, price: PRICES.diskGBSecond },
    { amount: vcpu * CPU_SHARE, allowance: ALLOWANCES.vcpuSeconds, price: PRICES.vcpuSecond },
    { amount: OBJECT_GB, allowance: ALLOWANCES.objectGBSeconds, price: PRICES.objectGBSecond },
  ];
}

/** Returns true if the running time is unknown, so no monthly cost can be estimated. */
export function isUnknown(inputs: CostInputs): boolean {
  const { maxSandboxes, awakeHours, sleepAfter } = inputs;
  if (maxSandboxes === undefined || usableMeasure(inputs) !== undefined) return false;
  return awakeHours === undefined || parseDuration(sleepAfter) === Number.POSITIVE_INFINITY;
}

/** Returns the cost estimate as text, with the difference from the deployed stack's estimate if it is known. */
export function costLine(inputs: CostInputs, deployed?: CostInputs): string {
  if (isUnknown(inputs)) return hourlyLine(inputs);
  const cost = monthlyCost(inputs);
  const line = `Estimated cost: about ${formatDollars(cost)} a month (${describe(inputs)})`;
  if (deployed === undefined || isUnknown(deployed)) return line;
  const difference = cost - monthlyCost(deployed);
  if (difference === 0) return `${line}, as deployed`;
  const sign = difference > 0 ? "+" : "-";
  const change = `${sign}${formatDollars(Math.abs(difference))} a month`;
  return `${line}, ${change} compared with the deployed stack (${describe(deployed)})`;
}

function hourlyLine(inputs: CostInputs): string {
  const { instanceType, sleepAfter, maxSandboxes } = inputs;
  const second = chargesOf(inputs).reduce((sum, { amount, price }) => sum + amount * price, 0);
  const hour = `about $${(second * 3_600).toPrecision(2)} an hour for each container that is awake`;
  const settings = `${instanceType}, sleepAfter ${sleepAfter}, at most ${maxSandboxes} at a time`;
  return `Estimated cost: ${formatDollars(PRICES.plan)} a month and, beyond the plan's allowances, ${hour} (${settings})`;
}

/** Returns true if newer measurements barely change the cost. */
export function isNegligibleChange(inputs: CostInputs, before: MeasuredDuty): boolean {
  if ((before.containers === undefined) !== (inputs.measured?.containers === undefined)) return false;
  const cost = monthlyCost({ ...inputs, measured: before });
  return Math.abs(monthlyCost(inputs) - cost) <= NOTICED * cost;
}

export function formatDollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

function describe(inputs: CostInputs): string {
  const { instanceType, sleepAfter, maxSandboxes } = inputs;
  const { containers } = usableMeasure(inputs) ?? {};
  const who =
    containers === undefined ? "" : `${containers} ${containers === 1 ? "container" : "containers"} `;
  const inAll = maxSandboxes === undefined ? "" : " in all";
  const awake = `${who}awake ${hours(awakeHoursOf(inputs))} h a day${inAll}`;
  return `${instanceType}, sleepAfter ${sleepAfter}, ${awake}${basis(inputs)}`;
}

function basis(inputs: CostInputs): string {
  const sleepAfterMs = parseDuration(inputs.sleepAfter);
  const measured = usableMeasure(inputs);
  if (measured === undefined) return sleepAfterMs === Number.POSITIVE_INFINITY ? "" : " as expected";
  const over = formatSpan(measured.measuredHours);
  if ((measured.sleepAfterMs ?? Number.POSITIVE_INFINITY) === sleepAfterMs) return ` as ${over}`;
  return `, adjusted from ${hours(measured.awakeHours)} h ${over}`;
}

function hours(value: number): number {
  return Math.round(value * 10) / 10;
}

function beyond(used: number, included: number): number {
  return Math.max(0, used - included);
}
