import { createHmac } from "node:crypto";
import { Hono } from "hono";
import { listen, type Listening, type ListenOptions } from "./serve.ts";
import { CHANNEL, type mention, PERSON, pressOf, type SlackEvent, WORKSPACE } from "./slack-events.ts";
import { showBot, showPerson, slackPage, type SlackMessage } from "./slack-page.ts";
import { PageTranscript } from "./transcript.ts";
import { Waiting } from "./waiting.ts";

export { direct, edit, mention, remove } from "./slack-events.ts";

interface SignedEvent {
  body: string;
  headers: Record<string, string>;
}

export interface SlackStandIn extends Listening {
  apiUrl: string;
  messages(): readonly SlackMessage[];
  /** Resolves with the first message that fits, existing or future; rejects after `timeoutMs`. */
  waitFor(fits: (message: SlackMessage) => boolean, timeoutMs: number): Promise<SlackMessage>;
  /** https://docs.slack.dev/authentication/verifying-requests-from-slack */
  sign(body: unknown): SignedEvent;
  /** Sets the address to which the stand-in sends events and button presses. */
  connect(eventsUrl: string): void;
  /** Sends a person's message to the service and shows it on the stand-in's page. Call {@link connect} first. */
  send(event: ReturnType<typeof mention>): Promise<Response>;
}

export interface SlackOptions extends ListenOptions {
  botToken: string;
  signingSecret: string;
  links?: Readonly<Record<string, string>>;
}

/**
 * Starts a stand-in for Slack's Web API (https://docs.slack.dev/apis/web-api/). It supports uploads in three steps:
 * https://docs.slack.dev/messaging/working-with-files#uploading_files Not modelled: most methods, scopes, rate limits,
 * event retries, rendering.
 */
export async function startSlack(options: SlackOptions): Promise<SlackStandIn> {
  const messages: SlackMessage[] = [];
  const waiting = new Waiting("Slack", messages);
  const uploads = new Map<string, { filename: string; length: number; uploaded: boolean }>();
  const sign = (value: unknown): SignedEvent => signed(options.signingSecret, JSON.stringify(value));
  let eventsUrl = "";
  const transcript = new PageTranscript();
  const files = new Map<string, { file: File; channel: string }>();
  const posted = (message: SlackMessage, note?: string): void => {
    showBot(transcript, message, note);
    messages.push(message);
    waiting.changed(message);
  };
  const changed = (message: SlackMessage): void => {
    transcript.changed();
    waiting.changed(message);
  };
  const newTs = (): string => `${Math.floor(Date.now() / 1_000)}.${String(messages.length).padStart(6, "0")}`;
  const send = async (event: { event: SlackEvent }): Promise<Response> => {
    let status: number | undefined;
    showPerson(transcript, event, () => status);
    const response = await fetch(eventsUrl, { method: "POST", ...sign(event) });
    ({ status } = response);
    transcript.changed();
    return response;
  };
  const ifConnected = async (work: () => Promise<Response>) =>
    eventsUrl === "" ? undefined : (await work()).status;
  const page = slackPage({
    transcript,
    links: options.links ?? {},
    messages,
    async addFile(file, channel) {
      const id = `F0PERSON${files.size}`;
      files.set(id, { file, channel });
      return { id, name: file.name, mimetype: file.type, size: file.size, mode: "hosted" };
    },
    send: (event) => ifConnected(() => send(event)),
    press: (message, label) =>
      ifConnected(() => {
        const value = message.buttons.find((button) => button.label === label)?.value ?? "";
        const payload = JSON.stringify(pressOf(message, value));
        const body = new URLSearchParams({ payload }).toString();
        const { headers } = signed(options.signingSecret, body);
        const type = { "content-type": "application/x-www-form-urlencoded" };
        return fetch(eventsUrl, { method: "POST", body, headers: { ...headers, ...type } });
      }),
  });

  const app = new Hono();
  app.route("/", page);
  app.use("/api/*", async (context, next) => {
    const authorization = context.req.header("authorization");
    if (authorization === undefined) return context.json({ ok: false, error: "not_authed" });
    if (authorization !== `Bearer ${options.botToken}`)
      return context.json({ ok: false, error: "invalid_auth" });
    await next();
    return undefined;
  });
  app.post("/api/auth.test", (context) => context.json({ ok: true, ...WORKSPACE, bot_id: "B0STEWARD" }));
  app.post("/api/users.info", async (context) => {
    const { user } = await readArguments(context.req.raw);
    if (user !== PERSON.id) return context.json({ ok: false, error: "user_not_found" });
    return context.json({ ok: true, user: PERSON });
  });
  app.post("/api/conversations.info", async (context) => {
    const { channel } = await readArguments(context.req.raw);
    if (!channel?.startsWith("C")) return context.json({ ok: false, error: "channel_not_found" });
    return context.json({ ok: true, channel: { id: channel, name: "rehearsal", is_channel: true } });
  });
  app.post("/api/chat.postMessage", async (context) => {
    const { channel, text, thread_ts: threadTs, blocks } = await readArguments(context.req.raw);
    if (!channel) return context.json({ ok: false, error: "channel_not_found" });
    if (!text) return context.json({ ok: false, error: "no_text" });
    const ts = newTs();
    posted({ channel, text, ts, ...(threadTs && { threadTs }), edits: 0, buttons: buttonsIn(blocks) });
    return context.json({
      ok: true,
      channel,
      ts,
      message: { type: "message", text, ts, user: WORKSPACE.user_id },
    });
  });
  app.post("/api/chat.update", async (context) => {
    const { ts, text, blocks } = await readArguments(context.req.raw);
    const message = messages.find((candidate) => candidate.ts === ts);
    if (!message || !text) return context.json({ ok: false, error: "message_not_found" });
    message.text = text;
    message.edits += 1;
    // If `blocks` is missing, the message keeps its blocks: https://docs.slack.dev/reference/methods/chat.update
    if (blocks !== undefined) message.buttons = buttonsIn(blocks);
    changed(message);
    return context.json({ ok: true, channel: message.channel, ts, text });
  });
  app.post("/api/assistant.threads.setStatus", async (context) => {
    const { channel_id: channel, thread_ts: thread } = await readArguments(context.req.raw);
    if (!channel) return context.json({ ok: false, error: "channel_not_found" });
    return context.json(thread ? { ok: true } : { ok: false, error: "invalid_thread_ts" });
  });
  app.post("/api/reactions.add", async (context) => {
    const { channel, timestamp, name } = await readArguments(context.req.raw);
    if (!channel || !timestamp || !name) return context.json({ ok: false, error: "no_item_specified" });
    transcript.react(timestamp, `:${name}:`);
    return context.json({ ok: true });
  });
  app.post("/api/chat.postEphemeral", async (context) => {
    const { channel, user, text, thread_ts: threadTs } = await readArguments(context.req.raw);
    if (!channel || !user) return context.json({ ok: false, error: "user_not_in_channel" });
    if (!text) return context.json({ ok: false, error: "no_text" });
    const shown = { channel, text, ts: "1.1", ...(threadTs && { threadTs }), edits: 0, buttons: [] };
    showBot(transcript, shown, "only you can see this");
    return context.json({ ok: true, message_ts: "1.1" });
  });
  app.post("/api/files.getUploadURLExternal", async (context) => {
    const { filename, length } = await readArguments(context.req.raw);
    if (!filename || !(Number(length) > 0)) return context.json({ ok: false, error: "invalid_arguments" });
    const id = `F0REHEARSAL${uploads.size}`;
    uploads.set(id, { filename, length: Number(length), uploaded: false });
    return context.json({ ok: true, upload_url: `${listening.url}/upload/v1/${id}`, file_id: id });
  });
  app.post("/upload/v1/:id", async (context) => {
    const found = uploads.get(context.req.param("id"));
    const { byteLength } = await context.req.arrayBuffer();
    if (found === undefined || byteLength !== found.length) return context.text("Bad Request", 400);
    found.uploaded = true;
    return context.text(`OK - ${byteLength}`);
  });
  app.post("/api/files.completeUploadExternal", async (context) => {
    const {
      files = "[]",
      channel_id: channel,
      thread_ts: threadTs,
      ...more
    } = await readArguments(context.req.raw);
    const [file] = JSON.parse(files) as { id: string }[];
    const found = uploads.get(file?.id ?? "");
    if (!found?.uploaded) return context.json({ ok: false, error: "file_not_found" });
    if (!channel) return context.json({ ok: true, files: [file] });
    const text = `[file: ${found.filename}] ${more["initial_comment"] ?? ""}`.trimEnd();
    posted({ channel, text, ts: newTs(), ...(threadTs && { threadTs }), edits: 0, buttons: [] });
    return context.json({ ok: true, files: [file] });
  });
  app.post("/api/files.info", async (context) => {
    const { file: id = "" } = await readArguments(context.req.raw);
    const found = files.get(id);
    if (found === undefined) return context.json({ ok: false, error: "file_not_found" });
    const { file, channel } = found;
    const url = `${listening.url}/files-pri/${WORKSPACE.team_id}-${id}/download/${encodeURIComponent(file.name)}`;
    const chats = channel === CHANNEL.id ? { channels: [channel] } : { ims: [channel] };
    const described = { id, name: file.name, mimetype: file.type, size: file.size, ...chats };
    return context.json({ ok: true, file: { ...described, url_private: url, url_private_download: url } });
  });
  app.get("/files-pri/:place/download/:name", async (context) => {
    const found = files.get(context.req.param("place").replace(`${WORKSPACE.team_id}-`, ""));
    const isBot = context.req.header("authorization") === `Bearer ${options.botToken}`;
    if (found === undefined || !isBot) return context.text("Not Found", 404);
    return context.body(await found.file.arrayBuffer(), 200, { "content-type": found.file.type });
  });
  app.post("/api/*", (context) => context.json({ ok: false, error: "unknown_method" }));

  const listening = await listen(app, options);
  return {
    ...listening,
    apiUrl: `${listening.url}/api/`,
    messages: () => messages,
    sign,
    connect: (url) => {
      eventsUrl = url;
    },
    send,
    waitFor: (fits, timeoutMs) => waiting.for(fits, timeoutMs),
  };
}

/** https://docs.slack.dev/reference/block-kit/blocks/actions-block */
function buttonsIn(blocks: unknown): SlackMessage["buttons"] {
  const given: unknown = typeof blocks === "string" ? JSON.parse(blocks) : (blocks ?? []);
  const list = given as { elements?: { type: string; text: { text: string }; value: string }[] }[];
  return list
    .flatMap(({ elements = [] }) => elements)
    .filter(({ type }) => type === "button")
    .map(({ text, value }) => ({ label: text.text, value }));
}

function signed(secret: string, body: string): SignedEvent {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
  return {
    body,
    headers: {
      "content-type": "application/json",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": `v0=${signature}`,
    },
  };
}

// Clients send arguments to the Web API as a form or as JSON.
async function readArguments(request: Request): Promise<Record<string, string | undefined>> {
  if (request.headers.get("content-type")?.includes("application/json")) {
    return (await request.json()) as Record<string, string>;
  }
  return Object.fromEntries(new URLSearchParams(await request.text()));
}
