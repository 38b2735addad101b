import { StewardError, type ErrorCode } from "../contract/errors.ts";

/** Details of a failure that may pass. */
export interface RetryOptions extends ErrorOptions {
  /** 429 where the other side asked for patience, else 503. */
  status?: 429 | 503;
  /** Milliseconds that the other side asked to wait. */
  retryAfterMs?: number;
}

/**
 * A failure that may pass without action: the delivery stays with the edge, which retries it. Nothing
 * is said in the chat.
 */
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
 * Failure that another attempt would not mend: `reply_refused` where the platform does not take this for this chat,
 * `edit_refused` where it does not let this message be edited any more.
 */
export class RefusedError extends StewardError {
  /** Nobody is there to read it: the person has blocked the bot, or the group has removed it. */
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

/** Refusals of the broker that another attempt cannot change. Others pass, such as a pass from before a restart. */
const BROKER_REFUSES: Readonly<Record<string, string>> = {
  broker_other_chat: "this gateway does not serve another chat",
  body_too_large: "the request is too large",
};

/** Returns the failure that a code of the broker's stands for; `undefined` if another attempt may help. */
export function readBrokerRefusal(code: unknown, cause: unknown): RefusedError | undefined {
  const why = BROKER_REFUSES[String(code)];
  if (why === undefined) return undefined;
  return new RefusedError("reply_refused", `The broker refuses the request: ${why}.`, { cause });
}
