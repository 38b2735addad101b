import { RetryableError, retryAfterMs } from "../failure.ts";
import { ModelRefusal } from "./model.ts";

/** The provider's error as the `ai` library hands it on: by HTTP status or inside the stream. */
interface ProviderError {
  message: string;
  statusCode?: number;
  responseHeaders?: Record<string, string>;
}

const TOO_LONG = /prompt is too long|exceeds? the (?:maximum|context)|context (?:window|length|limit)/i;
const LONGEST_DETAIL = 300;

/**
 * What an error of Anthropic's Messages API means for a delivery.
 * Statuses: https://docs.claude.com/en/api/errors
 */
export function readAnthropicError(error: unknown, model: string, now: number): Error {
  if (error instanceof RetryableError || error instanceof ModelRefusal) return error;
  const { message, statusCode, responseHeaders } = providerError(error);
  const detail = message.slice(0, LONGEST_DETAIL);
  const options = { cause: error };
  if (statusCode === undefined) {
    return new RetryableError("model_overloaded", `No answer from the model provider: ${detail}`, options);
  }
  if (statusCode === 401 || statusCode === 403) return new ModelRefusal("model_key_invalid", detail, options);
  if (statusCode === 404) {
    return new ModelRefusal("model_not_available", `${model}: ${detail}`, options);
  }
  if (statusCode === 429) {
    const wait = retryAfterMs(responseHeaders?.["retry-after"], now);
    return new RetryableError("model_rate_limited", `Rate limit exceeded: ${detail}`, {
      ...options,
      status: 429,
      ...(wait !== undefined && { retryAfterMs: wait }),
    });
  }
  if (statusCode >= 500 || statusCode === 408 || statusCode === 409) {
    return new RetryableError("model_overloaded", `${statusCode}: ${detail}`, options);
  }
  const tooLong = statusCode === 413 || TOO_LONG.test(message);
  return new ModelRefusal("model_failed", detail, { ...options, tooLong });
}

/** Read by shape, not by class: the classes live in a library that is loaded on first use only. */
function providerError(error: unknown): ProviderError {
  if (!(error instanceof Error)) return { message: "unknown error" };
  const status = "statusCode" in error ? error.statusCode : undefined;
  const headers = "responseHeaders" in error ? error.responseHeaders : undefined;
  return {
    message: error.message,
    ...(typeof status === "number" && { statusCode: status }),
    ...(isHeaders(headers) && { responseHeaders: headers }),
  };
}

function isHeaders(value: unknown): value is Record<string, string> {
  return typeof value === "object" && value !== null;
}
