import type { BotAccount } from "../../../contract/control.ts";
import type { NameKind } from "../../../contract/delivery.ts";
import type { ButtonPress, ReplyTarget } from "../../../contract/message.ts";
import { retryAfterMs } from "../../../shared/retry-after.ts";
import { withTimeout } from "../../../shared/timeout.ts";
import type { SlackAPIClient } from "slack-web-api-client";
import * as z from "zod/mini";
import { isRecord, parseJson } from "../../../shared/json.ts";
import { readBrokerRefusal, RefusedError, RetryableError } from "../../failure.ts";
import type { Button } from "../../actions.ts";
import { maybe } from "../../../shared/maybe.ts";
import type { OutgoingFile } from "../channel.ts";
import { writeMrkdwn } from "./mrkdwn.ts";

const TOKEN_ERRORS = new Set(["token_expired", "invalid_auth", "account_inactive", "token_revoked"]);

/**
 * Explanations for permanent refusals of a message, by error code:
 * https://docs.slack.dev/reference/methods/chat.postMessage#errors
 */
const CHAT_REFUSES: Record<string, string> = {
  channel_not_found: "the channel does not exist, or the bot may not see it",
  not_in_channel: "the bot is not in the channel: /invite it",
  is_archived: "the channel is archived",
  msg_too_long: "the message is too long",
  no_text: "the message is empty",
  restricted_action: "a setting of the workspace forbids it",
  restricted_action_read_only_channel: "the channel is read-only",
  restricted_action_thread_only_channel: "the channel accepts only replies in threads",
  restricted_action_non_threadable_channel: "the channel has no threads",
  restricted_action_thread_locked: "the thread is locked",
  messages_tab_disabled: "the app's messages tab is switched off",
  cannot_reply_to_message: "the message accepts no replies",
  user_not_found: "the person is not in the workspace",
};
/** Error codes for a chat that does not exist, was archived, or excludes the bot. */
const GONE: ReadonlySet<string> = new Set([
  "channel_not_found",
  "not_in_channel",
  "is_archived",
  "user_not_found",
]);
/** Temporary failures inside Slack: https://docs.slack.dev/reference/methods/chat.update#errors */
const PASSING: ReadonlySet<string> = new Set([
  "fatal_error",
  "internal_error",
  "request_timeout",
  "service_unavailable",
]);

/**
 * Timeout per request, in milliseconds. It is long, because a post that Slack accepts after the timeout is sent
 * twice.
 */
const TIMEOUT_MS = 60_000;
/** Large files take longer on slow connections. */
const UPLOAD_TIMEOUT_MS = 120_000;
const FILES_ORIGIN = "https://files.slack.com";
/** Upload limit in bytes: https://docs.slack.dev/messaging/working-with-files */
export const LARGEST_FILE = 1_000_000_000;
/** A late status or name is useless. */
const STATUS_TIMEOUT_MS = 5_000;
const answerSchema = z.object({
  ok: z.boolean(),
  error: z.optional(z.string()),
  /** A name in `auth.test`, else https://docs.slack.dev/reference/objects/user-object */
  user: maybe(
    z.union([
      z.string(),
      z.object({
        name: maybe(z.string()),
        profile: maybe(z.object({ display_name: maybe(z.string()), real_name: maybe(z.string()) })),
      }),
    ]),
  ),
  user_id: maybe(z.string()),
  /** https://docs.slack.dev/reference/objects/conversation-object */
  channel: maybe(z.object({ name: maybe(z.string()) })),
});

interface SlackOutboundOptions {
  botToken: string;
  /** Without a trailing slash. */
  apiUrl: string;
  /** Slack's own URL, even if `apiUrl` is the broker's. */
  directUrl: string;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Sends to Slack. Methods reject with a RetryableError or a RefusedError. */
interface SlackSender {
  /** https://docs.slack.dev/reference/methods/auth.test */
  test(): Promise<BotAccount>;
  /**
   * Requests the name of a person or channel; `undefined` if there is none. Rejects if Slack refuses, for example
   * because the app lacks a scope.
   */
  nameOf(kind: NameKind, id: string): Promise<string | undefined>;
  /** Shows the typing status in a thread: https://docs.slack.dev/reference/methods/assistant.threads.setStatus */
  showStatus(target: ReplyTarget): Promise<void>;
  /** Posts a message and returns its `ts`: https://docs.slack.dev/reference/methods/chat.postMessage */
  post(target: ReplyTarget, text: string, buttons?: readonly Button[]): Promise<string | undefined>;
  /** https://docs.slack.dev/reference/methods/reactions.add */
  react(target: ReplyTarget, message: string, name: string): Promise<void>;
  /**
   * Replaces the buttons with `word` if `done`. Otherwise sends `word` privately to the person who pressed the
   * button: https://docs.slack.dev/reference/methods/chat.postEphemeral
   */
  answerPress(press: ButtonPress, word: string, done: boolean): Promise<void>;
  /** https://docs.slack.dev/reference/methods/chat.update */
  update(target: ReplyTarget, ts: string, text: string): Promise<void>;
  /** https://docs.slack.dev/messaging/working-with-files#uploading_files */
  sendFile(target: ReplyTarget, file: OutgoingFile, caption?: string): Promise<void>;
}

export function createSlackSender({ botToken, apiUrl, directUrl, clock }: SlackOutboundOptions): SlackSender {
  let client: Promise<SlackAPIClient> | undefined;
  const load = async (): Promise<SlackAPIClient> => {
    const { SlackAPIClient } = await import("./client.ts");
    // Disable the client's retries: they would block the delivery for the full time of Slack's Retry-After.
    return new SlackAPIClient(botToken, {
      logLevel: "ERROR",
      retryHandlers: [],
      baseUrl: `${apiUrl}/`,
    });
  };
  const call = async <T>(
    work: (client: Pick<SlackAPIClient, "chat" | "files">) => Promise<T>,
    { isEdit = false } = {},
  ): Promise<T> => {
    client ??= load();
    const loaded = await client;
    try {
      return await withTimeout(TIMEOUT_MS, work(loaded), () => new Error("timeout"));
    } catch (error) {
      throw readSlackError(error, clock(), isEdit);
    }
  };
  const ask = (method: string, fields: Record<string, string>, timeoutMs: number): Promise<Answer> =>
    askDirectly(`${apiUrl}/${method}`, { botToken, fields, timeoutMs });
  return {
    // Avoid the client here: it is slow to load and may never be needed.
    async test() {
      const answer = await ask("auth.test", {}, TIMEOUT_MS).catch((error: unknown) => {
        throw readSlackError(error, clock());
      });
      if (!answer.ok) throw readSlackError(Object.assign(new Error("auth.test"), answer), clock());
      return { id: answer.user_id, ...(typeof answer.user === "string" && { name: answer.user }) };
    },
    async nameOf(kind, id) {
      const { ok, error, user, channel } =
        kind === "person"
          ? await ask("users.info", { user: id }, STATUS_TIMEOUT_MS)
          : await ask("conversations.info", { channel: id }, STATUS_TIMEOUT_MS);
      if (!ok) throw new Error(error ?? "no reason");
      if (typeof user === "string") return user;
      return user?.profile?.display_name || user?.profile?.real_name || user?.name || channel?.name;
    },
    async showStatus({ chat, thread }) {
      if (thread === undefined) return;
      const status = { channel_id: chat, thread_ts: thread, status: "is writing…" };
      await ask("assistant.threads.setStatus", status, STATUS_TIMEOUT_MS);
    },
    async react({ chat: channel }, timestamp, name) {
      const { ok, error } = await ask("reactions.add", { channel, timestamp, name }, STATUS_TIMEOUT_MS);
      // On a retry, the reaction may already be set.
      if (!ok && error !== "already_reacted") throw new Error(error ?? "no reason");
    },
    async answerPress({ target, ticket: user, message: ts, text = "" }, word, done) {
      const { chat: channel, thread } = target;
      const shown = `${text}\n✓ ${writeMrkdwn(word)}`;
      if (done && ts !== undefined)
        await ask("chat.update", { channel, ts, text: shown, blocks: "[]" }, STATUS_TIMEOUT_MS);
      else {
        const place = thread !== undefined && { thread_ts: thread };
        await ask("chat.postEphemeral", { channel, user, text: word, ...place }, STATUS_TIMEOUT_MS);
      }
    },
    async post({ chat: channel, thread }, text, buttons = []) {
      const message = {
        channel,
        text: writeMrkdwn(text),
        // Disable previews: Slack fetches them without a click, and a URL could leak parts of the conversation.
        unfurl_links: false,
        unfurl_media: false,
        ...(thread !== undefined && { thread_ts: thread }),
        ...(buttons.length > 0 && { blocks: buttonBlocks(writeMrkdwn(text), buttons) }),
      };
      const { ts } = await call(({ chat: { postMessage } }) => postMessage(message));
      return ts;
    },
    async update({ chat: channel }, ts, text) {
      await call(({ chat }) => chat.update({ channel, ts, text: writeMrkdwn(text) }), { isEdit: true });
    },
    async sendFile({ chat: channel, thread }, { name: filename, data }, caption = "") {
      const place = await call(({ files }) =>
        files.getUploadURLExternal({ filename, length: data.byteLength }),
      );
      const { upload_url: address = "", file_id: id = "" } = place;
      await upload(address, data, new URL(directUrl).origin);
      const message = {
        files: [{ id }],
        channel_id: channel,
        ...(thread !== undefined && { thread_ts: thread }),
        ...(caption !== "" && { initial_comment: writeMrkdwn(caption) }),
      };
      await call(({ files }) => files.completeUploadExternal(message));
    },
  };
}

/** Uploads a file. The address authorises the upload, so no token is sent. Only Slack's own hosts are accepted. */
async function upload(address: string, body: Uint8Array<ArrayBuffer>, ownOrigin: string): Promise<void> {
  const url = URL.parse(address);
  if (url === null || (url.origin !== FILES_ORIGIN && url.origin !== ownOrigin)) {
    throw new RefusedError("reply_refused", "Slack returned an upload address that is not on its own hosts.");
  }
  const headers = { "content-type": "application/octet-stream" };
  const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
  const answer = await fetch(url, { method: "POST", body, headers, redirect: "error", signal }).catch(
    () => undefined,
  );
  await answer?.body?.cancel();
  if (answer?.ok) return;
  const what = answer === undefined ? "no answer" : `HTTP ${answer.status}`;
  throw new RetryableError("channel_failed", `The upload to Slack failed: ${what}.`);
}

type Answer = z.infer<typeof answerSchema>;
type Blocks = NonNullable<NonNullable<Parameters<SlackAPIClient["chat"]["postMessage"]>[0]>["blocks"]>;

/** https://docs.slack.dev/reference/block-kit/blocks/actions-block */
function buttonBlocks(text: string, buttons: readonly Button[]): Blocks {
  return [
    { type: "section", text: { type: "mrkdwn", text } },
    {
      type: "actions",
      elements: buttons.map(({ label, press }, at) => ({
        type: "button",
        action_id: `press-${at}`,
        text: { type: "plain_text", text: label },
        value: press,
      })),
    },
  ];
}

/**
 * Calls a Slack Web API method with `fetch` instead of Slack's client. If the status is not 2xx, throws an error with
 * `status` and `headers`.
 */
async function askDirectly(
  url: string,
  { botToken, fields, timeoutMs }: { botToken: string; fields: Record<string, string>; timeoutMs: number },
): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${botToken}` },
    body: new URLSearchParams(fields),
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) {
    const { status, headers } = response;
    throw Object.assign(new Error(`HTTP ${status}`), { status, headers });
  }
  return answerSchema.parse(await response.json());
}

/**
 * Converts an error of the Web API to a temporary or permanent failure. Checks the error's fields, because the
 * client's error classes may not be loaded.
 */
function readSlackError(error: unknown, now: number, isEdit = false): RetryableError | RefusedError {
  const options = { cause: error };
  if (!(error instanceof Error)) return new RetryableError("channel_failed", "Slack: unknown error", options);
  // If the broker refuses a request, the client's error contains the response body.
  const document = "body" in error ? parseJson(String(error.body)) : undefined;
  const refusal = isRecord(document) ? readBrokerRefusal(document["code"], error) : undefined;
  if (refusal !== undefined) return refusal;
  const code = "error" in error ? String(error.error) : "";
  if (TOKEN_ERRORS.has(code)) {
    return new RetryableError("slack_token_expired", `Slack refuses the bot token: ${code}.`, options);
  }
  if (code === "missing_scope") {
    const needed = "needed" in error ? String(error.needed) : "files:write";
    const fix = "Add it under OAuth & Permissions, and reinstall the app.";
    return new RefusedError("reply_refused", `The Slack app lacks the scope ${needed}. ${fix}`, options);
  }
  const refused = CHAT_REFUSES[code];
  if (refused !== undefined) {
    return new RefusedError("reply_refused", `Slack rejects the reply: ${refused} (${code}).`, {
      ...options,
      gone: GONE.has(code),
    });
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
  // Slack will never accept this edit, but the text can still be sent as a new message.
  if (isEdit && code !== "" && !PASSING.has(code)) {
    return new RefusedError("edit_refused", `Slack rejects the edit: ${code}.`, options);
  }
  const what = code || (status > 0 ? `HTTP ${status}` : "no answer");
  return new RetryableError("channel_failed", `The request to Slack failed: ${what}.`, options);
}

function headersOf(error: Error): Headers | undefined {
  return "headers" in error && error.headers instanceof Headers ? error.headers : undefined;
}
