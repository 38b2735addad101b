import * as z from "zod/mini";
import type { Config } from "../contract/config/index.ts";
import type { ModelHealth } from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";
import { priceOf } from "../shared/prices.ts";
import { table } from "../shared/table.ts";
import { always, argument, EVERYWHERE, operation } from "./operation.ts";

const reason = () =>
  z.looseObject({ code: z.string(), detail: z.string(), fix: z.string() }) as z.ZodMiniType<
    NonNullable<ModelHealth["reason"]>
  >;
const state = () => z.string() as z.ZodMiniType<ModelHealth["state"]>;

/** `steward models`. Lists or tests the primary model and the fallbacks. */
export const models = {
  list: operation({
    name: "models list",
    summary: "models in fallback order, with prices in dollars per million tokens",
    rights: EVERYWHERE,
    output: () =>
      z.object({
        models: z.array(
          z.object({
            id: z.string(),
            state: z._default(state(), "unknown"),
            reason: z.optional(reason()),
            price: z.optional(z.object({ input: z.number(), output: z.number() })),
          }),
        ),
      }),
    async run(tools) {
      const config = await tools.config.valid();
      const { details } = await tools.gateway.status();
      const models = configured(config).map((id) => {
        const { state, reason }: Pick<ModelHealth, "state" | "reason"> = details?.models.find(
          (one) => one.id === id,
        ) ?? { state: "unknown" };
        return { id, state, reason, price: priceOf(id, config.models.prices) };
      });
      return { models };
    },
    text({ models }) {
      const cells = models.map(({ id, state, price, reason }) => [
        id,
        state,
        price === undefined ? "" : `${price.input} in, ${price.output} out`,
        reason?.detail ?? "",
      ]);
      return table(["Model", "State", "Price", "Problem"], cells);
    },
  }),
  test: operation({
    name: "models test",
    summary: "asks a model a short question; the provider charges for it",
    rights: EVERYWHERE,
    input: () => z.strictObject({ model: argument(z.string(), "as `list` shows it") }),
    output: () => z.object({ ms: z.number(), tokens: z.object({ input: z.number(), output: z.number() }) }),
    changes: always,
    async run(tools, { model }) {
      const config = await tools.config.valid();
      const known = configured(config);
      if (known.includes(model)) return tools.gateway.testModel(config, model);
      const detail = `The config has no model ${model}. It has ${known.join(", ")}.`;
      throw new StewardError("usage_invalid", detail);
    },
    text: ({ ms, tokens }, { model }) =>
      `${model} answered after ${ms} ms: ${tokens.input} tokens in, ${tokens.output} out.`,
  }),
};

function configured({ models: { primary, fallbacks } }: Config): string[] {
  return [...new Set([primary, ...fallbacks])];
}
