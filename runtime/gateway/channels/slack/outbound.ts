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
import { maybe, type OutgoingFile } from "../channel.ts";
import { writeMrkdwn } from "./mrkdwn.ts";

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
/** Those of a chat that the bot, or the person, has left. */
const GONE: ReadonlySet<string> = new Set([
  "channel_not_found",
  "not_in_channel",
  "is_archived",
  "user_not_found",
]);
/** Failures inside Slack, after which a retry helps: https://docs.slack.dev/reference/methods/chat.update#errors */
const PASSING: ReadonlySet<string> = new Set([
  "fatal_error",
  "internal_error",
  "request_timeout",
  "service_unavailable",
]);

/**
 * Slack answers a post within a second or two; a hung connection must not hold the conversation for
 * ever. Long, since the client cannot call a post back: one that Slack takes even later is repeated.
 */
const TIMEOUT_MS = 60_000;
/** A slow line needs its time for a large file. */
const UPLOAD_TIMEOUT_MS = 120_000;
/** Slack's own host of files, which takes them too. */
const FILES_ORIGIN = "https://files.slack.com";
/** Bytes of the largest file: https://docs.slack.dev/messaging/working-with-files */
export const LARGEST_FILE = 1_000_000_000;
/** A status or a name that comes late is of no use. */
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

/** Connection settings of Slack. */
interface SlackOutboundOptions {
  botToken: string;
  /** Without a slash at the end. */
  apiUrl: string;
  /** Address of Slack itself, where `apiUrl` is the broker's. */
  directUrl: string;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Sender to Slack. Rejects with a RetryableError or a RefusedError. */
interface SlackSender {
  /** Asks whose the token is: https://docs.slack.dev/reference/methods/auth.test */
  test(): Promise<BotAccount>;
  /** Returns the name of a person or a channel. Rejects if Slack does not tell it: the app may lack a scope. */
  nameOf(kind: NameKind, id: string): Promise<string | undefined>;
  /** Shows in a thread that an answer is being made: https://docs.slack.dev/reference/methods/assistant.threads.setStatus */
  showStatus(target: ReplyTarget): Promise<void>;
  /** Posts a message and gives its `ts`: https://docs.slack.dev/reference/methods/chat.postMessage */
  post(target: ReplyTarget, text: string, buttons?: readonly Button[]): Promise<string | undefined>;
  /** Sets a reaction: https://docs.slack.dev/reference/methods/reactions.add */
  react(target: ReplyTarget, message: string, name: string): Promise<void>;
  /** Puts what was chosen in the place of the buttons, or tells the person alone: https://docs.slack.dev/reference/methods/chat.postEphemeral */
  answerPress(press: ButtonPress, word: string, done: boolean): Promise<void>;
  /** Replaces a message's text: https://docs.slack.dev/reference/methods/chat.update */
  update(target: ReplyTarget, ts: string, text: string): Promise<void>;
  /** Sends a file: https://docs.slack.dev/messaging/working-with-files#uploading_files */
  sendFile(target: ReplyTarget, file: OutgoingFile, caption?: string): Promise<void>;
}

/** A sender over Slack's Web API. */
export function createSlackSender({ botToken, apiUrl, directUrl, clock }: SlackOutboundOptions): SlackSender {
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
    // Without the client, which takes its time and memory to load: it may never be needed.
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
      // A message that is tried again has it.
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
        // A preview is fetched without a click, and its address may carry what was said here.
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

/** The address holds the right to upload: no key goes along, and the file to Slack's own host alone. */
async function upload(address: string, body: Uint8Array<ArrayBuffer>, ownOrigin: string): Promise<void> {
  const url = URL.parse(address);
  if (url === null || (url.origin !== FILES_ORIGIN && url.origin !== ownOrigin)) {
    throw new RefusedError("reply_refused", "Slack names no place of its own for the file.");
  }
  const headers = { "content-type": "application/octet-stream" };
  const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
  const answer = await fetch(url, { method: "POST", body, headers, redirect: "error", signal }).catch(
    () => undefined,
  );
  await answer?.body?.cancel();
  if (answer?.ok) return;
  const what = answer === undefined ? "no answer" : `HTTP ${answer.status}`;
  throw new RetryableError("channel_failed", `Slack did not take the file: ${what}.`);
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

/** Asks without the client. Throws an error with `status` and `headers` for an answer that is none of Slack's. */
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

/** Returns what an error of the Web API means. Read by shape: its classes are loaded on first use only. */
function readSlackError(error: unknown, now: number, isEdit = false): RetryableError | RefusedError {
  const options = { cause: error };
  if (!(error instanceof Error)) return new RetryableError("channel_failed", "Slack: unknown error", options);
  // Of the broker's own refusals the client keeps the text.
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
    return new RefusedError("reply_refused", `Slack does not take the reply: ${refused} (${code}).`, {
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
  // Any other refusal of an edit is final, and the text can still be sent as a new message.
  if (isEdit && code !== "" && !PASSING.has(code)) {
    return new RefusedError("edit_refused", `Slack does not take the edit: ${code}.`, options);
  }
  const what = code || (status > 0 ? `HTTP ${status}` : "no answer");
  return new RetryableError("channel_failed", `Slack did not take the reply: ${what}.`, options);
}

function headersOf(error: Error): Headers | undefined {
  return "headers" in error && error.headers instanceof Headers ? error.headers : undefined;
}
