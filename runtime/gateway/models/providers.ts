import { type Model, ModelRefusal } from "./model.ts";
import { withFinishReason, fromChatCompletion, fromMessage, toStreamingFetch } from "./event-stream.ts";
import { createStreamedModel, type ProviderOptions } from "./streamed.ts";

export const NO_KEY =
  "ANTHROPIC_API_KEY is not set. To use another provider, name one of its models in models.primary.";

/** Uses Anthropic's Messages API (https://docs.claude.com/en/api/messages-streaming). */
export function createAnthropicModel(options: ProviderOptions): Model {
  const { modelId, apiKey, baseUrl, redact, report, clock, timeout } = options;
  const model = createStreamedModel({
    reference: `anthropic/${modelId}`,
    reasonsInText: false,
    load: async () => {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ apiKey, baseURL: baseUrl, fetch: toStreamingFetch(fromMessage, fetch) })(
        modelId,
      );
    },
    redact,
    report,
    clock,
    ...(timeout && { timeout }),
  });
  if (apiKey !== "") return model;
  return {
    answer: () => Promise.reject(new ModelRefusal("model_key_invalid", `anthropic/${modelId}: ${NO_KEY}`)),
  };
}

/** `baseUrl` usually ends in `/v1`. */
interface OpenAiCompatibleOptions extends ProviderOptions {
  /** Name in `models.providers`. */
  provider: string;
}

/**
 * Uses OpenAI's streamed chat completions (https://platform.openai.com/docs/api-reference/chat-streaming). Sends
 * no key if none is set.
 */
export function createOpenAiCompatibleModel(options: OpenAiCompatibleOptions): Model {
  const { provider, modelId, apiKey, baseUrl, redact, report, clock, timeout } = options;
  return createStreamedModel({
    reference: `${provider}/${modelId}`,
    reasonsInText: true,
    load: async () => {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const create = createOpenAICompatible({
        name: provider,
        baseURL: baseUrl,
        includeUsage: true,
        fetch: withFinishReason(toStreamingFetch(fromChatCompletion, fetch)),
        ...(apiKey !== "" && { apiKey }),
      });
      return create.chatModel(modelId);
    },
    redact,
    report,
    clock,
    ...(timeout && { timeout }),
  });
}
