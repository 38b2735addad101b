import { retryAfterMs } from "../../shared/retry-after.ts";
import { parseJson } from "../../shared/json.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import { PROBLEM_TYPE } from "../../contract/problem.ts";
import type { Redactor } from "../../shared/redact.ts";
import { RetryableError } from "../failure.ts";
import { ModelRefusal, ModelTrouble } from "./model.ts";

/** A provider's error: by HTTP status, or inside a stream that had begun. */
export interface ProviderError {
  message: string;
  statusCode?: number;
  headers?: Record<string, string>;
  /** Anthropic's `error.type`, OpenAI's `error.code` and `error.type`. */
  kinds: readonly string[];
}

/** Dependencies of reading an error. */
export interface ReadingOptions {
  /** `<provider>/<model id>`: the report names it. */
  reference: string;
  /** Milliseconds since the epoch. */
  now: number;
  redact: Redactor;
}

const LONGEST_DETAIL = 300;
/** Of a message that may be of any length; what is behind is not shown. */
const LONGEST_READ = 4_000;
const TOO_LONG =
  /prompt is too long|exceeds? the (?:maximum|context)|maximum context|context (?:window|length|limit)/i;
const NO_CREDIT = /credit balance is too low|exceeded your current quota|insufficient (?:credits|quota)/i;
/** A key that a provider quotes in part: OpenAI shows its beginning, asterisks, and its end. */
const QUOTED_KEYS = [
  /(?<!\S)\S*\*{3,}[\w*-]*/g,
  /\b(?:sk|pk|key)-[\w-]{4,}/gi,
  /(?<=api[ _-]?key provided: )\S+/gi,
];
/** Inside a stream there is no status, but a kind that corresponds to one. */
const STATUS_OF: Record<string, number> = {
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
  invalid_request_error: 400,
};

/**
 * Returns what an error means for the question it answers. Statuses and bodies:
 * https://docs.claude.com/en/api/errors, https://platform.openai.com/docs/guides/error-codes
 */
export function readProviderError(error: unknown, options: ReadingOptions): Error {
  if (error instanceof RetryableError || error instanceof ModelRefusal) return error;
  return providerFailure(shapeOf(error), options, error);
}

/** As {@link readProviderError}, for an error whose parts are known. `cause` is for the log alone. */
export function providerFailure(
  { message, statusCode, headers, kinds }: ProviderError,
  { reference, now, redact }: ReadingOptions,
  cause?: unknown,
): RetryableError | ModelRefusal {
  const status = statusCode ?? kinds.map((kind) => STATUS_OF[kind]).find((known) => known !== undefined);
  const detail = `${reference}: ${clean(message, redact)}`;
  const refusal = (code: ErrorCode, tooLong = false) => new ModelRefusal(code, detail, { cause, tooLong });
  const wait = retryAfterMs(headers?.["retry-after"], now);
  const waiting = { cause, ...(wait !== undefined && { retryAfterMs: wait }) };

  if (kinds.includes("context_length_exceeded") || status === 413)
    return refusal("model_context_exceeded", true);
  if (status === 402 || kinds.includes("insufficient_quota") || kinds.includes("billing_error")) {
    return refusal("model_quota_exhausted");
  }
  // Providers do not write such documents: it is from the broker, which could not ask.
  const isBrokers = headers?.["content-type"]?.startsWith(PROBLEM_TYPE) === true;
  if (status === undefined || isBrokers)
    return new ModelTrouble("model_no_answer", detail, { cause, quick: true });
  if (status === 401 || status === 403) return refusal("model_key_invalid");
  if (status === 404) return refusal("model_not_available");
  if (status === 429) return new ModelTrouble("model_rate_limited", detail, { ...waiting, status: 429 });
  if (status >= 500 || status === 408 || status === 409) {
    return new ModelTrouble("model_overloaded", `${detail} (${status})`, { ...waiting, quick: true });
  }
  if (NO_CREDIT.test(message)) return refusal("model_quota_exhausted");
  return TOO_LONG.test(message) ? refusal("model_context_exceeded", true) : refusal("model_failed");
}

/** A provider's words, without what may be a key, short enough for a chat. */
function clean(message: string, redact: Redactor): string {
  const masked = QUOTED_KEYS.reduce(
    (text, form) => text.replace(form, "[redacted]"),
    redact(message.slice(0, LONGEST_READ)),
  );
  return masked.length <= LONGEST_DETAIL ? masked : `${masked.slice(0, LONGEST_DETAIL - 1)}…`;
}

/** Read by shape, not by class: the classes live in a library that is loaded on first use only. */
function shapeOf(error: unknown): ProviderError {
  if (!isRecord(error)) return { message: typeof error === "string" ? error : "unknown error", kinds: [] };
  const { message, statusCode, responseHeaders, responseBody } = error;
  const body = typeof responseBody === "string" ? parseJson(responseBody) : error;
  return {
    message: typeof message === "string" && message !== "" ? message : "unknown error",
    ...(typeof statusCode === "number" && { statusCode }),
    ...(isRecord(responseHeaders) && { headers: responseHeaders as Record<string, string> }),
    kinds: errorKinds(body),
  };
}

/** The kinds that a provider's error body names, in its own form or as the library hands it on. */
export function errorKinds(body: unknown): string[] {
  if (!isRecord(body)) return [];
  const inner = isRecord(body["error"]) ? body["error"] : isRecord(body["data"]) ? body["data"] : body;
  const nested = isRecord(inner["error"]) ? inner["error"] : inner;
  return [inner["code"], inner["type"], nested["code"], nested["type"]].filter(
    (kind): kind is string => typeof kind === "string",
  );
}

/** Tells whether a value is an object, whose fields can then be looked at. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
