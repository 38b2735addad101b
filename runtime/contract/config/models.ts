import * as z from "zod/mini";
import { withHelp, duration, httpUrl, integer, whenFieldsValid, secret, textUpTo } from "./values.ts";

/** `<provider>/<model id>`; the id may have slashes of its own. */
const modelReference = z
  .string()
  .check(z.regex(/^[a-z][a-z0-9-]{0,31}\/[\w.:/-]{1,128}$/, "must be <provider>/<model id>"));

/** A server that speaks OpenAI's chat completions. */
const provider = z.strictObject({
  baseUrl: withHelp(httpUrl, "Up to and including `/v1`."),
  apiKey: z.optional(secret),
  firstWordTimeout: withHelp(
    z._default(duration, "5m"),
    "How long its models may take for the first word: a large one on a small machine reads for minutes.",
  ),
});

/** A server that speaks OpenAI's audio transcriptions. */
const transcription = z.strictObject({
  baseUrl: withHelp(httpUrl, "Up to and including `/v1`."),
  apiKey: z.optional(secret),
  model: withHelp(textUpTo(128), "The server's own name of it, such as `gpt-4o-mini-transcribe`."),
});

/** US dollars for a million tokens; see prices.ts. */
const price = z.strictObject({
  input: z.number().check(z.minimum(0)),
  output: z.number().check(z.minimum(0)),
});

const settings = z.strictObject({
  primary: z._default(modelReference, "anthropic/claude-sonnet-4-5"),
  fallbacks: withHelp(
    z._default(z.array(modelReference).check(z.maxLength(8)), []),
    "Asked in this order while the ones before fail.",
  ),
  cooldown: withHelp(
    z._default(duration, "1m"),
    "How long a model that failed is left alone, unless it said for how long itself.",
  ),
  maxOutputTokens: withHelp(z._default(integer(1, 64_000), 4_096), "Tokens of one answer."),
  contextTokens: withHelp(
    z._default(integer(4_000, 2_000_000), 180_000),
    "Tokens that the models read; a longer conversation is summarised.",
  ),
  prices: withHelp(
    z._default(z.record(modelReference, price), {}),
    "Of `<provider>/<model id>`, before what is published: `{ input, output }` in US dollars a million tokens.",
  ),
  providers: z._default(z.record(z.string().check(z.regex(/^[a-z][a-z0-9-]{0,31}$/)), provider), {}),
  transcription: withHelp(
    z.optional(transcription),
    "Makes text of voice notes and audio files, before a model is asked. Not set: they are not understood.",
  ),
});

/** `models`: which are asked, in which order. Anthropic is known; every other provider is named here. */
export const models = z.prefault(
  settings.check(z.superRefine(checkProviders, whenFieldsValid("primary", "fallbacks", "providers"))),
  {},
);

function checkProviders(
  { primary, fallbacks, providers }: z.output<typeof settings>,
  context: z.core.$RefinementCtx,
): void {
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
}
