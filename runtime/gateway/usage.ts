import type { Config } from "../contract/config/index.ts";
import type { UsageReport } from "../contract/control.ts";
import { publishedPrice, type ModelPrice } from "../contract/prices.ts";
import { DAY_MS, dayOf } from "./models/usage.ts";
import type { Stores } from "./stores.ts";

const DAYS = 30;

/** What was said and what it took, by day. `now` is in milliseconds since the epoch. */
export function usageReport(
  { sessions, usage }: Pick<Stores, "sessions" | "usage">,
  config: Config,
  now: number,
): UsageReport {
  const days = Array.from({ length: DAYS }, (_, index) => dayOf(now - (DAYS - 1 - index) * DAY_MS));
  const first = dayOf(now - (DAYS - 1) * DAY_MS);
  const models = usage.since(first);
  return {
    days,
    messages: sessions.daysSince(first),
    models,
    prices: pricesOf(new Set(models.map(({ model }) => model)), config.models.prices),
  };
}

/** The config's own price goes before the published one: it may be what was agreed upon. */
function pricesOf(
  models: ReadonlySet<string>,
  own: Readonly<Record<string, ModelPrice>>,
): Record<string, ModelPrice> {
  const known = [...models].flatMap((model): [string, ModelPrice][] => {
    const price = own[model] ?? publishedPrice(model);
    return price === undefined ? [] : [[model, price]];
  });
  return Object.fromEntries(known);
}
