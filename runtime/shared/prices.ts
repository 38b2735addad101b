import type { ModelPrice } from "../contract/control.ts";

/** Place where the prices below are published, and in which month they were looked up there. */
export const PRICES_SOURCE = {
  url: "https://platform.claude.com/docs/en/about-claude/pricing",
  month: "September 2026",
} as const;

/**
 * By family: Anthropic's base prices, without caching, batches and surcharges. What is not certain is left out:
 * such a model has no price rather than a wrong one, and `models.prices` of the config may name it.
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

/** Behind a family's name: a snapshot's date, or the alias of the newest one. */
const SNAPSHOT = /-(\d{8}|latest)$/;

/** The price of a model: the config's own goes before the published one, since it may be what was agreed upon. */
export function priceOf(model: string, own: Readonly<Record<string, ModelPrice>>): ModelPrice | undefined {
  return Object.hasOwn(own, model) ? own[model] : publishedPrice(model);
}

/**
 * The published price of a model `<provider>/<model id>`: of its family, which is the id without a snapshot's
 * date. `claude-opus-4-7` is not of the family `claude-opus-4`: no price is taken from a relative.
 */
export function publishedPrice(model: string): ModelPrice | undefined {
  const [provider, ...id] = model.split("/");
  if (provider !== "anthropic") return undefined;
  const family = id.join("/").replace(SNAPSHOT, "");
  return Object.hasOwn(ANTHROPIC, family) ? ANTHROPIC[family] : undefined;
}
