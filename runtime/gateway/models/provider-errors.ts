import { retryAfterMs } from "../../shared/retry-after.ts";
import { isRecord, parseJson } from "../../shared/json.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import { PROBLEM_TYPE } from "../../contract/problem.ts";
import type { Redactor } from "../../shared/redact.ts";
import { RetryableError } from "../failure.ts";
import { NoStreamError } from "./event-stream.ts";
import { ModelRefusal, ModelTrouble } from "./model.ts";

export interface ProviderError {
  message: string;
  statusCode?: number;
  headers?: Record<string, string>;
  /** Anthropic's `error.type`, or OpenAI's `error.code` and `error.type`. */
  kinds: readonly string[];
}

export interface ReadingOptions {
  /** `<provider>/<model id>`, for the report. */
  reference: string;
  /** Milliseconds since the epoch. */
  now: number;
  redact: Redactor;
}

const LONGEST_DETAIL = 300;
/** Number of characters of an error message that are processed. The rest is ignored. */
const LONGEST_READ = 4_000;
const TOO_LONG =
  /prompt is too long|exceeds? the (?:maximum|context)|maximum context|context (?:window|length|limit)/i;
const NO_CREDIT = /credit balance is too low|exceeded your current quota|insufficient (?:credits|quota)/i;
/** Matches API keys quoted in error messages. OpenAI masks the middle with asterisks. */
const QUOTED_KEYS = [
  /(?<!\S)\S*\*{3,}[\w*-]*/g,
  /\b(?:sk|pk|key)-[\w-]{4,}/gi,
  /(?<=api[ _-]?key provided: )\S+/gi,
];
/** HTTP status by kind of error, for errors inside a stream, which have no status. */
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
 * Classifies an error of a provider or its client library as retryable or permanent. Statuses and bodies:
 * https://docs.claude.com/en/api/errors, https://platform.openai.com/docs/guides/error-codes
 */
export function readProviderError(error: unknown, options: ReadingOptions): Error {
  if (error instanceof RetryableError || error instanceof ModelRefusal) return error;
  const noStream = causesOf(error).find((one) => one instanceof NoStreamError);
  if (noStream !== undefined) return notStreamed(noStream, options);
  const failure = providerFailure(shapeOf(error), options, error);
  // An error other than AI_APICallError means that the stream broke. Its message concerns only the client library, so
  // replace it.
  const isCut = failure.code === "model_no_answer" && isRecord(error) && error["name"] !== "AI_APICallError";
  return isCut ? answerInterruptedError(options.reference, { cause: error }) : failure;
}

/** `how` is the provider's finish reason. */
export function answerInterruptedError(
  reference: string,
  { how, cause }: { how?: string; cause?: unknown } = {},
): ModelTrouble {
  const detail = `${reference}: the model's answer broke off${how === undefined ? "" : ` (${how})`}.`;
  return new ModelTrouble("model_broke_off", detail, { cause, quick: true });
}

/** Classifies a response that is not a stream: a JSON error by its kind, any other body as `model_not_streamed`. */
function notStreamed({ message, body }: NoStreamError, options: ReadingOptions): Error {
  const kinds = errorKinds(body);
  if (isRecord(body) && kinds.length > 0)
    return providerFailure({ ...shapeOf(body["error"] ?? body), kinds }, options);
  const detail = `${options.reference}: ${message}.`;
  return new ModelTrouble("model_not_streamed", detail, { quick: true });
}

/** Returns an error and all its causes, since the client library wraps errors that occur while it reads. */
function causesOf(error: unknown): unknown[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [error];
}

/**
 * Classifies an error by its HTTP status, error codes and message.
 *
 * @param cause Original error, kept only for the log.
 */
export function providerFailure(
  { message, statusCode, headers, kinds }: ProviderError,
  { reference, now, redact }: ReadingOptions,
  cause?: unknown,
): RetryableError | ModelRefusal {
  // After a success status, an error comes from inside the stream, so derive the status from the error's kind.
  const answered = statusCode !== undefined && statusCode >= 400 ? statusCode : undefined;
  const status = answered ?? kinds.map(statusOfKind).find((known) => known !== undefined);
  const detail = `${reference}: ${clean(message, redact)}`;
  const refusal = (code: ErrorCode, tooLong = false) => new ModelRefusal(code, detail, { cause, tooLong });
  const wait = retryAfterMs(headers?.["retry-after"], now);
  const waiting = { cause, ...(wait !== undefined && { retryAfterMs: wait }) };

  if (kinds.includes("context_length_exceeded") || status === 413)
    return refusal("model_context_exceeded", true);
  if (status === 402 || kinds.includes("insufficient_quota") || kinds.includes("billing_error")) {
    return refusal("model_quota_exhausted");
  }
  // Only the broker sends this content type. It means that the broker could not reach the provider.
  const isBrokers = headers?.["content-type"]?.startsWith(PROBLEM_TYPE) === true;
  if (status === undefined && statusCode !== undefined) return answerInterruptedError(reference, { cause });
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

/**
 * Returns the HTTP status for a kind of error. Some servers use a status as the kind
 * (https://openrouter.ai/docs/api-reference/errors).
 */
function statusOfKind(kind: string): number | undefined {
  return STATUS_OF[kind] ?? (/^[45]\d\d$/.test(kind) ? Number(kind) : undefined);
}

/** Removes possible keys and limits the length. */
function clean(message: string, redact: Redactor): string {
  const masked = QUOTED_KEYS.reduce(
    (text, form) => text.replace(form, "[redacted]"),
    redact(message.slice(0, LONGEST_READ)),
  );
  return masked.length <= LONGEST_DETAIL ? masked : `${masked.slice(0, LONGEST_DETAIL - 1)}…`;
}

/** Reads an error by its fields, because importing its class would load the client library. */
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

/** Returns the codes and types in a provider's error body, or in the client library's copy of it. */
export function errorKinds(body: unknown): string[] {
  if (!isRecord(body)) return [];
  const inner = isRecord(body["error"]) ? body["error"] : isRecord(body["data"]) ? body["data"] : body;
  const nested = isRecord(inner["error"]) ? inner["error"] : inner;
  return [inner["code"], inner["type"], nested["code"], nested["type"]].flatMap((kind) =>
    typeof kind === "string" || typeof kind === "number" ? [String(kind)] : [],
  );
}

/** Returns `error.message`, which Anthropic and OpenAI share. */
export function messageOf(body: unknown): string | undefined {
  if (!isRecord(body) || !isRecord(body["error"])) return undefined;
  const { message } = body["error"];
  return typeof message === "string" ? message : undefined;
}
