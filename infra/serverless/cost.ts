import { parseDuration } from "../../runtime/contract/duration.ts";
import type { InstanceType } from "./container-api.ts";
import { ALLOWANCES, INSTANCES, OBJECT_GB, PRICES } from "./prices.ts";

/** What the price of a serverless stack depends on. */
export interface CostInputs {
  instanceType: InstanceType;
  /** `never` or a duration. */
  sleepAfter: string;
  /** Hours a day that the container runs, 0 to 24. Default: what `USE` comes to. */
  awakeHours?: number | undefined;
}

/** What is assumed of the use where nobody says more: so many conversations a day, each so long. */
const USE = { conversations: 8, hoursEach: 5 / 60 };
/** The part of its CPU that the gateway uses while it runs: it waits for the model most of the time. */
const CPU_SHARE = 0.05;
const DAYS = 365 / 12;

/** Hours a day that the container runs: a conversation, then the while until it sleeps. */
export function awakeHoursOf({ sleepAfter, awakeHours }: CostInputs): number {
  const sleepHours = (parseDuration(sleepAfter) ?? 0) / 3_600_000;
  if (sleepHours === Number.POSITIVE_INFINITY) return 24;
  return awakeHours ?? Math.min(24, USE.conversations * (USE.hoursEach + sleepHours));
}

/**
 * What a month costs, in US dollars and whole cents, with the plan and after its allowances. Left out, since cents at most
 * come of them: requests, the bucket, what goes out over the network.
 */
export function monthlyCost(inputs: CostInputs): number {
  const seconds = awakeHoursOf(inputs) * DAYS * 3_600;
  const { vcpu, memoryGiB, diskGB } = INSTANCES[inputs.instanceType];
  const cost =
    PRICES.plan +
    beyond(memoryGiB * seconds, ALLOWANCES.memoryGiBSeconds) * PRICES.memoryGiBSecond +
    beyond(diskGB * seconds, ALLOWANCES.diskGBSeconds) * PRICES.diskGBSecond +
    beyond(vcpu * CPU_SHARE * seconds, ALLOWANCES.vcpuSeconds) * PRICES.vcpuSecond +
    beyond(OBJECT_GB * seconds, ALLOWANCES.objectGBSeconds) * PRICES.objectGBSecond;
  return Math.round(cost * 100) / 100;
}

/** The estimate for people, and what it changes of the one that is deployed. */
export function costLine(inputs: CostInputs, deployed?: CostInputs): string {
  const cost = monthlyCost(inputs);
  const line = `Estimated cost: about ${dollars(cost)} a month (${describe(inputs)})`;
  if (deployed === undefined) return line;
  const difference = cost - monthlyCost(deployed);
  if (difference === 0) return `${line}, as deployed`;
  const sign = difference > 0 ? "+" : "-";
  const change = `${sign}${dollars(Math.abs(difference))} a month`;
  return `${line}, ${change} to what is deployed (${describe(deployed)})`;
}

/** An amount for people. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

function describe(inputs: CostInputs): string {
  const hours = Math.round(awakeHoursOf(inputs) * 10) / 10;
  return `${inputs.instanceType}, sleepAfter ${inputs.sleepAfter}, awake ${hours} h a day`;
}

function beyond(used: number, included: number): number {
  return Math.max(0, used - included);
}
