import { StewardError } from "../../../contract/errors.ts";
import { TelegramError } from "../../../process/telegram/api.ts";
import { RefusedError, RetryableError } from "../../failure.ts";

/** What a failed call means to the one who wanted to say something. */
export function readTelegramError(error: TelegramError): RetryableError | RefusedError {
  const options = { cause: error };
  const { status, message, retryAfterMs } = error;
  if (error.tokenRefused) {
    return new RetryableError(
      "telegram_token_invalid",
      `Telegram refuses the bot token: ${message}.`,
      options,
    );
  }
  if (status === 429) {
    return new RetryableError("channel_failed", "Telegram's rate limit is reached.", {
      ...options,
      status: 429,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  // The chat takes nothing of the bot, or not this text: the same request would be refused again.
  if (status === 403 || status === 400) {
    return new RefusedError("reply_refused", `Telegram does not take the reply: ${message}.`, options);
  }
  const code = status === 0 || status >= 500 ? "telegram_unreachable" : "channel_failed";
  return new RetryableError(code, `Telegram did not take the request: ${message}.`, options);
}

/** Why an edit failed. Where Telegram does not take it, the text may still go out as a message of its own. */
export function readEditError(error: unknown): unknown {
  if (!(error instanceof TelegramError) || error.status !== 400) return error;
  return new RefusedError("edit_refused", `Telegram does not take the edit: ${error.message}.`, {
    cause: error,
  });
}

/** Why a file cannot be had; a RetryableError only where another attempt may help. */
export function readFileError(error: unknown, maxBytes: number): unknown {
  if (error instanceof RangeError) {
    return new StewardError("channel_failed", `The file is larger than ${maxBytes} bytes.`, { cause: error });
  }
  if (!(error instanceof TelegramError)) return error;
  // For example "file is too big": Telegram gives bots 20 MB at most.
  if (error.status !== 400) return readTelegramError(error);
  return new StewardError("channel_failed", `Telegram does not give the file: ${error.message}.`, {
    cause: error,
  });
}
