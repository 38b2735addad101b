import * as z from "zod/mini";
import { withHelp, duration, httpUrl, integer, whenFieldsValid, secret, textUpTo } from "./values.ts";

/** `<provider>/<model id>`; the id may contain slashes. */
const modelReference = z
  .string()
  .check(z.regex(/^[a-z][a-z0-9-]{0,31}\/[\w.:/-]{1,128}$/, "must be <provider>/<model id>"));

/** Speaks OpenAI's chat completions. */
const provider = z.strictObject({
  baseUrl: withHelp(httpUrl, "Up to and including `/v1`."),
  apiKey: z.optional(secret),
  firstWordTimeout: withHelp(
    z._default(duration, "5m"),
    "How long its models may take until the first word. A large model on a small machine may need minutes.",
  ),
});

/** Speaks OpenAI's audio transcriptions. */
const transcription = z.strictObject({
  baseUrl: withHelp(httpUrl, "Up to and including `/v1`."),
  apiKey: z.optional(secret),
  model: withHelp(textUpTo(128), "The server's name of the model, such as `gpt-4o-mini-transcribe`."),
});

/** US dollars per million tokens. */
const price = z.strictObject({
  input: z.number().check(z.minimum(0)),
  output: z.number().check(z.minimum(0)),
});

const settings = z.strictObject({
  primary: z._default(modelReference, "anthropic/claude-sonnet-4-5"),
  fallbacks: withHelp(
    z._default(z.array(modelReference).check(z.maxLength(8)), []),
    "Models to use, in this order, if the primary model fails.",
  ),
  cooldown: withHelp(
    z._default(duration, "1m"),
    "How long a failed model is not used, unless its provider says when to retry.",
  ),
  maxOutputTokens: withHelp(
    z._default(integer(1, 64_000), 4_096),
    "Maximum number of tokens in one answer of the model.",
  ),
  contextTokens: withHelp(
    z._default(integer(4_000, 2_000_000), 180_000),
    "Maximum number of input tokens for a model; longer conversations are summarised.",
  ),
  prices: withHelp(
    z._default(z.record(modelReference, price), {}),
    "Prices by `<provider>/<model id>`, which replace the published ones: `{ input, output }` in US dollars per million tokens.",
  ),
  providers: z._default(z.record(z.string().check(z.regex(/^[a-z][a-z0-9-]{0,31}$/)), provider), {}),
  transcription: withHelp(
    z.optional(transcription),
    "Transcribes voice notes and audio files for the model. Not set: the bot cannot understand them.",
  ),
});

/**
 * Config section `models`: the models to use and their order. Anthropic is built in; `providers` must list every other
 * provider.
 */
export const models = z.prefault(
  settings.check(z.superRefine(checkProviders, whenFieldsValid("primary", "fallbacks", "providers"))),
  {},
);

function checkProviders(
  { primary, fallbacks, providers }: z.output<typeof settings>,
  context: z.core.$RefinementCtx,
): void {
  if (Object.hasOwn(providers, "anthropic")) {
    const message = "anthropic is built in; set its address in ANTHROPIC_BASE_URL";
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
