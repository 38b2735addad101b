import * as z from "zod/mini";
import {
  BROKER_VARIABLE,
  credential,
  directAddress,
  isPass,
  passOf,
  SERVICES,
  type ServiceName,
} from "./services.ts";
import type { Environment } from "./variables.ts";

/**
 * Maximum size of a request to any model provider, in bytes. This is Anthropic's limit:
 * https://docs.claude.com/en/api/overview#request-size-limits
 */
const LONGEST_QUESTION_BYTES = 32 * 1024 * 1024;
/**
 * Maximum size of an upload: 25 MB of audio, plus form fields. https://platform.openai.com/docs/guides/speech-to-text
 */
const LONGEST_UPLOAD_BYTES = 26 * 1024 * 1024;
/**
 * Maximum size of a message. The longest on any platform has 40,000 characters, and JSON may escape every character.
 */
const LONGEST_MESSAGE_BYTES = 512 * 1024;
type ChatField = "channel" | "channel_id" | "chat_id";
/**
 * Values of `chat` for operations without a {@link ChatField}. `none`: the operation concerns no chat. `file`: the
 * operation reads a chat's file. `unnamed`: the operation writes to a chat that the request does not name.
 */
type NoChatField = "none" | "file" | "unnamed";
/**
 * Allowed values of an operation's `chat`: the {@link ChatField} that the operation takes or, if the operation takes
 * none, any {@link NoChatField}.
 */
type ChatOf<Given> = [Extract<keyof Given, ChatField>] extends [never]
  ? NoChatField
  : Extract<keyof Given, ChatField>;
export type OperationArguments = Readonly<Record<string, string>>;

export interface ServiceOperation {
  readonly method: "GET" | "POST" | "PATCH" | "PUT";
  /**
   * Argument or field that names the chat. The broker checks that the gateway's broker pass is valid for this chat.
   */
  readonly chat: ChatField | NoChatField;
  /** Validators by argument name. All listed arguments are required, and no others are accepted. */
  readonly takes: Readonly<Record<string, (value: string) => boolean>>;
  /** Returns the path below the service's address, including `key` if the service expects it there. */
  path(values: OperationArguments, key: string): string;
  /**
   * Kind of body. Fields of `json`, `form` and `parts` (multipart) are validated; `unread` is JSON that is forwarded
   * unvalidated.
   */
  readonly body: "none" | "json" | "form" | "parts" | "unread";
  readonly fields?: z.ZodMiniType<Record<string, unknown>>;
  /** Largest body, in bytes. */
  readonly longest: number;
}

type Validators = ServiceOperation["takes"];
type Fields = Record<string, unknown>;

interface OperationParts<Takes, Given> extends Partial<Pick<ServiceOperation, "method" | "body">> {
  chat: ChatOf<Takes & Given>;
  path: ServiceOperation["path"];
  takes?: Takes & Validators;
  fields?: z.ZodMiniType<Given & Fields>;
}

const LONGEST = {
  none: 0,
  json: LONGEST_MESSAGE_BYTES,
  form: LONGEST_MESSAGE_BYTES,
  parts: LONGEST_UPLOAD_BYTES,
  unread: LONGEST_QUESTION_BYTES,
} as const satisfies Record<ServiceOperation["body"], number>;

function get<Takes>(
  chat: ChatOf<Takes>,
  path: ServiceOperation["path"],
  takes?: Takes & Validators,
): ServiceOperation {
  return { method: "GET", chat, takes: takes ?? {}, path, body: "none", longest: 0 };
}

function send<Takes, Given>(parts: OperationParts<Takes, Given>): ServiceOperation {
  const { body = "json", method = "POST", takes = {}, ...others } = parts;
  return { method, takes, body, longest: LONGEST[body], ...others };
}

const text = z.string();
const id = z.string().check(z.minLength(1), z.maxLength(256));

function telegram<Given extends Fields>(
  method: string,
  chat: ChatOf<Given>,
  fields: z.ZodMiniType<Given>,
  body: "json" | "parts" = "json",
): ServiceOperation {
  return send({ chat, path: (_, key) => `/${botPath(key)}/${method}`, body, fields });
}

function slack<Given extends Fields>(
  method: string,
  chat: ChatOf<Given>,
  fields: z.ZodMiniType<Given>,
): ServiceOperation {
  return send({ chat, path: () => `/${method}`, body: "form", fields });
}

const TELEGRAM_TEXT = {
  chat_id: id,
  text,
  parse_mode: z.optional(z.literal("HTML")),
  link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
};
const thread = z.optional(z.int());
/**
 * Telegram keyboard of callback buttons (no link buttons): https://core.telegram.org/bots/api#inlinekeyboardmarkup
 */
const keyboard = z.strictObject({
  inline_keyboard: z.array(
    z.array(z.strictObject({ text, callback_data: z.string().check(z.maxLength(64)) })),
  ),
});

/**
 * Slack blocks as JSON: one text and buttons. Excludes all other fields, because they could make Slack fetch or
 * display links and pictures.
 */
const buttonBlocks = z.string().check(z.maxLength(20_000), z.refine(isButtons));
const buttonSchema = z.tuple([
  z.strictObject({
    type: z.literal("section"),
    text: z.strictObject({ type: z.literal("mrkdwn"), text }),
  }),
  z.strictObject({
    type: z.literal("actions"),
    elements: z.array(
      z.strictObject({
        type: z.literal("button"),
        action_id: id,
        text: z.strictObject({ type: z.literal("plain_text"), text }),
        value: id,
      }),
    ),
  }),
]);

function isButtons(blocks: string): boolean {
  try {
    return buttonSchema.safeParse(JSON.parse(blocks)).success;
  } catch {
    return false;
  }
}

/** Fields of a multipart upload to Telegram, besides the file. All values are strings. */
const TELEGRAM_FILE = z.strictObject({
  chat_id: id,
  message_thread_id: z.optional(z.string().check(z.regex(/^\d{1,15}$/))),
  caption: z.optional(z.string().check(z.maxLength(1_024))),
});

/** Longest path or model id, in characters. */
const LONGEST_PATH = 1_024;
/** A path segment without characters that a server might decode again or treat as the path's end. */
const PATH_PART = /^[^/\\%?#\p{C}]+$/u;

/** Returns true for a relative path that every server resolves to the same file. */
function isPlainPath(path: string): boolean {
  const isPlain = (part: string): boolean => PATH_PART.test(part) && part !== "." && part !== "..";
  return path.length <= LONGEST_PATH && path.split("/").every(isPlain);
}

/** Returns true for the path of a Telegram file. It may be absolute, as returned by a self-hosted Bot API server. */
export function isTelegramFilePath(path: string): boolean {
  return isPlainPath(path.replace(/^\//, ""));
}

function encoded(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** Returns the path segment with the bot's token. Escapes a malformed token, so that it remains one segment. */
function botPath(key: string): string {
  return `bot${key.replace(/[^\w:-]/g, encodeURIComponent)}`;
}

const isSnowflake = (value: string): boolean => /^\d{1,20}$/.test(value);
/** A message that notifies nobody and has no link previews. */
const DISCORD_TEXT = z.strictObject({
  content: text,
  allowed_mentions: z.strictObject({ parse: z.tuple([]) }),
  /** SUPPRESS_EMBEDS: https://docs.discord.com/developers/resources/message#message-object-message-flags */
  flags: z.literal(4),
});
/** Row of Discord buttons (no link buttons): https://docs.discord.com/developers/components/reference#button */
const discordRow = z.strictObject({
  type: z.literal(1),
  components: z.array(
    z.strictObject({
      type: z.literal(2),
      style: z.literal(2),
      label: z.string().check(z.maxLength(80)),
      custom_id: z.string().check(z.maxLength(100)),
    }),
  ),
});
const DISCORD_MESSAGE = z.extend(DISCORD_TEXT, {
  components: z.optional(z.array(discordRow)),
  message_reference: z.optional(
    z.strictObject({
      message_id: z.string().check(z.refine(isSnowflake)),
      fail_if_not_exists: z.literal(false),
    }),
  ),
});
/**
 * Returns true if a string is a valid Discord message, exactly as JSON.stringify writes it. Returns false for any
 * other JSON, such as an object with a repeated field, because Discord could interpret it differently from this
 * check.
 */
function isDiscordText(json: string): boolean {
  try {
    const { data, success } = DISCORD_TEXT.safeParse(JSON.parse(json));
    return success && JSON.stringify(data) === json;
  } catch {
    return false;
  }
}
/** Returns true for a Unicode emoji, or a server's custom emoji as `name:id`. */
const isEmoji = (value: string): boolean =>
  /^(?:[\p{Emoji}\p{Emoji_Component}\u200D]{1,32}|\w{2,32}:\d{1,20})$/u.test(value);
const isSlackFileId = (value: string): boolean => /^F[A-Z0-9]{1,31}$/.test(value);

/**
 * Requests that the broker makes for the gateway with the deployment's keys, as `<service>/<operation>`. The broker
 * refuses all others.
 */
export const SERVICE_OPERATIONS = {
  /** https://docs.claude.com/en/api/messages */
  "anthropic/messages": send({ chat: "none", path: () => "/v1/messages", body: "unread" }),
  /** https://docs.claude.com/en/api/models */
  "anthropic/model": get("none", ({ id }) => `/v1/models/${encodeURIComponent(id ?? "")}`, {
    id: isPlainPath,
  }),
  /** https://platform.openai.com/docs/api-reference/chat */
  "openai/chat/completions": send({ chat: "none", path: () => "/chat/completions", body: "unread" }),
  /** https://platform.openai.com/docs/api-reference/audio/createTranscription */
  "openai/audio/transcriptions": send({
    chat: "none",
    path: () => "/audio/transcriptions",
    body: "parts",
    fields: z.strictObject({ model: id, response_format: z.literal("json"), file: z.instanceof(Blob) }),
  }),
  /** https://platform.openai.com/docs/api-reference/models/list */
  "openai/models": get("none", () => "/models"),
  /** https://docs.slack.dev/reference/methods/auth.test */
  "slack/auth.test": slack("auth.test", "none", z.strictObject({})),
  /** https://docs.slack.dev/reference/methods/users.info */
  "slack/users.info": slack("users.info", "none", z.strictObject({ user: id })),
  /** https://docs.slack.dev/reference/methods/conversations.info */
  "slack/conversations.info": slack("conversations.info", "channel", z.strictObject({ channel: id })),
  /** https://docs.slack.dev/reference/methods/chat.postMessage */
  "slack/chat.postMessage": slack(
    "chat.postMessage",
    "channel",
    z.strictObject({
      channel: id,
      text,
      thread_ts: z.optional(id),
      unfurl_links: z.literal("false"),
      unfurl_media: z.literal("false"),
      blocks: z.optional(buttonBlocks),
    }),
  ),
  /** https://docs.slack.dev/reference/methods/chat.update */
  "slack/chat.update": slack(
    "chat.update",
    "channel",
    z.strictObject({ channel: id, ts: id, text, blocks: z.optional(z.literal("[]")) }),
  ),
  /** https://docs.slack.dev/reference/methods/reactions.add */
  "slack/reactions.add": slack(
    "reactions.add",
    "channel",
    z.strictObject({ channel: id, timestamp: id, name: id }),
  ),
  /** https://docs.slack.dev/reference/methods/chat.postEphemeral */
  "slack/chat.postEphemeral": slack(
    "chat.postEphemeral",
    "channel",
    z.strictObject({ channel: id, user: id, text, thread_ts: z.optional(id) }),
  ),
  /** https://docs.slack.dev/reference/methods/assistant.threads.setStatus */
  "slack/assistant.threads.setStatus": slack(
    "assistant.threads.setStatus",
    "channel_id",
    z.strictObject({ channel_id: id, thread_ts: id, status: z.literal("is writing…") }),
  ),
  /** https://docs.slack.dev/reference/methods/files.getUploadURLExternal */
  "slack/files.getUploadURLExternal": slack(
    "files.getUploadURLExternal",
    "none",
    z.strictObject({ filename: id, length: z.string().check(z.regex(/^\d{1,10}$/)) }),
  ),
  /** https://docs.slack.dev/reference/methods/files.completeUploadExternal */
  "slack/files.completeUploadExternal": slack(
    "files.completeUploadExternal",
    "channel_id",
    z.strictObject({
      files: z.string().check(z.regex(/^\[\{"id":"F[A-Z0-9]{1,31}"\}\]$/)),
      channel_id: id,
      thread_ts: z.optional(id),
      initial_comment: z.optional(text),
    }),
  ),
  /**
   * Content of a file. The request `files.info` returns the file's URL, from which slack-file.ts downloads the
   * content.
   */
  "slack/file": get("file", () => "/files.info", { id: isSlackFileId }),
  /** https://docs.discord.com/developers/resources/user#get-current-user */
  "discord/user": get("none", () => "/users/@me"),
  /** https://docs.discord.com/developers/resources/guild#get-guild */
  "discord/guild": get("none", ({ guild }) => `/guilds/${guild}`, { guild: isSnowflake }),
  /** https://docs.discord.com/developers/resources/channel#get-channel */
  "discord/channel": get("channel", ({ channel }) => `/channels/${channel}`, { channel: isSnowflake }),
  /**
   * New message: https://docs.discord.com/developers/resources/message#create-message. `channel` may also be a
   * thread's id.
   */
  "discord/message.create": send({
    chat: "channel",
    takes: { channel: isSnowflake },
    path: ({ channel }) => `/channels/${channel}/messages`,
    fields: DISCORD_MESSAGE,
  }),
  /** https://docs.discord.com/developers/resources/channel#trigger-typing-indicator */
  "discord/typing": send({
    chat: "channel",
    takes: { channel: isSnowflake },
    path: ({ channel }) => `/channels/${channel}/typing`,
    body: "none",
  }),
  /** https://docs.discord.com/developers/resources/message#create-reaction */
  "discord/reaction.create": send({
    chat: "channel",
    method: "PUT",
    takes: { channel: isSnowflake, message: isSnowflake, emoji: isEmoji },
    path: ({ channel, message, emoji = "" }) =>
      `/channels/${channel}/messages/${message}/reactions/${encodeURIComponent(emoji)}/@me`,
    body: "none",
  }),
  /** With a file: https://docs.discord.com/developers/reference#uploading-files */
  "discord/file.create": send({
    chat: "channel",
    takes: { channel: isSnowflake },
    path: ({ channel }) => `/channels/${channel}/messages`,
    body: "parts",
    fields: z.strictObject({
      payload_json: z.string().check(z.refine(isDiscordText)),
      "files[0]": z.instanceof(Blob),
    }),
  }),
  /** https://docs.discord.com/developers/resources/message#edit-message */
  "discord/message.edit": send({
    chat: "channel",
    method: "PATCH",
    takes: { channel: isSnowflake, message: isSnowflake },
    path: ({ channel, message }) => `/channels/${channel}/messages/${message}`,
    fields: z.extend(DISCORD_TEXT, { components: z.optional(z.tuple([])) }),
  }),
  /** https://docs.discord.com/developers/resources/user#create-dm */
  "discord/dm.create": send({
    chat: "unnamed",
    path: () => "/users/@me/channels",
    fields: z.strictObject({ recipient_id: z.string().check(z.refine(isSnowflake)) }),
  }),
  /** https://core.telegram.org/bots/api#getme */
  "telegram/getMe": telegram("getMe", "none", z.strictObject({})),
  /** https://core.telegram.org/bots/api#sendmessage */
  "telegram/sendMessage": telegram(
    "sendMessage",
    "chat_id",
    z.strictObject({ ...TELEGRAM_TEXT, message_thread_id: thread, reply_markup: z.optional(keyboard) }),
  ),
  /** https://core.telegram.org/bots/api#editmessagetext */
  "telegram/editMessageText": telegram(
    "editMessageText",
    "chat_id",
    z.strictObject({ ...TELEGRAM_TEXT, message_id: z.int() }),
  ),
  /** https://core.telegram.org/bots/api#setmessagereaction */
  "telegram/setMessageReaction": telegram(
    "setMessageReaction",
    "chat_id",
    z.strictObject({
      chat_id: id,
      message_id: z.int(),
      reaction: z.tuple([z.strictObject({ type: z.literal("emoji"), emoji: id })]),
    }),
  ),
  /**
   * Response to a button press: https://core.telegram.org/bots/api#answercallbackquery. The request names no chat,
   * because only the person who pressed the button sees the text.
   */
  "telegram/answerCallbackQuery": telegram(
    "answerCallbackQuery",
    "none",
    z.strictObject({ callback_query_id: id, text }),
  ),
  /** https://core.telegram.org/bots/api#editmessagereplymarkup */
  "telegram/editMessageReplyMarkup": telegram(
    "editMessageReplyMarkup",
    "chat_id",
    z.strictObject({ chat_id: id, message_id: z.int(), reply_markup: keyboard }),
  ),
  /** https://core.telegram.org/bots/api#sendchataction */
  "telegram/sendChatAction": telegram(
    "sendChatAction",
    "chat_id",
    z.strictObject({ chat_id: id, message_thread_id: thread, action: z.literal("typing") }),
  ),
  /** https://core.telegram.org/bots/api#sendphoto */
  "telegram/sendPhoto": telegram(
    "sendPhoto",
    "chat_id",
    z.extend(TELEGRAM_FILE, { photo: z.instanceof(Blob) }),
    "parts",
  ),
  /** https://core.telegram.org/bots/api#senddocument */
  "telegram/sendDocument": telegram(
    "sendDocument",
    "chat_id",
    z.extend(TELEGRAM_FILE, { document: z.instanceof(Blob) }),
    "parts",
  ),
  /**
   * Returns the path for downloading a file: https://core.telegram.org/bots/api#getfile. The request need not name a
   * chat: a file's id contains a random, secret hash (https://core.telegram.org/api/files#downloading-files), so the
   * id cannot be guessed from another chat.
   */
  "telegram/getFile": telegram("getFile", "none", z.strictObject({ file_id: id })),
  /**
   * Content of a file. Paths such as `photos/file_12.jpg` can be guessed, so a chat's gateway may read only those
   * that `getFile` returned.
   */
  "telegram/file": get("file", ({ path = "" }, key) => `/file/${botPath(key)}/${encoded(path)}`, {
    path: isTelegramFilePath,
  }),
} as const satisfies Record<`${ServiceName}/${string}`, ServiceOperation>;

export type OperationName = keyof typeof SERVICE_OPERATIONS;

export function serviceOperation(
  name: string,
): { name: OperationName; operation: ServiceOperation } | undefined {
  if (!Object.hasOwn(SERVICE_OPERATIONS, name)) return undefined;
  return { name: name as OperationName, operation: SERVICE_OPERATIONS[name as OperationName] };
}

function serviceOf(name: OperationName): ServiceName {
  return name.slice(0, name.indexOf("/")) as ServiceName;
}

export interface ServiceRequest {
  method: ServiceOperation["method"];
  url: string;
  headers: Record<string, string>;
}

/** Returns a request in the service's own format, without the body. The arguments must already be validated. */
export function directRequest(
  name: OperationName,
  values: OperationArguments,
  { key, environment }: { key: string; environment: Environment },
): ServiceRequest {
  const service = serviceOf(name);
  const { method, path } = SERVICE_OPERATIONS[name] as ServiceOperation;
  return {
    method,
    url: `${directAddress(service, environment)}${path(values, key)}`,
    // Telegram expects the key in the URL instead of a header.
    headers: { ...SERVICES[service].headers, ...(service !== "telegram" && credential(service, key)) },
  };
}

/**
 * Returns the gateway's request for an operation: to the broker if the key is a broker pass, otherwise to the service
 * itself.
 */
export function operationRequest(
  name: OperationName,
  values: OperationArguments,
  using: { key: string; environment: Environment },
): ServiceRequest {
  const service = serviceOf(name);
  const { key, environment } = using;
  if (!isPass(service, key, environment)) return directRequest(name, values, using);
  const query = new URLSearchParams(values).toString();
  return {
    method: SERVICE_OPERATIONS[name].method,
    url: `${environment[BROKER_VARIABLE]}/${name}${query === "" ? "" : `?${query}`}`,
    headers: credential(service, passOf(key)),
  };
}
