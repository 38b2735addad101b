import type { dynamic } from "@pulumi/pulumi";
import { type CostInputs, costLine, hardlyMoves } from "./cost.ts";
import type { DutyReading } from "./duty.ts";

/**
 * The dynamic provider of `CostEstimate`. Pulumi serialises what is reachable from here into the stack's
 * state: functions and tables, no secret. The engine tells a provider alone what is deployed, and shows
 * what one prints, in a preview too.
 */

/** Subject of the estimate, and what of it the state keeps. */
export interface EstimateInputs extends CostInputs {
  /** Given only: what is kept of it is `measured`. */
  duty?: DutyReading;
  /** Kept only: the estimate for people. */
  line?: string | undefined;
}

/** See {@link EstimateInputs}. */
export const costEstimateProvider: dynamic.ResourceProvider<EstimateInputs, EstimateInputs> = {
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
    process.stdout.write(`${line}${why === undefined ? "" : `. Not measured: ${why}`}\n`);
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
