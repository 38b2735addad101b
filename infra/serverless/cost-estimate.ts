import * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../dynamic/resource.ts";
import { type CostInputs, costLine, hardlyMoves } from "./cost.ts";
import type { DutyReading } from "./duty.ts";
import { print } from "../../runtime/shared/terminal.ts";

/** Subject of the estimate, and what of it the state keeps. */
export interface EstimateInputs extends CostInputs {
  /** Given only: what is kept of it is `measured`. */
  duty?: DutyReading;
  /** Kept only: the estimate for people. */
  line?: string | undefined;
}

/** See {@link EstimateInputs}. */
export const costEstimateProvider: pulumi.dynamic.ResourceProvider<EstimateInputs, EstimateInputs> = {
  /**
   * Reckons what is deployed with the same use, so that the difference is what the update changes. A use that has
   * moved a little is shown but not stored: an update without changes stays one.
   */
  async check(olds, news) {
    const { duty, line: _, ...settings } = news;
    const deployed = olds.instanceType === undefined ? undefined : olds;
    const before = deployed?.measured;
    const measured = duty?.measured ?? before;
    const now = { ...settings, ...(measured && { measured }) };
    const line = costLine(now, deployed && { ...deployed, measured });
    const sleeps = news.sleepAfter !== "never";
    const why =
      sleeps && measured?.sleepAfterMs === null ? "the deployed container never sleeps" : duty?.unmeasured;
    print(`${line}${why === undefined ? "" : `. Not measured: ${why}`}\n`);
    const kept = before !== undefined && hardlyMoves(now, before) ? { ...now, measured: before } : now;
    return { inputs: { ...kept, line: costLine(kept) } };
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

/** Arguments of {@link CostEstimate}. */
export interface CostEstimateArgs extends Omit<CostInputs, "measured"> {
  /** Measurements of the deployed stack; what was measured before counts where it tells nothing. */
  duty: pulumi.Input<DutyReading>;
}

/**
 * Cost of the stack, as a line of every preview and update, with the difference to what is
 * deployed. It stands for nothing in the account: it keeps what the deployed estimate was made of.
 */
export class CostEstimate extends DynamicResource {
  /** The estimate for people. */
  declare readonly line: pulumi.Output<string>;

  constructor(name: string, args: CostEstimateArgs, opts?: pulumi.CustomResourceOptions) {
    const inputs = { ...args, line: undefined };
    super("serverless:CostEstimate", name, inputs, opts);
  }
}
