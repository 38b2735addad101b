import * as pulumi from "@pulumi/pulumi";
import { DUTY_KEY, dutyOf, dutyRecord, SHORTEST_DUTY_HOURS } from "../../runtime/contract/duty.ts";
import { parseJson } from "../../runtime/shared/json.ts";
import { OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import {
  type AccountAccess,
  AccountError,
  type ApiCredentials,
  textInAccount,
  unlessGone,
} from "./account-api.ts";
import { type CostInputs, costLine, dollars, hardlyMoves, type MeasuredDuty, monthlyCost } from "./cost.ts";
import { say } from "../shell/connection.ts";

/** Measurements of a deployed stack. */
export interface DutyReading {
  measured?: MeasuredDuty;
  /** Why there is nothing. */
  unmeasured?: string;
}

/** Place of the record. */
export interface DutyPlace extends AccountAccess {
  bucketName: string;
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Reads how long the deployed container is awake from the stack's bucket, for which the API token has its
 * permission already. An estimate has another figure to go by, so nothing here is a failure.
 */
export async function readDuty({ bucketName, now, ...access }: DutyPlace): Promise<DutyReading> {
  try {
    const path = `r2/buckets/${bucketName}/objects/${DUTY_KEY}`;
    const text = await textInAccount(access, path, { attempts: 1 }).catch(unlessGone);
    return text === undefined ? { unmeasured: "nothing has run yet" } : measuredIn(text, now);
  } catch (error) {
    if (error instanceof AccountError && error.status > 0) {
      return { unmeasured: `Cloudflare answered ${error.status}` };
    }
    return { unmeasured: error instanceof Error ? error.message : String(error) };
  }
}

function measuredIn(text: string, now: number): DutyReading {
  const read = dutyRecord.safeParse(parseJson(text));
  if (!read.success) return { unmeasured: `${DUTY_KEY} in the bucket is none that this version reads` };
  const { sleepAfterMs } = read.data;
  const { measuredHours, awakeHours, startsADay } = dutyOf(read.data, now);
  if (measuredHours < SHORTEST_DUTY_HOURS) {
    const hours = Math.floor(measuredHours);
    return { unmeasured: `it takes ${SHORTEST_DUTY_HOURS} hours, and there are ${hours}` };
  }
  return {
    measured: {
      measuredHours: Math.floor(measuredHours),
      awakeHours: twoDecimals(awakeHours),
      startsADay: twoDecimals(startsADay),
      sleepAfterMs,
    },
  };
}

function twoDecimals(value: number): number {
  return Math.round(value * 100) / 100;
}

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
    const line = costLine(now, deployed && { ...deployed, measured });
    const sleeps = news.sleepAfter !== "never";
    const why =
      sleeps && measured?.sleepAfterMs === null ? "the deployed container never sleeps" : duty?.unmeasured;
    say(`${line}${why === undefined ? "" : `. Not measured: ${why}`}`);
    const kept = before !== undefined && hardlyMoves(now, before) ? { ...now, measured: before } : now;
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
    const { accountId, bucketName, api, monthlyBudget, instanceType, sleepAfter, awakeHours } = args;
    const place = pulumi.all([accountId, bucketName, api.apiToken, api.baseUrl]);
    const duty = pulumi.unsecret(
      place.apply(([account, bucket, apiToken = "", baseURL]) =>
        readDuty({ accountId: account, bucketName: bucket, apiToken, baseURL, now: Date.now() }),
      ),
    );
    const inputs = { instanceType, sleepAfter, ...(awakeHours !== undefined && { awakeHours }) };
    duty.apply((reading) => warnOverBudget(monthlyBudget, inputs, reading));
    super("serverless:CostEstimate", name, { ...inputs, duty, line: undefined }, opts);
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
  const amounts = `about ${dollars(cost)} a month, above steward:monthlyBudget (${dollars(monthlyBudget)})`;
  void pulumi.log.warn(`As it is used, the stack costs ${amounts}.`);
}
