import type { SlackAPIClient } from "slack-web-api-client";
import type { ReplyTarget } from "../channel.ts";
import { readSlackError } from "./errors.ts";
import { writeMrkdwn } from "./mrkdwn.ts";

/**
 * Slack answers a post within a second or two; a hung connection must not hold the conversation for
 * ever. Long, since the client cannot call a post back: one that Slack takes even later is repeated.
 */
const TIMEOUT_MS = 60_000;
/** How to reach Slack. */
export interface SlackOutboundOptions {
  botToken: string;
  /** Ends in `/api/`; empty for Slack's own. */
  apiUrl: string;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** What goes out to Slack. Rejects with a RetryableError or a RefusedError. */
export interface SlackSender {
  /** Posts a message and gives its `ts`: https://docs.slack.dev/reference/methods/chat.postMessage */
  post(target: ReplyTarget, text: string): Promise<string | undefined>;
  /** Replaces a message's text: https://docs.slack.dev/reference/methods/chat.update */
  update(target: ReplyTarget, ts: string, text: string): Promise<void>;
}

/** A sender over Slack's Web API. */
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
  const call = async <T>(work: (chat: SlackAPIClient["chat"]) => Promise<T>): Promise<T> => {
    client ??= load();
    const { chat } = await client;
    try {
      return await within(TIMEOUT_MS, work(chat));
    } catch (error) {
      throw readSlackError(error, clock());
    }
  };
  return {
    async post({ chat: channel, thread }, text) {
      const message = {
        channel,
        text: writeMrkdwn(text),
        ...(thread !== undefined && { thread_ts: thread }),
      };
      const { ts } = await call(({ postMessage }) => postMessage(message));
      return ts;
    },
    async update({ chat: channel }, ts, text) {
      await call(({ update }) => update({ channel, ts, text: writeMrkdwn(text) }));
    },
  };
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
