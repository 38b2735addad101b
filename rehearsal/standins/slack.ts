import { createHmac } from "node:crypto";
import { Hono } from "hono";
import { slackPage, type SlackMessage } from "./slack-page.ts";
import { Waiting } from "./waiting.ts";
import { listen, type Listening, type ListenOptions } from "./serve.ts";

/** A request as Slack would send it. */
interface SignedEvent {
  body: string;
  headers: Record<string, string>;
}

/** Slack's side of the rehearsal. */
export interface SlackStandIn extends Listening {
  /** What `SLACK_API_URL` has to be. */
  apiUrl: string;
  messages(): readonly SlackMessage[];
  /** Resolves with the first message that fits, now or later; rejects after `timeoutMs`. */
  waitFor(fits: (message: SlackMessage) => boolean, timeoutMs: number): Promise<SlackMessage>;
  /** Signs an event: https://docs.slack.dev/authentication/verifying-requests-from-slack */
  sign(body: unknown): SignedEvent;
  /** Tells where the deployed service takes events, so that the stand-in's page can send one. */
  connect(eventsUrl: string): void;
}

/** The workspace's secrets as the stand-in knows them. */
export interface SlackOptions extends ListenOptions {
  botToken: string;
  signingSecret: string;
}

const WORKSPACE = { team: "Rehearsal", team_id: "T0REHEARSAL", user: "steward", user_id: "U0STEWARD" };

/** The workspace's only person: https://docs.slack.dev/reference/objects/user-object */
const PERSON = {
  id: "U0PERSON",
  name: "robin",
  profile: { display_name: "Robin", real_name: "Robin Doe" },
};

/** A message of a person, as an event tells of it. */
interface SlackEvent {
  type: string;
  user: string;
  text: string;
  ts: string;
  channel: string;
  channel_type?: string;
}

/** A mention of the bot in a channel, as Slack tells of it: https://docs.slack.dev/reference/events/app_mention */
export function mention(
  text: string,
  { id = crypto.randomUUID(), chat = "C0REHEARSAL" }: { id?: string; chat?: string } = {},
) {
  return callback(id, {
    type: "app_mention",
    user: PERSON.id,
    text: `<@${WORKSPACE.user_id}> ${text}`,
    ts: timestamp(),
    channel: chat,
  } satisfies SlackEvent);
}

/** A direct message to the bot: https://docs.slack.dev/reference/events/message.im */
export function direct(text: string) {
  return callback(crypto.randomUUID(), {
    type: "message",
    user: PERSON.id,
    text,
    ts: timestamp(),
    channel: "D0REHEARSAL",
    channel_type: "im",
  } satisfies SlackEvent);
}

/**
 * An edit of a message: https://docs.slack.dev/reference/events/message/message_changed. A mention comes again with
 * `edited`, as https://github.com/slackapi/java-slack-sdk/pull/755 tells.
 */
export function edit({ event }: { event: SlackEvent }, text: string) {
  const { channel, channel_type, ...former } = event;
  const ts = timestamp();
  const edited = { user: former.user, ts };
  if (event.type === "app_mention") {
    const mentioned = `<@${WORKSPACE.user_id}> ${text}`;
    return callback(crypto.randomUUID(), { ...event, text: mentioned, edited });
  }
  return callback(crypto.randomUUID(), {
    type: "message",
    subtype: "message_changed",
    hidden: true,
    channel,
    channel_type,
    ts,
    message: { ...former, text, edited },
    previous_message: former,
  });
}

/** A deletion of a message: https://docs.slack.dev/reference/events/message/message_deleted */
export function remove({ event }: { event: SlackEvent }) {
  const { channel, channel_type, ...former } = event;
  return callback(crypto.randomUUID(), {
    type: "message",
    subtype: "message_deleted",
    hidden: true,
    channel,
    channel_type,
    ts: timestamp(),
    deleted_ts: former.ts,
    previous_message: former,
  });
}

function timestamp(): string {
  return (Date.now() / 1_000).toFixed(6);
}

function callback<Event>(id: string, event: Event) {
  const authorizations = [{ team_id: WORKSPACE.team_id, user_id: WORKSPACE.user_id, is_bot: true }];
  return { type: "event_callback", event_id: `Ev${id}`, team_id: WORKSPACE.team_id, authorizations, event };
}

/**
 * Stands in for Slack's Web API (https://docs.slack.dev/apis/web-api/): `auth.test`, `users.info`, `conversations.info`,
 * `chat.postMessage`, `chat.update`, `chat.postEphemeral`, `reactions.add` and `assistant.threads.setStatus`, with the
 * documented answers for a missing or wrong token.
 * A file goes out in three steps: https://docs.slack.dev/messaging/working-with-files#uploading_files
 * Not modelled: every other method, scopes, presses of buttons, rate limits, retries of events, rendering.
 */
export async function startSlack(options: SlackOptions): Promise<SlackStandIn> {
  const messages: SlackMessage[] = [];
  const waiting = new Waiting("Slack", messages);
  const uploads = new Map<string, { filename: string; length: number; uploaded: boolean }>();
  const sign = (value: unknown): SignedEvent => signed(options.signingSecret, JSON.stringify(value));
  let eventsUrl = "";

  const app = new Hono();
  app.get("/", (context) => context.html(slackPage(messages)));
  app.post("/say", async (context) => {
    const { text } = await context.req.parseBody();
    const event = sign(mention(typeof text === "string" ? text : ""));
    if (eventsUrl !== "") await fetch(eventsUrl, { method: "POST", ...event });
    return context.redirect("/", 303);
  });
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
    const { channel, text, thread_ts: threadTs } = await readArguments(context.req.raw);
    if (!channel) return context.json({ ok: false, error: "channel_not_found" });
    if (!text) return context.json({ ok: false, error: "no_text" });
    const ts = `${Math.floor(Date.now() / 1_000)}.${String(messages.length).padStart(6, "0")}`;
    const posted: SlackMessage = { channel, text, ts, ...(threadTs && { threadTs }) };
    messages.push(posted);
    waiting.changed(posted);
    return context.json({
      ok: true,
      channel,
      ts,
      message: { type: "message", text, ts, user: WORKSPACE.user_id },
    });
  });
  app.post("/api/chat.update", async (context) => {
    const { ts, text } = await readArguments(context.req.raw);
    const message = messages.find((candidate) => candidate.ts === ts);
    if (!message || !text) return context.json({ ok: false, error: "message_not_found" });
    message.text = text;
    waiting.changed(message);
    return context.json({ ok: true, channel: message.channel, ts, text });
  });
  app.post("/api/assistant.threads.setStatus", async (context) => {
    const { channel_id: channel, thread_ts: thread } = await readArguments(context.req.raw);
    if (!channel) return context.json({ ok: false, error: "channel_not_found" });
    return context.json(thread ? { ok: true } : { ok: false, error: "invalid_thread_ts" });
  });
  app.post("/api/reactions.add", async (context) => {
    const { channel, timestamp, name } = await readArguments(context.req.raw);
    return context.json(
      channel && timestamp && name ? { ok: true } : { ok: false, error: "no_item_specified" },
    );
  });
  app.post("/api/chat.postEphemeral", async (context) => {
    const { channel, user, text } = await readArguments(context.req.raw);
    if (!channel || !user) return context.json({ ok: false, error: "user_not_in_channel" });
    return context.json(text ? { ok: true, message_ts: "1.1" } : { ok: false, error: "no_text" });
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
    const ts = `${Math.floor(Date.now() / 1_000)}.${String(messages.length).padStart(6, "0")}`;
    const text = `[file: ${found.filename}] ${more["initial_comment"] ?? ""}`.trimEnd();
    const posted: SlackMessage = { channel, text, ts, ...(threadTs && { threadTs }) };
    messages.push(posted);
    waiting.changed(posted);
    return context.json({ ok: true, files: [file] });
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
    waitFor: (fits, timeoutMs) => waiting.for(fits, timeoutMs),
  };
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

// The Web API takes forms and JSON alike.
async function readArguments(request: Request): Promise<Record<string, string | undefined>> {
  if (request.headers.get("content-type")?.includes("application/json")) {
    return (await request.json()) as Record<string, string>;
  }
  return Object.fromEntries(new URLSearchParams(await request.text()));
}
