import type { SlackAPIClient } from "slack-web-api-client";
import * as z from "zod/mini";
import type { ReplyTarget } from "../channel.ts";
import { readSlackError } from "./errors.ts";
import { writeMrkdwn } from "./mrkdwn.ts";

/**
 * Slack answers a post within a second or two; a hung connection must not hold the conversation for
 * ever. Long, since the client cannot call a post back: one that Slack takes even later is repeated.
 */
const TIMEOUT_MS = 60_000;
const authSchema = z.object({ ok: z.boolean(), error: z.optional(z.string()) });

/** How to reach Slack. */
export interface SlackOutboundOptions {
  botToken: string;
  /** Without a slash at the end. */
  apiUrl: string;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** What goes out to Slack. Rejects with a RetryableError or a RefusedError. */
export interface SlackSender {
  /** Asks whether the token is taken: https://docs.slack.dev/reference/methods/auth.test */
  test(): Promise<void>;
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
      baseUrl: `${apiUrl}/`,
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
    // Without the client, which takes its time and memory to load: it may never be needed.
    async test() {
      const answer = await askAuth(botToken, apiUrl).catch((error: unknown) => {
        throw readSlackError(error, clock());
      });
      if (!answer.ok) throw readSlackError(Object.assign(new Error("auth.test"), answer), clock());
    },
    async post({ chat: channel, thread }, text) {
      const message = {
        channel,
        text: writeMrkdwn(text),
        // A preview is fetched without a click, and its address may carry what was said here.
        unfurl_links: false,
        unfurl_media: false,
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

async function askAuth(botToken: string, apiUrl: string): Promise<z.infer<typeof authSchema>> {
  const response = await fetch(`${apiUrl}/auth.test`, {
    method: "POST",
    headers: { authorization: `Bearer ${botToken}` },
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) {
    const { status, headers } = response;
    throw Object.assign(new Error(`HTTP ${status}`), { status, headers });
  }
  return authSchema.parse(await response.json());
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
