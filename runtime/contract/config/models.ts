import * as z from "zod";
import { duration, httpUrl, over, secret } from "./values.ts";

/** `<provider>/<model id>`; the id may have slashes of its own. */
const modelReference = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}\/[\w.:/-]{1,128}$/, "must be <provider>/<model id>");

/** A server that speaks OpenAI's chat completions. */
const provider = z.strictObject({
  baseUrl: httpUrl.describe("Up to and including `/v1`."),
  apiKey: secret.optional(),
});

/** US dollars for a million tokens; see prices.ts. */
const price = z.strictObject({ input: z.number().min(0), output: z.number().min(0) });

/** `models`: which are asked, in which order. Anthropic is known; every other provider is named here. */
export const models = z
  .strictObject({
    primary: modelReference.default("anthropic/claude-sonnet-4-5"),
    fallbacks: z
      .array(modelReference)
      .max(8)
      .default([])
      .describe("Asked in this order while the ones before fail."),
    cooldown: duration
      .default("1m")
      .describe("How long a model that failed is left alone, unless it said for how long itself."),
    maxOutputTokens: z.int().min(1).max(64_000).default(4_096).describe("Tokens of one answer."),
    contextTokens: z
      .int()
      .min(4_000)
      .max(2_000_000)
      .default(180_000)
      .describe("Tokens that the models read; a longer conversation is summarised."),
    prices: z
      .record(modelReference, price)
      .default({})
      .describe(
        "Of `<provider>/<model id>`, before what is published: `{ input, output }` in US dollars a million tokens.",
      ),
    providers: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), provider).default({}),
  })
  .superRefine(
    ({ primary, fallbacks, providers }, context) => {
      if (Object.hasOwn(providers, "anthropic")) {
        const message = "anthropic is built in; its address is ANTHROPIC_BASE_URL";
        context.addIssue({ code: "custom", path: ["providers", "anthropic"], message });
      }
      const known = new Set(["anthropic", ...Object.keys(providers)]);
      const references = [
        { path: ["primary"], reference: primary },
        ...fallbacks.map((reference, index) => ({ path: ["fallbacks", index], reference })),
      ];
      for (const { path, reference } of references) {
        const name = reference.split("/")[0] ?? "";
        if (known.has(name)) continue;
        context.addIssue({
          code: "custom",
          path,
          message: `no provider "${name}": add models.providers.${name}`,
        });
      }
    },
    over("primary", "fallbacks", "providers"),
  )
  .prefault({});
