import type { CostInputs } from "../../infra/serverless/cost.ts";
import { dollars, monthlyCost } from "../../infra/serverless/cost.ts";
import { INSTANCES } from "../../infra/serverless/prices.ts";
import type { ConfigProblem } from "./problems.ts";
import type { Values } from "./values.ts";

/** What the remedy offers in place of `never`. */
const SHORT_SLEEP = "10m";

/** A budget below what the stack is estimated to cost. */
export function budget(values: Values): ConfigProblem[] {
  const { monthlyBudget } = values;
  const inputs = costInputs(values);
  if (typeof monthlyBudget !== "number" || inputs === undefined) return [];
  const cost = monthlyCost(inputs);
  if (cost <= monthlyBudget) return [];
  const { instanceType, sleepAfter } = inputs;
  return [
    {
      key: "steward:monthlyBudget",
      problem: `${dollars(monthlyBudget)} is below the estimate of ${dollars(cost)} a month for ${instanceType} with steward:sleepAfter ${sleepAfter}`,
      fix: remedy(inputs, cost, monthlyBudget),
    },
  ];
}

function remedy(inputs: CostInputs, cost: number, monthlyBudget: number): string {
  const raise = `pulumi config set steward:monthlyBudget ${Math.ceil(cost)}`;
  const shorter = monthlyCost({ ...inputs, sleepAfter: SHORT_SLEEP });
  if (shorter <= monthlyBudget && shorter < cost) {
    return `pulumi config set steward:sleepAfter ${SHORT_SLEEP} (about ${dollars(shorter)} a month), or ${raise}`;
  }
  return `${raise}, or a smaller steward:instanceType`;
}

function costInputs({ instanceType, sleepAfter, expectedAwakeHours }: Values): CostInputs | undefined {
  if (!isInstanceType(instanceType) || typeof sleepAfter !== "string") return undefined;
  return {
    instanceType,
    sleepAfter,
    ...(typeof expectedAwakeHours === "number" && { awakeHours: expectedAwakeHours }),
  };
}

function isInstanceType(value: unknown): value is CostInputs["instanceType"] {
  return typeof value === "string" && Object.hasOwn(INSTANCES, value);
}
