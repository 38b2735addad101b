import type { Model } from "./model.ts";
import { createStreamedModel, type ProviderOptions } from "./streamed.ts";

/** How to reach a server that speaks OpenAI's chat completions. `baseUrl` ends in `/v1` as a rule. */
export interface OpenAiCompatibleOptions extends ProviderOptions {
  /** Its name in `models.providers`. */
  provider: string;
}

/**
 * A server that speaks OpenAI's chat completions, streamed
 * (https://platform.openai.com/docs/api-reference/chat-streaming). Without a key, none is sent.
 */
export function createOpenAiCompatibleModel(options: OpenAiCompatibleOptions): Model {
  const { provider, modelId, apiKey, baseUrl, redact, clock, timeout } = options;
  return createStreamedModel({
    reference: `${provider}/${modelId}`,
    load: async () => {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const create = createOpenAICompatible({
        name: provider,
        baseURL: baseUrl,
        includeUsage: true,
        ...(apiKey !== "" && { apiKey }),
      });
      return create.chatModel(modelId);
    },
    redact,
    clock,
    ...(timeout && { timeout }),
  });
}
