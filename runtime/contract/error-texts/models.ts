import type { ErrorText } from "./error-text.ts";

/** Failures of model providers. */
export const MODELS_ERRORS = {
  model_key_invalid: {
    status: 502,
    title: "Invalid API key provided",
    cause: "The model provider refuses the API key (ANTHROPIC_API_KEY, or that of models.providers).",
    fix: "Correct ANTHROPIC_API_KEY, or the key of the provider that is named, and deploy again.",
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
    fix: "Use a model of the account's tier (models.primary), or upgrade.",
  },
  model_overloaded: {
    status: 503,
    title: "The model provider is overloaded",
    cause: "The model provider answered with a server error.",
    fix: "Nothing: the message is kept and tried again.",
  },
  model_no_answer: {
    status: 503,
    title: "The model provider does not answer",
    cause: "The model provider is out of reach, or took too long.",
    fix: "Nothing: the message is kept and tried again. If it stays, check the network and the provider's address.",
  },
  model_quota_exhausted: {
    status: 502,
    title: "The account with the model provider is used up",
    cause: "The account has no credit left, or its spending limit is reached.",
    fix: "Add credit or raise the limit in the provider's console.",
  },
  model_context_exceeded: {
    status: 502,
    title: "Too long for the model",
    cause: "The question is longer than the model reads, with nothing left to leave out.",
    fix: "Send a shorter message, or use a model that reads more (models.primary, models.contextTokens).",
  },
  model_failed: {
    status: 502,
    title: "The model gave no answer",
    cause: "The model provider refused the request or cut its answer short.",
    fix: "Read the gateway's log for the provider's own message.",
  },
} as const satisfies Record<string, ErrorText>;
