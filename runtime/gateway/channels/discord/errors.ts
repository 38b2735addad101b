import { RefusedError, RetryableError } from "../../failure.ts";
import type { DiscordError } from "./api.ts";

/**
 * Codes after which this chat takes nothing, today or tomorrow:
 * https://docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes
 */
const CHAT_REFUSES: Record<number, string> = {
  10003: "the channel does not exist any more",
  10004: "the server does not exist any more",
  30033: "the thread is full",
  40333: "the request was blocked",
  50001: "the bot may not see the channel",
  50007: "the person takes no messages from the bot",
  50008: "the channel takes no messages",
  50013: "the bot may not write in the channel",
  50035: "the message is not valid",
  50083: "the thread is archived",
  50278: "the person shares no server with the bot",
};
/** Unknown message, another author's, and one that is too old to be edited so often. */
const EDIT_REFUSED = new Set([10008, 30046, 50005]);

/** What a failed request means to the one who wanted to say something. */
export function readDiscordError(error: DiscordError): RetryableError | RefusedError {
  const { status, code, message, retryAfterMs } = error;
  const options = { cause: error };
  if (status === 401) {
    return new RetryableError("discord_token_invalid", `Discord refuses the bot token: ${message}.`, options);
  }
  if (status === 429) {
    return new RetryableError("channel_failed", "Discord's rate limit is reached.", {
      ...options,
      status: 429,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  const refused = CHAT_REFUSES[code];
  if (refused !== undefined) {
    return new RefusedError(
      "reply_refused",
      `Discord does not take the reply: ${refused} (${code}).`,
      options,
    );
  }
  if (EDIT_REFUSED.has(code)) {
    return new RefusedError("edit_refused", `Discord does not take the edit: ${message} (${code}).`, options);
  }
  return new RetryableError("channel_failed", `Discord did not take the request: ${message}.`, options);
}
