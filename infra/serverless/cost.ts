import { parseDuration } from "../../runtime/contract/duration.ts";
import { type Duty, formatSpan } from "../../runtime/contract/duty.ts";
import type { InstanceType } from "./container-api.ts";

/**
 * Cloudflare's prices, in US dollars, as read on 2026-11-20 at
 * https://developers.cloudflare.com/containers/pricing/ and
 * https://developers.cloudflare.com/workers/platform/pricing/. A change of a price is a change of this file.
 */
const PRICES = {
  /** The Workers Paid plan, which containers need, for a month. */
  plan: 5,
  /** Memory and disk of the instance type, for as long as the container runs. */
  memoryGiBSecond: 0.000_002_5,
  diskGBSecond: 0.000_000_07,
  /** The CPU time that is used. */
  vcpuSecond: 0.000_02,
  /** The Durable Object that owns the container, in memory while the container runs. */
  objectGBSecond: 12.5 / 1_000_000,
} as const;

/** Allowances of the plan, every month. */
const ALLOWANCES = {
  memoryGiBSeconds: 25 * 3_600,
  diskGBSeconds: 200 * 3_600,
  vcpuSeconds: 375 * 60,
  objectGBSeconds: 400_000,
} as const;

/** Sizes of the instance types: https://developers.cloudflare.com/containers/platform/limits/ */
export const INSTANCES: Readonly<Record<InstanceType, { vcpu: number; memoryGiB: number; diskGB: number }>> =
  {
    lite: { vcpu: 1 / 16, memoryGiB: 0.25, diskGB: 2 },
    basic: { vcpu: 1 / 4, memoryGiB: 1, diskGB: 4 },
    "standard-1": { vcpu: 1 / 2, memoryGiB: 4, diskGB: 8 },
    "standard-2": { vcpu: 1, memoryGiB: 6, diskGB: 12 },
    "standard-3": { vcpu: 2, memoryGiB: 8, diskGB: 16 },
    "standard-4": { vcpu: 4, memoryGiB: 12, diskGB: 20 },
  };

/** Memory that every Durable Object is billed for: https://developers.cloudflare.com/durable-objects/platform/pricing/ */
const OBJECT_GB = 0.128;

/** Factors of a serverless stack's price. */
export interface CostInputs {
  instanceType: InstanceType;
  /** `never` or a duration. */
  sleepAfter: string;
  /** Containers that may run at a time, if each chat has its own. Default: one container serves all chats. */
  maxSandboxes?: number | undefined;
  /** Hours a day that all containers together are expected to run, 0 to 24. Default: what `USE` comes to for one. */
  awakeHours?: number | undefined;
  /** Measurements count more than what is expected. */
  measured?: MeasuredDuty | undefined;
}

/** Time for which a deployed container was awake, or all of them. */
export interface MeasuredDuty extends Duty {
  /** Containers that were measured, if each chat has its own. */
  containers?: number;
  /** The wait before its sleep meanwhile; `null` for `never`. */
  sleepAfterMs: number | null;
}

/** Assumed use unless configured: so many conversations a day, each so long. */
const USE = { conversations: 8, hoursEach: 5 / 60 };
/** The part of its CPU that the gateway uses while it runs: it waits for the model most of the time. */
const CPU_SHARE = 0.05;
const DAYS = 365 / 12;
const HOUR_MS = 3_600_000;
/** By how much of it an amount moves unnoticed. */
const NOTICED = 0.1;

/**
 * Hours a day that the container runs: a conversation, then the while until it sleeps. What was measured with
 * another while is reckoned over, as if every run ended that much later or sooner.
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
 * Returns the measurement, unless it tells nothing of these settings: if only one of the two never sleeps, or if only one
 * of the two has a container for each chat.
 */
function usableMeasure({ sleepAfter, maxSandboxes, measured }: CostInputs): MeasuredDuty | undefined {
  if ((maxSandboxes === undefined) !== (measured?.containers === undefined)) return undefined;
  const isNever = parseDuration(sleepAfter) === Number.POSITIVE_INFINITY;
  return isNever === (measured?.sleepAfterMs === null) ? measured : undefined;
}

/**
 * Returns what a month costs, in US dollars and whole cents, with the plan and after its allowances. Left out, since cents at most
 * come of them: requests, the bucket, what goes out over the network.
 */
export function monthlyCost(inputs: CostInputs): number {
  const seconds = awakeHoursOf(inputs) * DAYS * 3_600;
  const cost = chargesOf(inputs).reduce(
    (sum, { amount, allowance, price }) => sum + beyond(amount * seconds, allowance) * price,
    PRICES.plan as number,
  );
  return Math.round(cost * 100) / 100;
}

/** Returns the monthly cost of a container beyond the plan's allowances, in US dollars, rounded to cents. */
export function containerCost(inputs: Pick<CostInputs, "instanceType">, awakeHours: number): number {
  const second = chargesOf(inputs).reduce((sum, { amount, price }) => sum + amount * price, 0);
  return Math.round(second * awakeHours * DAYS * 3_600 * 100) / 100;
}

/** Returns a running container's use per second, with the allowance and the price of each unit. */
function chargesOf({ instanceType }: Pick<CostInputs, "instanceType">) {
  const { vcpu, memoryGiB, diskGB } = INSTANCES[instanceType];
  return [
    { amount: memoryGiB, allowance: ALLOWANCES.memoryGiBSeconds, price: PRICES.memoryGiBSecond },
    { amount: diskGB, allowance: ALLOWANCES.diskGBSeconds, price: PRICES.diskGBSecond },
    { amount: vcpu * CPU_SHARE, allowance: ALLOWANCES.vcpuSeconds, price: PRICES.vcpuSecond },
    { amount: OBJECT_GB, allowance: ALLOWANCES.objectGBSeconds, price: PRICES.objectGBSecond },
  ];
}

/** True if nothing tells how long the chats' containers are awake, so that a month's cost cannot be estimated. */
export function isUnknown(inputs: CostInputs): boolean {
  const { maxSandboxes, awakeHours, sleepAfter } = inputs;
  if (maxSandboxes === undefined || usableMeasure(inputs) !== undefined) return false;
  return awakeHours === undefined || parseDuration(sleepAfter) === Number.POSITIVE_INFINITY;
}

/** The estimate for people, and what it changes of the one that is deployed. */
export function costLine(inputs: CostInputs, deployed?: CostInputs): string {
  if (isUnknown(inputs)) return hourlyLine(inputs);
  const cost = monthlyCost(inputs);
  const line = `Estimated cost: about ${formatDollars(cost)} a month (${describe(inputs)})`;
  if (deployed === undefined || isUnknown(deployed)) return line;
  const difference = cost - monthlyCost(deployed);
  if (difference === 0) return `${line}, as deployed`;
  const sign = difference > 0 ? "+" : "-";
  const change = `${sign}${formatDollars(Math.abs(difference))} a month`;
  return `${line}, ${change} to what is deployed (${describe(deployed)})`;
}

function hourlyLine(inputs: CostInputs): string {
  const { instanceType, sleepAfter, maxSandboxes } = inputs;
  const second = chargesOf(inputs).reduce((sum, { amount, price }) => sum + amount * price, 0);
  const hour = `about $${(second * 3_600).toPrecision(2)} an hour for each container that is awake`;
  const settings = `${instanceType}, sleepAfter ${sleepAfter}, at most ${maxSandboxes} at a time`;
  return `Estimated cost: ${formatDollars(PRICES.plan)} a month and, beyond the plan's allowances, ${hour} (${settings})`;
}

/** Tells whether what was measured since changes the amount so little that the estimate may stay as it is. */
export function isNegligibleChange(inputs: CostInputs, before: MeasuredDuty): boolean {
  if ((before.containers === undefined) !== (inputs.measured?.containers === undefined)) return false;
  const cost = monthlyCost({ ...inputs, measured: before });
  return Math.abs(monthlyCost(inputs) - cost) <= NOTICED * cost;
}

/** An amount for people. */
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

/** Returns what the hours come of. */
function basis(inputs: CostInputs): string {
  const sleepAfterMs = parseDuration(inputs.sleepAfter);
  const measured = usableMeasure(inputs);
  if (measured === undefined) return sleepAfterMs === Number.POSITIVE_INFINITY ? "" : " as expected";
  const over = formatSpan(measured.measuredHours);
  if ((measured.sleepAfterMs ?? Number.POSITIVE_INFINITY) === sleepAfterMs) return ` as ${over}`;
  return `, reckoned from ${hours(measured.awakeHours)} h ${over}`;
}

function hours(value: number): number {
  return Math.round(value * 10) / 10;
}

function beyond(used: number, included: number): number {
  return Math.max(0, used - included);
}
