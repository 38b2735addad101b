import * as pulumi from "@pulumi/pulumi";
import type { CostInputs } from "./cost.ts";
import { costEstimateProvider } from "./cost-estimate-provider.ts";
import type { DutyReading } from "./duty.ts";

/** Arguments of {@link CostEstimate}. */
export interface CostEstimateArgs extends Omit<CostInputs, "measured"> {
  /** Measurements of the deployed stack; what was measured before counts where it tells nothing. */
  duty: pulumi.Input<DutyReading>;
}

/**
 * Cost of the stack, as a line of every preview and update, with the difference to what is
 * deployed. It stands for nothing in the account: it keeps what the deployed estimate was made of.
 */
export class CostEstimate extends pulumi.dynamic.Resource {
  /** The estimate for people. */
  declare readonly line: pulumi.Output<string>;

  constructor(name: string, args: CostEstimateArgs, opts?: pulumi.CustomResourceOptions) {
    const inputs = { ...args, line: undefined };
    super(costEstimateProvider, name, inputs, opts, "serverless", "CostEstimate");
  }
}
