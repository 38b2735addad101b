import { ModelRefusal, type Model } from "./model.ts";
import { createStreamedModel, type ProviderOptions } from "./streamed.ts";

/** Anthropic's Messages API (https://docs.claude.com/en/api/messages-streaming). */
export function createAnthropicModel(options: ProviderOptions): Model {
  const { modelId, apiKey, baseUrl, redact, clock, timeout } = options;
  const model = createStreamedModel({
    reference: `anthropic/${modelId}`,
    load: async () => {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ apiKey, baseURL: baseUrl })(modelId);
    },
    redact,
    clock,
    ...(timeout && { timeout }),
  });
  if (apiKey !== "") return model;
  return {
    answer: () => Promise.reject(new ModelRefusal("model_key_invalid", `anthropic/${modelId}: ${NO_KEY}`)),
  };
}

/** What to do about a missing key, also for those who meant to use another provider. */
export const NO_KEY =
  "ANTHROPIC_API_KEY is not set. To use another provider, name one of its models in models.primary.";
