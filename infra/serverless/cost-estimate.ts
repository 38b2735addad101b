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

/** Inputs of the estimate, and format of the stored state. */
export interface EstimateInputs extends CostInputs {
  /** Result of reading the usage measurements. Only an input: the state stores `measured` instead. */
  duty?: DutyReading;
  /** State only. */
  line?: string | undefined;
}

export const costEstimateProvider: ResourceProvider<EstimateInputs, EstimateInputs> = {
  /**
   * Prints the estimated cost, and the difference that the new settings make at the same usage. Stores a new
   * measurement only if it changes the cost noticeably, so that an unchanged stack shows no diff.
   */
  async check(olds, news) {
    const { duty, line: _, ...settings } = news;
    const deployed = olds.instanceType === undefined ? undefined : (olds as EstimateInputs);
    const before = deployed?.measured;
    const measured = duty?.measured ?? before;
    const now = { ...settings, ...(measured && { measured }) };
    // Apply a measurement to the deployed settings only if both have the same tenancy.
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

export interface CostEstimateArgs extends Omit<CostInputs, "measured"> {
  /** Monthly budget in US dollars. A higher measured cost causes a warning. Default: none. */
  monthlyBudget?: number | undefined;
  /** Monthly budget per chat in US dollars. A chat with a higher cost causes a warning. Default: none. */
  monthlyChatBudget?: number | undefined;
  accountId: pulumi.Input<string>;
  /** Name of the bucket that contains the usage measurements. */
  bucketName: pulumi.Input<string>;
  api: ApiCredentials;
}

/** Prints the stack's estimated cost in every preview and update, with the difference from the deployed stack. */
export class CostEstimate extends OwnResource {
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

/**
 * Warns if the measured cost exceeds the budget. If it threw, the bot's users could block updates by causing costs.
 */
function warnOverBudget(
  monthlyBudget: number | undefined,
  inputs: CostInputs,
  { measured }: DutyReading,
): void {
  if (monthlyBudget === undefined || measured === undefined) return;
  const cost = monthlyCost({ ...inputs, measured });
  if (cost <= monthlyBudget) return;
  const amounts = `about ${formatDollars(cost)} a month, above steward:monthlyBudget (${formatDollars(monthlyBudget)})`;
  void pulumi.log.warn(`By measured usage, the stack costs ${amounts}.`);
}

const MAX_NAMED = 5;

function warnOfChats(budget: number | undefined, inputs: CostInputs, { chats = [] }: DutyReading): void {
  if (budget === undefined) return;
  const over = chats
    .map(({ tenant, awakeHours }) => ({ tenant, cost: containerCost(inputs, awakeHours) }))
    .filter(({ cost }) => cost > budget)
    .toSorted((a, b) => b.cost - a.cost);
  if (over.length === 0) return;
  const named = over.slice(0, MAX_NAMED).map(({ tenant, cost }) => `${tenant} about ${formatDollars(cost)}`);
  const more = over.length > MAX_NAMED ? `, and ${over.length - MAX_NAMED} more chats` : "";
  const limit = `more a month than steward:monthlyChatBudget (${formatDollars(budget)})`;
  void pulumi.log.warn(`By measured usage, these chats cost ${limit}: ${named.join(", ")}${more}.`);
}
