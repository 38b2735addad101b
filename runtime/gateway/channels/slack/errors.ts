import { RefusedError, RetryableError, retryAfterMs } from "../../failure.ts";

/** Errors that mean that the token itself is of no use any more. */
const TOKEN_ERRORS = new Set(["token_expired", "invalid_auth", "account_inactive", "token_revoked"]);

/** Errors after which this chat takes nothing, today or tomorrow: https://docs.slack.dev/reference/methods/chat.postMessage#errors */
const CHAT_REFUSES: Record<string, string> = {
  channel_not_found: "the channel does not exist, or the bot may not see it",
  not_in_channel: "the bot is not in the channel: /invite it",
  is_archived: "the channel is archived",
  msg_too_long: "the message is too long",
  no_text: "the message is empty",
  restricted_action: "a setting of the workspace forbids it",
  restricted_action_read_only_channel: "the channel is read-only",
  restricted_action_thread_only_channel: "the channel takes answers in threads only",
  restricted_action_non_threadable_channel: "the channel has no threads",
  restricted_action_thread_locked: "the thread is locked",
  messages_tab_disabled: "the app's messages tab is switched off",
  cannot_reply_to_message: "the message takes no answer",
  user_not_found: "the person is not in the workspace",
};
/** https://docs.slack.dev/reference/methods/chat.update#errors */
const EDIT_REFUSED = new Set(["message_not_found", "cant_update_message", "edit_window_closed"]);

/** What an error of the Web API means. Read by shape: its classes are loaded on first use only. */
export function readSlackError(error: unknown, now: number): RetryableError | RefusedError {
  const options = { cause: error };
  if (!(error instanceof Error)) return new RetryableError("channel_failed", "Slack: unknown error", options);
  const code = "error" in error ? String(error.error) : "";
  if (TOKEN_ERRORS.has(code)) {
    return new RetryableError("slack_token_expired", `Slack refuses the bot token: ${code}.`, options);
  }
  const refused = CHAT_REFUSES[code];
  if (refused !== undefined) {
    return new RefusedError("reply_refused", `Slack does not take the reply: ${refused} (${code}).`, options);
  }
  if (EDIT_REFUSED.has(code)) {
    return new RefusedError("edit_refused", `Slack does not take the edit: ${code}.`, options);
  }
  const status = "status" in error ? Number(error.status) : 0;
  if (status === 429 || code === "ratelimited" || code === "rate_limited") {
    const wait = retryAfterMs(headersOf(error)?.get("retry-after"), now);
    return new RetryableError("channel_failed", "Slack's rate limit is reached.", {
      ...options,
      status: 429,
      ...(wait !== undefined && { retryAfterMs: wait }),
    });
  }
  const what = code || (status > 0 ? `HTTP ${status}` : "no answer");
  return new RetryableError("channel_failed", `Slack did not take the reply: ${what}.`, options);
}

function headersOf(error: Error): Headers | undefined {
  return "headers" in error && error.headers instanceof Headers ? error.headers : undefined;
}
