import type { ErrorText } from "./error-text.ts";

export const MODELS_ERRORS = {
  model_key_invalid: {
    status: 502,
    title: "Invalid API key provided",
    cause: "The model provider rejects the API key (ANTHROPIC_API_KEY, or the one in models.providers).",
    fix: "Correct ANTHROPIC_API_KEY, or the key of the named provider, and deploy again.",
  },
  model_rate_limited: {
    status: 503,
    title: "Rate limit exceeded",
    cause: "Too many requests to the model provider.",
    fix: "Wait a few minutes, or upgrade the provider's plan.",
  },
  model_not_available: {
    status: 502,
    title: "Model not available",
    cause: "The model does not exist or needs a higher access tier.",
    fix: "Use a model that the account's tier includes (models.primary), or upgrade the account.",
  },
  model_overloaded: {
    status: 503,
    title: "The model provider is overloaded",
    cause: "The model provider answered with a server error.",
    fix: "No action needed: steward retries.",
  },
  model_no_answer: {
    status: 503,
    title: "The model provider does not answer",
    cause: "The model provider could not be reached or took too long to respond.",
    fix: "No action needed: steward retries. If the error persists, check the network and the provider's address.",
  },
  model_broke_off: {
    status: 503,
    title: "The model's answer broke off",
    cause: "The connection to the model provider broke, or it reported an error, in the middle of an answer.",
    fix: "No action needed: steward retries. If the error persists, check the network and the provider's status page.",
  },
  model_empty: {
    status: 503,
    title: "The model's answer was empty",
    cause: "The model's answer contains no readable text.",
    fix: "No action needed: steward will retry automatically. If the error persists, set models.primary or models.fallbacks to another model.",
  },
  model_not_streamed: {
    status: 503,
    title: "The configured address does not lead to a model API",
    cause:
      "The model's address returns a web page or another document, for example because of a wrong path, a proxy or a login page.",
    fix: "Correct ANTHROPIC_BASE_URL, or the baseUrl of the named provider. steward retries meanwhile.",
  },
  answer_too_slow: {
    status: 502,
    title: "The answer took too long",
    cause: "The answer, including its tool calls, took longer than agent.timeout.",
    fix: "Ask for less in one message, or raise agent.timeout.",
  },
  first_word_late: {
    status: 503,
    title: "People have been waiting for a reply for more than a minute",
    cause: "A message has received neither an answer nor a notice for more than a minute.",
    fix: "Look for the cause on the admin pages Models and Events: either a platform refused the notice, or the service was down.",
  },
  model_quota_exhausted: {
    status: 502,
    title: "The model provider's account has no credit left",
    cause: "The account has no credit left, or its spending limit has been reached.",
    fix: "Add credit or raise the limit in the provider's console.",
  },
  model_context_exceeded: {
    status: 502,
    title: "Too long for the model",
    cause: "The message exceeds the model's context, even without the conversation's history.",
    fix: "Send a shorter message, or use a model with a larger context (models.primary, models.contextTokens).",
  },
  model_failed: {
    status: 502,
    title: "The model gave no answer",
    cause: "The model provider refused the request or cut its answer short.",
    fix: "Read the gateway's log for the provider's own message.",
  },
} as const satisfies Record<string, ErrorText>;
