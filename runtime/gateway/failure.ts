import { StewardError, type ErrorCode } from "../contract/errors.ts";

export interface RetryOptions extends ErrorOptions {
  /** HTTP status: 429 if a rate limit is reached, else 503. */
  status?: 429 | 503;
  /** Milliseconds to wait before the retry. */
  retryAfterMs?: number;
}

/** A temporary failure, after which the edge retries the delivery. */
export class RetryableError extends StewardError {
  readonly status: 429 | 503;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, detail: string, options: RetryOptions = {}) {
    super(code, detail, options);
    this.name = "RetryableError";
    this.status = options.status ?? 503;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * A permanent failure. `reply_refused`: the platform refuses the message in this chat. `edit_refused`: the platform
 * no longer allows editing the message.
 */
export class RefusedError extends StewardError {
  /** True if the person has blocked the bot, or the bot has been removed from the group. */
  readonly gone: boolean;

  constructor(
    code: "reply_refused" | "edit_refused",
    detail: string,
    options: ErrorOptions & { gone?: boolean } = {},
  ) {
    super(code, detail, options);
    this.name = "RefusedError";
    this.gone = options.gone ?? false;
  }
}

/** Texts for the broker's permanent refusals, by error code. Other refusals are temporary. */
const BROKER_REFUSES: Readonly<Record<string, string>> = {
  broker_other_chat: "this gateway serves only its own chat",
  body_too_large: "the request is too large",
};

/** Returns the error for a permanent refusal by the broker; `undefined` if a retry may help. */
export function readBrokerRefusal(code: unknown, cause: unknown): RefusedError | undefined {
  const why = BROKER_REFUSES[String(code)];
  if (why === undefined) return undefined;
  return new RefusedError("reply_refused", `The broker refuses the request: ${why}.`, { cause });
}
