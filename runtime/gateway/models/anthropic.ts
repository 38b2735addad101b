import { ModelRefusal, type Model } from "./model.ts";
import { createStreamedModel, type ProviderOptions } from "./streamed.ts";

const DEFAULT_BASE_URL = "https://api.anthropic.com";

/**
 * The address of Anthropic's API up to and including `/v1`. `baseUrl` is an origin, with or without
 * `/v1`, as ANTHROPIC_BASE_URL gives it; empty for Anthropic's own.
 */
export function anthropicAddress(baseUrl: string): string {
  return `${(baseUrl || DEFAULT_BASE_URL).replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
}

/** Anthropic's Messages API (https://docs.claude.com/en/api/messages-streaming). */
export function createAnthropicModel(options: ProviderOptions): Model {
  const { modelId, apiKey, baseUrl, redact, clock, timeout } = options;
  const model = createStreamedModel({
    reference: `anthropic/${modelId}`,
    load: async () => {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ apiKey, baseURL: anthropicAddress(baseUrl) })(modelId);
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
