import { Hono, type Context } from "hono";
import { PersistedValue } from "./persisted-value.ts";
import { Waiting } from "./waiting.ts";
import { listen, type Listening, type ListenOptions } from "./serve.ts";
import { readHtml } from "./telegram-html.ts";
import {
  GROUP,
  idOf,
  PERSON,
  PRIVATE,
  type TelegramMessage,
  telegramPage,
  telegramView,
  USERNAME,
} from "./telegram-page.ts";
import { PageTranscript } from "./transcript.ts";
import { Updates, type Update, type Webhook } from "./telegram-updates.ts";

export { mention, PERSON, PRIVATE } from "./telegram-page.ts";

/** Counted without tags: https://core.telegram.org/bots/api#sendmessage */
const MAX_CHARS = 4_096;
/** https://core.telegram.org/bots/api#sendphoto */
const LARGEST_PHOTO = 10_000_000;
/** https://core.telegram.org/bots/api#senddocument */
const LARGEST_DOCUMENT = 50_000_000;
const LONGEST_CAPTION = 1_024;

/**
 * Parses a request's body by its content type. Returns no parameters if the type is missing:
 * https://core.telegram.org/bots/api#making-requests
 */
async function readParameters({ req }: Context): Promise<Record<string, unknown>> {
  const isJson = req.header("content-type")?.startsWith("application/json") === true;
  // `parseBody` parses URL-encoded and multipart forms. For other types, it returns an empty object.
  const body: Promise<Record<string, unknown>> = isJson ? req.json() : req.parseBody();
  return body.catch(() => ({}));
}

interface TelegramCall {
  method: string;
  parameters: Record<string, unknown>;
}

/** `hang` never responds. */
export type TelegramFault =
  | "hang"
  | {
      status: number;
      description: string;
      parameters?: { retry_after?: number; migrate_to_chat_id?: number };
    };

export interface TelegramStandIn extends Listening {
  /** Without the `@`. */
  username: string;
  calls: readonly TelegramCall[];
  messages(): readonly TelegramMessage[];
  /** Resolves with the first message that fits, existing or future; rejects after `timeoutMs`. */
  waitFor(fits: (message: TelegramMessage) => boolean, timeoutMs: number): Promise<TelegramMessage>;
  /** Simulates a message from a person. Default: from Ada, in her private chat. */
  say(text: string, extra?: Record<string, unknown>): Update;
  /** Simulates an edit of a message: https://core.telegram.org/bots/api#update */
  edit(said: Update, text: string): Update;
  /** Simulates a button press, by default Ada's. */
  press(message: TelegramMessage, label: string, from?: object): Update;
  /** Returns the notices that the bot has shown in response to button presses. */
  words(): readonly string[];
  update(content: Record<string, unknown>): Update;
  /** Makes the next calls of a method fail with these faults, in this order. */
  fail(method: string, ...faults: TelegramFault[]): void;
  /** Rejects messages to this chat, as Telegram does if the person has blocked the bot. */
  block(chat: number): void;
  addFile(id: string, content: Uint8Array): void;
  updates: Updates;
}

export interface TelegramOptions extends ListenOptions {
  botToken: string;
  /** File that stores the webhook between runs. Default: none. */
  file?: string;
  links?: Readonly<Record<string, string>>;
}

/**
 * Starts a stand-in for Telegram's Bot API: https://core.telegram.org/bots/api Not modelled: most methods, rate limits,
 * the real intervals between webhook attempts.
 */
export async function startTelegram(options: TelegramOptions): Promise<TelegramStandIn> {
  const updates = new Updates();
  const kept = new PersistedValue<Webhook | null>(options.file, null);
  const keepWebhook = (webhook: Webhook | undefined, dropPending: boolean): true => {
    kept.value = webhook ?? null;
    updates.setWebhook(webhook, dropPending);
    return true;
  };
  const calls: TelegramCall[] = [];
  const messages: TelegramMessage[] = [];
  const faults = new Map<string, TelegramFault[]>();
  const blocked = new Set<string>();
  const files = new Map<string, Uint8Array>();
  const waiting = new Waiting("Telegram", messages);
  const transcript = new PageTranscript();
  const view = telegramView(transcript);
  const add = (content: Record<string, unknown>): Update => {
    view.update(content);
    return updates.add(content);
  };
  const posted = (message: TelegramMessage): void => {
    messages.push(message);
    view.sent(message);
    waiting.changed(message);
  };
  const changed = (message: TelegramMessage): void => {
    transcript.changed();
    waiting.changed(message);
  };
  /** Ids of button presses that the bot has not answered. */
  const presses = new Set<string>();
  const words: string[] = [];
  let lastMessageId = 0;
  const nextMessageId = (): number => (lastMessageId += 1);
  const botId = Number(options.botToken.split(":")[0]);

  const say = (text: string, extra: Record<string, unknown> = {}): Update => {
    const date = Math.floor(Date.now() / 1_000);
    const plain = { message_id: nextMessageId(), date, from: PERSON, chat: PRIVATE, text };
    return add({ message: { ...plain, ...extra } });
  };

  const edit = ({ message }: Update, text: string): Update => {
    const date = Math.floor(Date.now() / 1_000);
    return add({ edited_message: { ...Object(message), edit_date: date, text } });
  };

  const press = (message: TelegramMessage, label: string, from: object = PERSON): Update => {
    const data = message.buttons.find((button) => button.label === label)?.data ?? "";
    const id = String(presses.size + words.length + 1);
    presses.add(id);
    const isPrivate = message.chat === String(PRIVATE.id);
    const chat = isPrivate ? PRIVATE : { ...GROUP, id: Number(message.chat) };
    const below = { message_id: message.id, date: 1, chat, text: message.text };
    return updates.add({ callback_query: { id, from, message: below, chat_instance: "1", data } });
  };

  const write = (parameters: Record<string, unknown>, known?: TelegramMessage): TelegramMessage | Refusal => {
    const chat = String(parameters["chat_id"] ?? "");
    if (!/^-?\d+$|^@\w+$/.test(chat)) return refused(400, "Bad Request: chat not found");
    if (blocked.has(chat)) return refused(403, "Forbidden: bot was blocked by the user");
    const source = String(parameters["text"] ?? "");
    const mode = parameters["parse_mode"];
    if (mode !== undefined && mode !== "HTML") return refused(400, "Bad Request: unsupported parse_mode");
    const read = mode === "HTML" ? readHtml(source) : { ok: true as const, text: source };
    if (!read.ok) return refused(400, read.description);
    if (read.text.trim() === "") return refused(400, "Bad Request: message text is empty");
    if (read.text.length > MAX_CHARS) {
      return refused(400, `Bad Request: ${known ? "MESSAGE_TOO_LONG" : "message is too long"}`);
    }
    if (known !== undefined) {
      if (known.source === source) {
        const same = "specified new message content and reply markup are exactly the same";
        return refused(400, `Bad Request: message is not modified: ${same}`);
      }
      known.edits.push(known.text);
      return Object.assign(known, { text: read.text, source });
    }
    const thread = parameters["message_thread_id"];
    const buttons = readKeyboard(parameters["reply_markup"]);
    if (buttons === undefined) return refused(400, "Bad Request: BUTTON_DATA_INVALID");
    const sent: TelegramMessage = {
      id: nextMessageId(),
      chat,
      text: read.text,
      source,
      edits: [],
      buttons,
      ...(typeof thread === "number" && { thread }),
    };
    posted(sent);
    return sent;
  };

  const takeFile = (parameters: Record<string, unknown>, field: string, largest: number): unknown => {
    const { chat_id: chat = "", message_thread_id: thread, caption = "", [field]: file } = parameters;
    if (!/^-?\d+$|^@\w+$/.test(String(chat))) return refused(400, "Bad Request: chat not found");
    if (blocked.has(String(chat))) return refused(403, "Forbidden: bot was blocked by the user");
    if (!(file instanceof File)) return refused(400, `Bad Request: there is no ${field} in the request`);
    if (file.size === 0) return refused(400, "Bad Request: file must be non-empty");
    if (file.size > largest) return refused(413, "Request Entity Too Large");
    if (String(caption).length > LONGEST_CAPTION) {
      return refused(400, "Bad Request: message caption is too long");
    }
    const text = `[${field}: ${file.name}] ${String(caption)}`.trimEnd();
    const place = { chat: String(chat), ...(thread !== undefined && { thread: Number(thread) }) };
    const sent: TelegramMessage = {
      id: nextMessageId(),
      ...place,
      text,
      source: text,
      edits: [],
      buttons: [],
    };
    posted(sent);
    return { message_id: sent.id, date: Math.floor(Date.now() / 1_000), caption };
  };

  const methods: Record<string, Method> = {
    getMe: () => ({ id: botId, is_bot: true, first_name: "steward", username: USERNAME }),
    setWebhook: ({ url = "", secret_token: secret = "", drop_pending_updates: drop, ...more }) => {
      const { allowed_updates: allowed, max_connections: most = 40 } = more;
      if (url === "") return keepWebhook(undefined, drop === true);
      if (!/^https?:\/\//.test(String(url))) return refused(400, "Bad Request: bad webhook: invalid URL");
      if (!/^[\w-]{0,256}$/.test(String(secret))) {
        return refused(400, "Bad Request: secret token contains unallowed characters");
      }
      const delivery = {
        ...(Array.isArray(allowed) && { allowedUpdates: allowed.map(String) }),
        maxConnections: Number(most),
      };
      return keepWebhook({ url: String(url), secret: String(secret), ...delivery }, drop === true);
    },
    deleteWebhook: ({ drop_pending_updates: drop }) => keepWebhook(undefined, drop === true),
    getWebhookInfo: () => ({
      url: updates.webhook?.url ?? "",
      has_custom_certificate: false,
      ...(updates.webhook?.allowedUpdates && { allowed_updates: updates.webhook.allowedUpdates }),
      ...(updates.webhook && { max_connections: updates.webhook.maxConnections ?? 40 }),
      pending_update_count: updates.pending.length,
      ...(updates.lastError !== undefined && { last_error_message: updates.lastError }),
    }),
    getUpdates: async ({ offset, limit = 100, timeout = 0 }, signal) => {
      const from = typeof offset === "number" ? offset : undefined;
      const found = await updates.get(from, Number(limit), Number(timeout) * 1_000, signal);
      return "conflict" in found ? refused(409, found.conflict) : found;
    },
    sendMessage: (parameters) => {
      const sent = write(parameters);
      if ("status" in sent) return sent;
      return { message_id: sent.id, date: Math.floor(Date.now() / 1_000), text: sent.text };
    },
    editMessageText: (parameters) => {
      const known = messages.find(
        ({ id, chat }) => id === parameters["message_id"] && chat === String(parameters["chat_id"]),
      );
      if (known === undefined) return refused(400, "Bad Request: message to edit not found");
      const sent = write(parameters, known);
      if ("status" in sent) return sent;
      changed(sent);
      return { message_id: sent.id, text: sent.text };
    },
    sendPhoto: (parameters) => takeFile(parameters, "photo", LARGEST_PHOTO),
    sendDocument: (parameters) => takeFile(parameters, "document", LARGEST_DOCUMENT),
    editMessageReplyMarkup: (parameters) => {
      const known = messages.find(({ id }) => id === parameters["message_id"]);
      if (known === undefined) return refused(400, "Bad Request: message to edit not found");
      known.buttons = readKeyboard(parameters["reply_markup"]) ?? [];
      changed(known);
      return { message_id: known.id };
    },
    answerCallbackQuery: ({ callback_query_id: id, text }) => {
      const open = presses.delete(String(id));
      if (!open) return refused(400, "Bad Request: query is too old and response timeout expired");
      words.push(String(text ?? ""));
      return true;
    },
    setMessageReaction: ({ chat_id: chat, message_id: message, reaction }) => {
      const [{ emoji } = { emoji: "" }] = (reaction ?? []) as { emoji: string }[];
      transcript.react(idOf(String(chat), Number(message)), emoji);
      return true;
    },
    sendChatAction: () => true,
    getFile: ({ file_id: id }) => {
      const file = files.get(String(id));
      if (file === undefined) return refused(400, "Bad Request: invalid file_id");
      return {
        file_id: id,
        file_unique_id: id,
        file_size: file.byteLength,
        file_path: `files/${String(id)}`,
      };
    },
  };

  const app = new Hono();
  const page = telegramPage({
    transcript,
    links: options.links ?? {},
    messages,
    async addFile(file) {
      const id = `file-${files.size}`;
      files.set(id, new Uint8Array(await file.arrayBuffer()));
      return id;
    },
    say,
    press,
  });
  app.route("/", page);
  app.get("/file/:bot/:folder/:name", (context) => {
    const { bot, name } = context.req.param();
    const file = files.get(name);
    if (bot !== `bot${options.botToken}` || file === undefined) return context.text("Not Found", 404);
    return context.body(Uint8Array.from(file));
  });
  app.all("/:bot/:method", async (context) => {
    if (context.req.param("bot") !== `bot${options.botToken}`) {
      return answerError(context, refused(401, "Unauthorized"));
    }
    const name = context.req.param("method");
    const parameters = await readParameters(context);
    calls.push({ method: name, parameters });
    const fault = faults.get(name)?.shift();
    if (fault === "hang") return new Promise<Response>(() => {});
    if (fault !== undefined) return answerError(context, fault);
    const method = methods[name];
    if (method === undefined) return answerError(context, refused(404, "Not Found"));
    const result = await method(parameters, context.req.raw.signal);
    if (isRefusal(result)) return answerError(context, result);
    return context.json({ ok: true, result });
  });

  const listening = await listen(app, options);
  updates.setWebhook(kept.value ?? undefined, false);
  return {
    ...listening,
    username: USERNAME,
    calls,
    updates,
    messages: () => messages,
    say,
    edit,
    press,
    words: () => words,
    update: add,
    fail: (method, ...more) => void faults.set(method, [...(faults.get(method) ?? []), ...more]),
    block: (chat) => void blocked.add(String(chat)),
    addFile: (id, content) => void files.set(id, content),
    waitFor: (fits, timeoutMs) => waiting.for(fits, timeoutMs),
  };
}

/**
 * Returns the buttons of an inline keyboard; `undefined` if a button's data is not 1 to 64 bytes long:
 * https://core.telegram.org/bots/api#inlinekeyboardbutton
 */
function readKeyboard(markup: unknown): TelegramMessage["buttons"] | undefined {
  const { inline_keyboard: rows = [] } = Object(markup) as {
    inline_keyboard?: { text: string; callback_data: string }[][];
  };
  const buttons = rows.flat().map(({ text, callback_data: data }) => ({ label: text, data }));
  const isValid = buttons.every(({ data }) => data !== "" && Buffer.byteLength(data) <= 64);
  return isValid ? buttons : undefined;
}

type Refusal = Exclude<TelegramFault, "hang">;
type Method = (parameters: Record<string, unknown>, signal: AbortSignal) => unknown;

function refused(status: number, description: string): Refusal {
  return { status, description };
}

function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "status" in value && "description" in value;
}

/** https://core.telegram.org/bots/api#making-requests */
function answerError(context: Context, { status, description, parameters }: Refusal): Response {
  const body = { ok: false, error_code: status, description, ...(parameters && { parameters }) };
  return context.json(body, status as 400);
}
