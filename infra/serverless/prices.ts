import type { InstanceType } from "./container-api.ts";

/**
 * What Cloudflare asks, in US dollars, as read on 2026-11-20 at
 * https://developers.cloudflare.com/containers/pricing/ and
 * https://developers.cloudflare.com/workers/platform/pricing/. A change of a price is a change of this file.
 */
export const PRICES = {
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

/** What the plan includes every month. */
export const ALLOWANCES = {
  memoryGiBSeconds: 25 * 3_600,
  diskGBSeconds: 200 * 3_600,
  vcpuSeconds: 375 * 60,
  objectGBSeconds: 400_000,
} as const;

/** What an instance type has: https://developers.cloudflare.com/containers/platform/limits/ */
export const INSTANCES: Readonly<Record<InstanceType, { vcpu: number; memoryGiB: number; diskGB: number }>> =
  {
    lite: { vcpu: 1 / 16, memoryGiB: 0.25, diskGB: 2 },
    basic: { vcpu: 1 / 4, memoryGiB: 1, diskGB: 4 },
    "standard-1": { vcpu: 1 / 2, memoryGiB: 4, diskGB: 8 },
    "standard-2": { vcpu: 1, memoryGiB: 6, diskGB: 12 },
    "standard-3": { vcpu: 2, memoryGiB: 8, diskGB: 16 },
    "standard-4": { vcpu: 4, memoryGiB: 12, diskGB: 20 },
  };

/** What every Durable Object is billed as: https://developers.cloudflare.com/durable-objects/platform/pricing/ */
export const OBJECT_GB = 0.128;
