import * as pulumi from "@pulumi/pulumi";
import { OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import type { ApiCredentials } from "./account-api.ts";
import {
  containerCost,
  type CostInputs,
  costLine,
  formatDollars,
  isNegligibleChange,
  monthlyCost,
} from "./cost.ts";
import { type DutyReading, readDuty } from "./duty-reading.ts";
import { say } from "../shell/connection.ts";

/** Subject of the estimate, and what of it the state keeps. */
export interface EstimateInputs extends CostInputs {
  /** Given only: what is kept of it is `measured`. */
  duty?: DutyReading;
  /** Kept only: the estimate for people. */
  line?: string | undefined;
}

/** See {@link EstimateInputs}. */
export const costEstimateProvider: ResourceProvider<EstimateInputs, EstimateInputs> = {
  /**
   * Reckons what is deployed with the same use, so that the difference is what the update changes. A use that has
   * moved a little is shown but not stored: an update without changes stays one.
   */
  async check(olds, news) {
    const { duty, line: _, ...settings } = news;
    const deployed = olds.instanceType === undefined ? undefined : (olds as EstimateInputs);
    const before = deployed?.measured;
    const measured = duty?.measured ?? before;
    const now = { ...settings, ...(measured && { measured }) };
    // The use of one container for all chats does not predict that of a container for each, nor the reverse.
    const isSameKind = (deployed?.maxSandboxes === undefined) === (measured?.containers === undefined);
    const line = costLine(now, deployed && { ...deployed, measured: isSameKind ? measured : before });
    const sleeps = news.sleepAfter !== "never";
    const why =
      sleeps && measured?.sleepAfterMs === null ? "the deployed container never sleeps" : duty?.unmeasured;
    say(`${line}${why === undefined ? "" : `. Not measured: ${why}`}`);
    const kept = before !== undefined && isNegligibleChange(now, before) ? { ...now, measured: before } : now;
    return { ...kept, line: costLine(kept) };
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
  /** US dollars. A measured cost above it is warned of. Default: none. */
  monthlyBudget?: number | undefined;
  /** US dollars. Each chat that costs more is warned of. Default: none. */
  monthlyChatBudget?: number | undefined;
  accountId: pulumi.Input<string>;
  /** The bucket with the measurements; what was measured before counts where it tells nothing. */
  bucketName: pulumi.Input<string>;
  api: ApiCredentials;
}

/**
 * Cost of the stack, as a line of every preview and update, with the difference to what is
 * deployed. It stands for nothing in the account: it keeps what the deployed estimate was made of.
 */
export class CostEstimate extends OwnResource {
  /** The estimate for people. */
  declare readonly line: pulumi.Output<string>;

  constructor(name: string, args: CostEstimateArgs, opts?: pulumi.CustomResourceOptions) {
    const { accountId, bucketName, api, monthlyBudget, monthlyChatBudget, ...given } = args;
    const { instanceType, sleepAfter, awakeHours, maxSandboxes } = given;
    const place = pulumi.all([accountId, bucketName, api.apiToken, api.baseUrl]);
    const duty = pulumi.unsecret(
      place.apply(([account, bucket, apiToken = "", baseURL]) =>
        readDuty({
          accountId: account,
          bucketName: bucket,
          apiToken,
          baseURL,
          now: Date.now(),
          isPerChat: maxSandboxes !== undefined,
        }),
      ),
    );
    const inputs = {
      instanceType,
      sleepAfter,
      ...(awakeHours !== undefined && { awakeHours }),
      ...(maxSandboxes !== undefined && { maxSandboxes }),
    };
    duty.apply((reading) => {
      warnOverBudget(monthlyBudget, inputs, reading);
      warnOfChats(monthlyChatBudget, inputs, reading);
    });
    const all = duty.apply(({ measured, unmeasured }) => ({ measured, unmeasured }));
    super("serverless:CostEstimate", name, { ...inputs, duty: all, line: undefined }, opts);
  }
}

/** Warns only, unlike the check of the expected cost: people's use of a bot must not block its updates. */
function warnOverBudget(
  monthlyBudget: number | undefined,
  inputs: CostInputs,
  { measured }: DutyReading,
): void {
  if (monthlyBudget === undefined || measured === undefined) return;
  const cost = monthlyCost({ ...inputs, measured });
  if (cost <= monthlyBudget) return;
  const amounts = `about ${formatDollars(cost)} a month, above steward:monthlyBudget (${formatDollars(monthlyBudget)})`;
  void pulumi.log.warn(`As it is used, the stack costs ${amounts}.`);
}

/** Chats that a warning names. */
const MOST_NAMED = 5;

function warnOfChats(budget: number | undefined, inputs: CostInputs, { chats = [] }: DutyReading): void {
  if (budget === undefined) return;
  const over = chats
    .map(({ tenant, awakeHours }) => ({ tenant, cost: containerCost(inputs, awakeHours) }))
    .filter(({ cost }) => cost > budget)
    .toSorted((a, b) => b.cost - a.cost);
  if (over.length === 0) return;
  const named = over.slice(0, MOST_NAMED).map(({ tenant, cost }) => `${tenant} about ${formatDollars(cost)}`);
  const more = over.length > MOST_NAMED ? `, and ${over.length - MOST_NAMED} more chats` : "";
  const limit = `more a month than steward:monthlyChatBudget (${formatDollars(budget)})`;
  void pulumi.log.warn(`As they are used, these chats cost ${limit}: ${named.join(", ")}${more}.`);
}
