import type { dynamic } from "@pulumi/pulumi";
import { costLine, type CostInputs } from "./cost.ts";

/**
 * The dynamic provider of `CostEstimate`. Pulumi serialises what is reachable from here into the stack's
 * state: functions and tables, no secret. The engine tells a provider alone what is deployed, and shows
 * what one prints, in a preview too.
 */

/** What was estimated. */
export interface EstimateInputs extends CostInputs {
  /** The estimate for people. */
  line: string;
}

/** See {@link EstimateInputs}. */
export const costEstimateProvider: dynamic.ResourceProvider<EstimateInputs, EstimateInputs> = {
  async check(olds, news) {
    const deployed = olds.instanceType === undefined ? undefined : olds;
    process.stdout.write(`${costLine(news, deployed)}\n`);
    return { inputs: news };
  },

  async diff(_id, olds, news) {
    return { changes: olds.line !== news.line };
  },

  async create(inputs) {
    return { id: "estimate", outs: inputs };
  },

  async update(_id, _olds, news) {
    return { outs: news };
  },
};
