import type { SlackAPIClient } from "slack-web-api-client";
import { RetryableError, retryAfterMs } from "../../failure.ts";
import type { ReplyTarget } from "../channel.ts";
import { writeSlackText } from "./text.ts";

/**
 * Slack answers a post within a second or two; a hung connection must not hold the conversation for
 * ever. Long, since the client cannot call a post back: one that Slack takes even later is repeated.
 */
const TIMEOUT_MS = 60_000;
/** Errors that mean that the token itself is of no use any more. */
const TOKEN_ERRORS = new Set(["token_expired", "invalid_auth", "account_inactive", "token_revoked"]);

/** How to reach Slack. */
export interface SlackOutboundOptions {
  botToken: string;
  /** Ends in `/api/`; empty for Slack's own. */
  apiUrl: string;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Posts one message. */
export type SlackSender = (target: ReplyTarget, text: string) => Promise<void>;

/** A sender over Slack's Web API (https://docs.slack.dev/reference/methods/chat.postMessage). */
export function createSlackSender({ botToken, apiUrl, clock }: SlackOutboundOptions): SlackSender {
  let client: Promise<SlackAPIClient> | undefined;
  const load = async (): Promise<SlackAPIClient> => {
    const { SlackAPIClient } = await import("./client.ts");
    // No retries of its own: it would sleep through Slack's Retry-After with the delivery in hand.
    return new SlackAPIClient(botToken, {
      logLevel: "ERROR",
      retryHandlers: [],
      ...(apiUrl !== "" && { baseUrl: apiUrl }),
    });
  };
  return async ({ chat, thread }, text) => {
    client ??= load();
    const { postMessage } = (await client).chat;
    const post = postMessage({
      channel: chat,
      text: writeSlackText(text),
      ...(thread !== undefined && { thread_ts: thread }),
    });
    try {
      await within(TIMEOUT_MS, post);
    } catch (error) {
      throw readSlackError(error, clock());
    }
  };
}

/** What an error of the Web API means. Read by shape: its classes are loaded on first use only. */
function readSlackError(error: unknown, now: number): RetryableError {
  const options = { cause: error };
  if (!(error instanceof Error)) return new RetryableError("channel_failed", "Slack: unknown error", options);
  const code = "error" in error ? String(error.error) : undefined;
  if (code !== undefined && TOKEN_ERRORS.has(code)) {
    return new RetryableError("slack_token_expired", `Slack refuses the bot token: ${code}.`, options);
  }
  const status = "status" in error ? Number(error.status) : undefined;
  if (status === 429 || code === "ratelimited") {
    const header = "headers" in error && error.headers instanceof Headers ? error.headers : undefined;
    const wait = retryAfterMs(header?.get("retry-after"), now);
    return new RetryableError("channel_failed", "Slack's rate limit is reached.", {
      ...options,
      status: 429,
      ...(wait !== undefined && { retryAfterMs: wait }),
    });
  }
  const what = code ?? (status !== undefined && status > 0 ? `HTTP ${status}` : "no answer");
  return new RetryableError("channel_failed", `Slack did not take the reply: ${what}.`, options);
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("timeout")), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
