import { StewardError } from "../../../contract/errors.ts";
import { TelegramError } from "../../../process/telegram/api.ts";
import { RefusedError, RetryableError } from "../../failure.ts";

/** Why a chat takes nothing of the bot, in the words that Telegram uses with 400; with 403 it always is so. */
const CHAT_REFUSES =
  /chat not found|thread not found|topic_closed|topic_deleted|chat_write_forbidden|not enough rights|no rights to send|peer_id_invalid|user is deactivated|need administrator rights|chat_restricted/i;
const EDIT_REFUSED = /can't be edited|message to edit not found|message_id_invalid|message identifier/i;

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
  if (status === 403 || (status === 400 && CHAT_REFUSES.test(message))) {
    return new RefusedError("reply_refused", `Telegram does not take the reply: ${message}.`, options);
  }
  if (status === 400 && EDIT_REFUSED.test(message)) {
    return new RefusedError("edit_refused", `Telegram does not take the edit: ${message}.`, options);
  }
  const code = status === 0 || status >= 500 ? "telegram_unreachable" : "channel_failed";
  return new RetryableError(code, `Telegram did not take the request: ${message}.`, options);
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
