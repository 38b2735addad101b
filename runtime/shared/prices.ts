import type { ModelPrice } from "../contract/control.ts";

/** Source of the prices below, and the month in which they were checked. */
export const PRICES_SOURCE = {
  url: "https://platform.claude.com/docs/en/about-claude/pricing",
  month: "September 2026",
} as const;

/**
 * Anthropic's base prices by model family, in dollars per million tokens. Excludes caching, batches and surcharges.
 */
const ANTHROPIC: Readonly<Record<string, ModelPrice>> = {
  "claude-opus-5-5": { input: 4, output: 20 },
  "claude-opus-5": { input: 5, output: 25 },
  "claude-opus-4-6": { input: 5, output: 25 },
  "claude-opus-4-5": { input: 5, output: 25 },
  "claude-opus-4-1": { input: 15, output: 75 },
  "claude-opus-4": { input: 15, output: 75 },
  "claude-sonnet-5-5": { input: 2, output: 10 },
  "claude-sonnet-5": { input: 2, output: 10 },
  "claude-sonnet-4-6": { input: 3, output: 15 },
  "claude-sonnet-4-5": { input: 3, output: 15 },
  "claude-sonnet-4": { input: 3, output: 15 },
  "claude-3-7-sonnet": { input: 3, output: 15 },
  "claude-haiku-4-5": { input: 1, output: 5 },
  "claude-3-5-haiku": { input: 0.8, output: 4 },
  "claude-3-haiku": { input: 0.25, output: 1.25 },
};

/** Suffix of a model id: the date of a snapshot, or `latest` for the newest one. */
const SNAPSHOT = /-(\d{8}|latest)$/;

/** Returns a model's price. The config's price overrides the published one. */
export function priceOf(model: string, own: Readonly<Record<string, ModelPrice>>): ModelPrice | undefined {
  return Object.hasOwn(own, model) ? own[model] : publishedPrice(model);
}

/** Returns the price of `<provider>/<model id>`. Apart from a snapshot date, the id must match exactly. */
export function publishedPrice(model: string): ModelPrice | undefined {
  const [provider, ...id] = model.split("/");
  if (provider !== "anthropic") return undefined;
  const family = id.join("/").replace(SNAPSHOT, "");
  return Object.hasOwn(ANTHROPIC, family) ? ANTHROPIC[family] : undefined;
}
