import * as pulumi from "@pulumi/pulumi";
import { costLine, type CostInputs } from "./cost.ts";
import { costEstimateProvider } from "./cost-estimate-provider.ts";

/**
 * What the stack is going to cost, as a line of every preview and update, with the difference to what is
 * deployed. It stands for nothing in the account: it keeps what the deployed estimate was made of.
 */
export class CostEstimate extends pulumi.dynamic.Resource {
  /** The estimate for people. */
  declare readonly line: pulumi.Output<string>;

  constructor(name: string, args: CostInputs, opts?: pulumi.CustomResourceOptions) {
    const inputs = { ...args, line: costLine(args) };
    super(costEstimateProvider, name, inputs, opts, "serverless", "CostEstimate");
  }
}
