import * as pulumi from "@pulumi/pulumi";
import { dollars, monthlyCost, type CostInputs } from "../infra/serverless/cost.ts";
import { CostEstimate } from "../infra/serverless/cost-estimate.ts";
import { readDuty, type DutyReading } from "../infra/serverless/duty.ts";
import type { ServerlessConfig } from "./config.ts";
import { cloudflareAccess } from "./config/cloudflare.ts";
import { stackSource } from "./config/source.ts";

/** The estimate of a serverless stack, from what it has measured where it is up. */
export function estimateCost(config: ServerlessConfig, bucketName: string): CostEstimate {
  const { accountId, instanceType, sleepAfter, expectedAwakeHours: awakeHours } = config;
  const access = { accountId, ...cloudflareAccess(stackSource()) };
  const duty = readDuty({ ...access, bucketName, now: Date.now() });
  const inputs = { instanceType, sleepAfter, ...(awakeHours !== undefined && { awakeHours }) };
  void duty.then((reading) => warnOverBudget(config, inputs, reading));
  return new CostEstimate("cost", { ...inputs, duty });
}

/** Told and not refused, unlike what is expected: what is written to a bot holds up no update of it. */
function warnOverBudget(
  { monthlyBudget }: ServerlessConfig,
  inputs: CostInputs,
  { measured }: DutyReading,
): void {
  if (monthlyBudget === undefined || measured === undefined) return;
  const cost = monthlyCost({ ...inputs, measured });
  if (cost <= monthlyBudget) return;
  const amounts = `about ${dollars(cost)} a month, above steward:monthlyBudget (${dollars(monthlyBudget)})`;
  void pulumi.log.warn(`As it is used, the stack costs ${amounts}.`);
}
