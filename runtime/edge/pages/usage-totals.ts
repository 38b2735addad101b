import type { ModelUsage, UsageReport } from "../../contract/control.ts";
import type { ModelPrice } from "../../contract/prices.ts";

/** Tokens that a price is for. */
const PRICED_TOKENS = 1_000_000;

/** What several requests came to. */
export interface Total {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  /** US dollars, of those with a known price; `undefined` where none has one. */
  cost: number | undefined;
}

/** The total of each key, in the keys' order. */
export function totals(
  { models, prices }: Pick<UsageReport, "models" | "prices">,
  keys: readonly string[],
  keyOf: (one: ModelUsage) => string,
): [key: string, total: Total][] {
  return keys.map((key) => {
    const own = models.filter((one) => keyOf(one) === key);
    const sum = (read: (one: ModelUsage) => number): number =>
      own.reduce((total, one) => total + read(one), 0);
    const costs = own.flatMap((one) => costOf(one, prices[one.model]));
    const known = costs.length > 0 || own.length === 0;
    return [
      key,
      {
        requests: sum(({ requests }) => requests),
        inputTokens: sum(({ inputTokens }) => inputTokens),
        outputTokens: sum(({ outputTokens }) => outputTokens),
        cost: known ? costs.reduce((total, cost) => total + cost, 0) : undefined,
      },
    ];
  });
}

function costOf({ inputTokens, outputTokens }: ModelUsage, price: ModelPrice | undefined): number[] {
  if (price === undefined) return [];
  return [(inputTokens * price.input + outputTokens * price.output) / PRICED_TOKENS];
}
