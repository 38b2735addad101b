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

/** Anthropic's own limit, the largest of them: https://docs.claude.com/en/api/overview#request-size-limits */
const LONGEST_QUESTION_BYTES = 32 * 1024 * 1024;
/** https://platform.openai.com/docs/guides/speech-to-text: 25 MB of audio, and the fields around it. Files that go out have less. */
const LONGEST_UPLOAD_BYTES = 26 * 1024 * 1024;
/** A platform's longest message has 40,000 characters, and JSON may escape each of them. */
const LONGEST_MESSAGE_BYTES = 512 * 1024;
/** Values that an operation's address is made of, by name. */
export type OperationArguments = Readonly<Record<string, string>>;

/** Something that the gateway may do at a service. */
export interface ServiceOperation {
  readonly method: "GET" | "POST" | "PATCH" | "PUT";
  /** Checks of its arguments. All are required, and no others are taken. */
  readonly takes: Readonly<Record<string, (value: string) => boolean>>;
  /** Returns the place below the service's address. `key` is used where the address holds it. */
  path(values: OperationArguments, key: string): string;
  /** The body: none, fields that are checked as JSON, as a form or in parts, or JSON that is passed on unread. */
  readonly body: "none" | "json" | "form" | "parts" | "unread";
  /** The fields of a body that is checked. */
  readonly fields?: z.ZodMiniType<Record<string, unknown>>;
  /** Bytes of the body. */
  readonly longest: number;
}

interface OperationParts extends Partial<Pick<ServiceOperation, "method" | "takes" | "body" | "fields">> {
  path: ServiceOperation["path"];
}

const LONGEST = {
  none: 0,
  json: LONGEST_MESSAGE_BYTES,
  form: LONGEST_MESSAGE_BYTES,
  parts: LONGEST_UPLOAD_BYTES,
  unread: LONGEST_QUESTION_BYTES,
} as const satisfies Record<ServiceOperation["body"], number>;

function get(path: ServiceOperation["path"], takes: ServiceOperation["takes"] = {}): ServiceOperation {
  return { method: "GET", takes, path, body: "none", longest: 0 };
}

function send({ body = "json", method = "POST", takes = {}, ...parts }: OperationParts): ServiceOperation {
  return { method, takes, body, longest: LONGEST[body], ...parts };
}

const text = z.string();
const id = z.string().check(z.minLength(1), z.maxLength(256));

function telegram(method: string, fields: z.ZodMiniType<Record<string, unknown>>): ServiceOperation {
  return send({ path: (_, key) => `/${botPath(key)}/${method}`, fields });
}

function slack(method: string, fields: z.ZodMiniType<Record<string, unknown>>): ServiceOperation {
  return send({ path: () => `/${method}`, body: "form", fields });
}

const TELEGRAM_TEXT = {
  chat_id: id,
  text,
  parse_mode: z.optional(z.literal("HTML")),
  link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
};
const thread = z.optional(z.int());
/** https://core.telegram.org/bots/api#inlinekeyboardmarkup: buttons that tell the bot of a press, and no links. */
const keyboard = z.strictObject({
  inline_keyboard: z.array(
    z.array(z.strictObject({ text, callback_data: z.string().check(z.maxLength(64)) })),
  ),
});

/** A text and buttons, as JSON: no pictures, links or fields, which Slack would fetch or show in their place. */
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

/** In parts, where every field but the file is a text. */
function telegramFile(method: string, field: "photo" | "document"): ServiceOperation {
  const fields = z.strictObject({
    chat_id: id,
    message_thread_id: z.optional(z.string().check(z.regex(/^\d{1,15}$/))),
    caption: z.optional(z.string().check(z.maxLength(1_024))),
    [field]: z.instanceof(Blob),
  });
  return send({ path: (_, key) => `/${botPath(key)}/${method}`, body: "parts", fields });
}

/** Bytes of a path, and of a model's id. */
const LONGEST_PATH = 1_024;
/** No character that a server might decode once more, or take for the end of a path. */
const PATH_PART = /^[^/\\%?#\p{C}]+$/u;

/** Returns true for a relative path that no server reads as another one. */
function isPlainPath(path: string): boolean {
  const isPlain = (part: string): boolean => PATH_PART.test(part) && part !== "." && part !== "..";
  return path.length <= LONGEST_PATH && path.split("/").every(isPlain);
}

/** Returns true for the path of a file at Telegram. The operator's own server may give an absolute path. */
export function isTelegramFilePath(path: string): boolean {
  return isPlainPath(path.replace(/^\//, ""));
}

function encoded(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** A token of another form is escaped, so that it stays one part of the path. */
function botPath(key: string): string {
  return `bot${key.replace(/[^\w:-]/g, encodeURIComponent)}`;
}

const isSnowflake = (value: string): boolean => /^\d{1,20}$/.test(value);
/** Nobody is notified, and nothing is fetched for a preview. */
const DISCORD_TEXT = z.strictObject({
  content: text,
  allowed_mentions: z.strictObject({ parse: z.tuple([]) }),
  /** SUPPRESS_EMBEDS: https://docs.discord.com/developers/resources/message#message-object-message-flags */
  flags: z.literal(4),
});
/** Buttons that tell the bot of a press, and no links: https://docs.discord.com/developers/components/reference#button */
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
/** A message may be an answer to another one of its channel. */
const DISCORD_MESSAGE = z.extend(DISCORD_TEXT, {
  components: z.optional(z.array(discordRow)),
  message_reference: z.optional(
    z.strictObject({
      message_id: z.string().check(z.refine(isSnowflake)),
      fail_if_not_exists: z.literal(false),
    }),
  ),
});
/** Written as JSON.stringify writes it: two readers could differ on anything else, such as a field that is given twice. */
function isDiscordText(json: string): boolean {
  try {
    const { data, success } = DISCORD_TEXT.safeParse(JSON.parse(json));
    return success && JSON.stringify(data) === json;
  } catch {
    return false;
  }
}
/** The emoji itself, or the name and id of one of the server's own. */
const isEmoji = (value: string): boolean =>
  /^(?:[\p{Emoji}\p{Emoji_Component}\u200D]{1,32}|\w{2,32}:\d{1,20})$/u.test(value);
const isSlackFileId = (value: string): boolean => /^F[A-Z0-9]{1,31}$/.test(value);

/**
 * Everything that the gateway does with the deployment's keys, by `<service>/<operation>`, which is also how it names an
 * operation to the broker. What is not here cannot be asked for. A test drives the gateway's own clients through the
 * broker and finds each entry used.
 */
export const SERVICE_OPERATIONS = {
  /** https://docs.claude.com/en/api/messages */
  "anthropic/messages": send({ path: () => "/v1/messages", body: "unread" }),
  /** https://docs.claude.com/en/api/models */
  "anthropic/model": get(({ id }) => `/v1/models/${encodeURIComponent(id ?? "")}`, {
    id: isPlainPath,
  }),
  /** https://platform.openai.com/docs/api-reference/chat */
  "openai/chat/completions": send({ path: () => "/chat/completions", body: "unread" }),
  /** https://platform.openai.com/docs/api-reference/audio/createTranscription */
  "openai/audio/transcriptions": send({
    path: () => "/audio/transcriptions",
    body: "parts",
    fields: z.strictObject({ model: id, response_format: z.literal("json"), file: z.instanceof(Blob) }),
  }),
  /** https://platform.openai.com/docs/api-reference/models/list */
  "openai/models": get(() => "/models"),
  /** https://docs.slack.dev/reference/methods/auth.test */
  "slack/auth.test": slack("auth.test", z.strictObject({})),
  /** https://docs.slack.dev/reference/methods/chat.postMessage */
  "slack/chat.postMessage": slack(
    "chat.postMessage",
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
    z.strictObject({ channel: id, ts: id, text, blocks: z.optional(z.literal("[]")) }),
  ),
  /** https://docs.slack.dev/reference/methods/reactions.add */
  "slack/reactions.add": slack("reactions.add", z.strictObject({ channel: id, timestamp: id, name: id })),
  /** https://docs.slack.dev/reference/methods/chat.postEphemeral */
  "slack/chat.postEphemeral": slack(
    "chat.postEphemeral",
    z.strictObject({ channel: id, user: id, text, thread_ts: z.optional(id) }),
  ),
  /** https://docs.slack.dev/reference/methods/assistant.threads.setStatus */
  "slack/assistant.threads.setStatus": slack(
    "assistant.threads.setStatus",
    z.strictObject({ channel_id: id, thread_ts: id, status: z.literal("is writing…") }),
  ),
  /** https://docs.slack.dev/reference/methods/files.getUploadURLExternal */
  "slack/files.getUploadURLExternal": slack(
    "files.getUploadURLExternal",
    z.strictObject({ filename: id, length: z.string().check(z.regex(/^\d{1,10}$/)) }),
  ),
  /** https://docs.slack.dev/reference/methods/files.completeUploadExternal */
  "slack/files.completeUploadExternal": slack(
    "files.completeUploadExternal",
    z.strictObject({
      files: z.string().check(z.regex(/^\[\{"id":"F[A-Z0-9]{1,31}"\}\]$/)),
      channel_id: id,
      thread_ts: z.optional(id),
      initial_comment: z.optional(text),
    }),
  ),
  /** Opened in two steps, see slack-file.ts: Slack tells where the file is. */
  "slack/file": get(() => "/files.info", { id: isSlackFileId }),
  /** https://docs.discord.com/developers/resources/user#get-current-user */
  "discord/user": get(() => "/users/@me"),
  /** https://docs.discord.com/developers/resources/message#create-message */
  "discord/message.create": send({
    takes: { channel: isSnowflake },
    path: ({ channel }) => `/channels/${channel}/messages`,
    fields: DISCORD_MESSAGE,
  }),
  /** https://docs.discord.com/developers/resources/channel#trigger-typing-indicator */
  "discord/typing": send({
    takes: { channel: isSnowflake },
    path: ({ channel }) => `/channels/${channel}/typing`,
    body: "none",
  }),
  /** https://docs.discord.com/developers/resources/message#create-reaction */
  "discord/reaction.create": send({
    method: "PUT",
    takes: { channel: isSnowflake, message: isSnowflake, emoji: isEmoji },
    path: ({ channel, message, emoji = "" }) =>
      `/channels/${channel}/messages/${message}/reactions/${encodeURIComponent(emoji)}/@me`,
    body: "none",
  }),
  /** With a file: https://docs.discord.com/developers/reference#uploading-files */
  "discord/file.create": send({
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
    method: "PATCH",
    takes: { channel: isSnowflake, message: isSnowflake },
    path: ({ channel, message }) => `/channels/${channel}/messages/${message}`,
    fields: z.extend(DISCORD_TEXT, { components: z.optional(z.tuple([])) }),
  }),
  /** https://docs.discord.com/developers/resources/user#create-dm */
  "discord/dm.create": send({
    path: () => "/users/@me/channels",
    fields: z.strictObject({ recipient_id: z.string().check(z.refine(isSnowflake)) }),
  }),
  /** https://core.telegram.org/bots/api#getme */
  "telegram/getMe": telegram("getMe", z.strictObject({})),
  /** https://core.telegram.org/bots/api#sendmessage */
  "telegram/sendMessage": telegram(
    "sendMessage",
    z.strictObject({ ...TELEGRAM_TEXT, message_thread_id: thread, reply_markup: z.optional(keyboard) }),
  ),
  /** https://core.telegram.org/bots/api#editmessagetext */
  "telegram/editMessageText": telegram(
    "editMessageText",
    z.strictObject({ ...TELEGRAM_TEXT, message_id: z.int() }),
  ),
  /** https://core.telegram.org/bots/api#setmessagereaction */
  "telegram/setMessageReaction": telegram(
    "setMessageReaction",
    z.strictObject({
      chat_id: id,
      message_id: z.int(),
      reaction: z.tuple([z.strictObject({ type: z.literal("emoji"), emoji: id })]),
    }),
  ),
  /** https://core.telegram.org/bots/api#answercallbackquery */
  "telegram/answerCallbackQuery": telegram(
    "answerCallbackQuery",
    z.strictObject({ callback_query_id: id, text }),
  ),
  /** https://core.telegram.org/bots/api#editmessagereplymarkup */
  "telegram/editMessageReplyMarkup": telegram(
    "editMessageReplyMarkup",
    z.strictObject({ chat_id: id, message_id: z.int(), reply_markup: keyboard }),
  ),
  /** https://core.telegram.org/bots/api#sendchataction */
  "telegram/sendChatAction": telegram(
    "sendChatAction",
    z.strictObject({ chat_id: id, message_thread_id: thread, action: z.literal("typing") }),
  ),
  /** https://core.telegram.org/bots/api#sendphoto */
  "telegram/sendPhoto": telegramFile("sendPhoto", "photo"),
  /** https://core.telegram.org/bots/api#senddocument */
  "telegram/sendDocument": telegramFile("sendDocument", "document"),
  /** https://core.telegram.org/bots/api#getfile */
  "telegram/getFile": telegram("getFile", z.strictObject({ file_id: id })),
  /** A file at the path that `getFile` gives. */
  "telegram/file": get(({ path = "" }, key) => `/file/${botPath(key)}/${encoded(path)}`, {
    path: isTelegramFilePath,
  }),
} as const satisfies Record<`${ServiceName}/${string}`, ServiceOperation>;

/** The name of an operation. */
export type OperationName = keyof typeof SERVICE_OPERATIONS;

/** Returns the operation of a name, `undefined` for a text that names none. */
export function operationOf(name: string): { name: OperationName; operation: ServiceOperation } | undefined {
  if (!Object.hasOwn(SERVICE_OPERATIONS, name)) return undefined;
  return { name: name as OperationName, operation: SERVICE_OPERATIONS[name as OperationName] };
}

/** Returns the service that an operation belongs to. */
function serviceOf(name: OperationName): ServiceName {
  return name.slice(0, name.indexOf("/")) as ServiceName;
}

/** A request but for its body. */
export interface OperationRequest {
  method: ServiceOperation["method"];
  url: string;
  headers: Record<string, string>;
}

/** Returns the request for an operation as its service takes it. The arguments are checked ones. */
export function directRequest(
  name: OperationName,
  values: OperationArguments,
  { key, environment }: { key: string; environment: Environment },
): OperationRequest {
  const service = serviceOf(name);
  const { method, path } = SERVICE_OPERATIONS[name] as ServiceOperation;
  return {
    method,
    url: `${directAddress(service, environment)}${path(values, key)}`,
    // Telegram's key is in the address.
    headers: { ...SERVICES[service].headers, ...(service !== "telegram" && credential(service, key)) },
  };
}

/** Returns the gateway's request for an operation: to the broker if the key is a pass for it, else to the service. */
export function operationRequest(
  name: OperationName,
  values: OperationArguments,
  using: { key: string; environment: Environment },
): OperationRequest {
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
