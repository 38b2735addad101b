import { Hono, type Context } from "hono";
import { createDiscordKey, signInteraction, type DiscordKey } from "./discord-key.ts";
import { DiscordGateway } from "./discord-gateway.ts";
import { buttonsOf, type DiscordMessage, readSent, snowflakeNow } from "./discord-message.ts";
import { discordPage, SERVER, showCommand, showSent, showWritten } from "./discord-page.ts";
import { createRegistry, type DiscordRegistry } from "./discord-registry.ts";
import { listen, type Listening, type ListenOptions } from "./serve.ts";
import { PageTranscript } from "./transcript.ts";

interface DiscordCall {
  method: string;
  path: string;
  body: Record<string, unknown>;
  authorization: string | undefined;
  userAgent: string | undefined;
}

/** A response that a test injects. */
interface DiscordFault {
  status: number;
  body?: object;
  headers?: Record<string, string>;
}

export interface DiscordStandIn extends Listening {
  apiUrl: string;
  publicKey: string;
  calls: readonly DiscordCall[];
  messages: readonly DiscordMessage[];
  registry: DiscordRegistry;
  gateway: DiscordGateway;
  /**
   * Queues responses for the next requests. Requests for the current user or for Discord's gateway address are
   * answered normally.
   */
  next(...faults: DiscordFault[]): void;
  /** Marks an interaction as deferred. Its token stays valid until `expire` is called. */
  defer(token: string, flags?: number): void;
  expire(token: string): void;
  /** Tokens of unanswered deferred interactions. */
  pending(): readonly string[];
  /** Sends a signed interaction to the endpoint, and processes the response. */
  interact(endpoint: string, payload: Record<string, unknown>): Promise<Response>;
  /**
   * Returns the interaction that a button press sends. `by` contains the fields that identify the person: `user` in a
   * direct message; `member`, `guild_id` and `channel_id` on a server.
   */
  press(
    message: Pick<DiscordMessage, "id" | "place" | "content">,
    label: string,
    by: object,
  ): Record<string, unknown>;
}

export interface DiscordOptions extends ListenOptions {
  botToken: string;
  applicationId: string;
  /** Default: a new one. */
  key?: DiscordKey;
  /** Default: Discord's interval. */
  heartbeatMs?: number;
  /** File that stores the commands and the endpoint. Default: none. */
  file?: string;
  links?: Readonly<Record<string, string>>;
}

const ASKED_AT_ANY_TIME = new Set(["/api/v10/users/@me", "/api/v10/gateway/bot"]);
const LONGEST = 2_000;
/** https://docs.discord.com/developers/reference#uploading-files */
const LARGEST_FILE = 10 * 1024 * 1024;
/** https://docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes */
const TOO_LARGE = { message: "Request entity too large", code: 40005 };
const UNKNOWN_WEBHOOK = { message: "Unknown Webhook", code: 10015 };
const UNKNOWN_CHANNEL = { message: "Unknown Channel", code: 10003 };
const UNKNOWN_GUILD = { message: "Unknown Guild", code: 10004 };
const UNKNOWN_MESSAGE = { message: "Unknown Message", code: 10008 };
const INVALID_TOKEN = { message: "Invalid Webhook Token", code: 50027 };

/**
 * Starts a stand-in for Discord's API, version 10: https://docs.discord.com/developers/reference Not modelled:
 * permissions, rate limits other than injected ones, most resources.
 */
export async function startDiscord(options: DiscordOptions): Promise<DiscordStandIn> {
  const key = options.key ?? createDiscordKey();
  const calls: DiscordCall[] = [];
  const messages: DiscordMessage[] = [];
  const faults: DiscordFault[] = [];
  let presses = 0;
  const tickets = new Map<string, { state: "deferred" | "answered" | "expired"; flags: number }>();
  /** Message ids by the interaction token of a button press. */
  const pressed = new Map<string, string>();
  const app = new Hono();
  const api = app.basePath("/api/v10");
  const registry = createRegistry(options, key);
  const { botToken, applicationId: user, heartbeatMs } = options;
  const transcript = new PageTranscript();
  const gateway = new DiscordGateway({
    botToken,
    user,
    ...(heartbeatMs !== undefined && { heartbeatMs }),
    onWritten: (message) => showWritten(transcript, message, user),
  });
  const files = new Map<string, File>();
  /** Channels by interaction token. */
  const channels = new Map<string, string>();

  app.route(
    "/",
    discordPage({
      transcript,
      links: options.links ?? {},
      applicationId: user,
      gateway,
      messages,
      commands: () => registry.commands().map(({ name }) => String(name)),
      async addFile(file) {
        const id = snowflakeNow();
        files.set(id, file);
        const url = `${listening.url}/attachments/${id}/${encodeURIComponent(file.name)}`;
        return { id, filename: file.name, content_type: file.type, size: file.size, url, proxy_url: url };
      },
      async interact(payload) {
        const endpoint = registry.endpoint();
        if (endpoint !== null) {
          const response = await standIn.interact(endpoint, payload);
          return response.ok ? undefined : `The endpoint answered with ${response.status}.`;
        }
        if (!gateway.connected) return "No bot is connected, and no endpoint is registered.";
        begun(payload);
        gateway.interact(payload);
        return undefined;
      },
      press: (message, label, by) => standIn.press(message, label, by),
    }),
  );
  app.get("/attachments/:id/:name", async (context) => {
    const file = files.get(context.req.param("id"));
    if (file === undefined) return context.text("Not Found", 404);
    return context.body(await file.arrayBuffer(), 200, { "content-type": file.type });
  });
  api.use("*", async (context, next) => {
    const { method, path } = context.req;
    const { text, file } = await readSent(context.req.raw.clone());
    if (file !== undefined && file.size > LARGEST_FILE) return context.json(TOO_LARGE, 413);
    calls.push({
      method,
      path: path.replace("/api/v10", ""),
      body: text === "" ? {} : JSON.parse(text),
      authorization: context.req.header("authorization"),
      userAgent: context.req.header("user-agent"),
    });
    const fault = ASKED_AT_ANY_TIME.has(path) ? undefined : faults.shift();
    if (fault !== undefined) return Response.json(fault.body ?? {}, fault);
    const byTicket = /^\/api\/v10\/(?:webhooks|interactions)\//.test(path);
    if (!byTicket && context.req.header("authorization") !== `Bot ${options.botToken}`) {
      return context.json({ message: "401: Unauthorized", code: 0 }, 401);
    }
    return next();
  });
  api.get("/users/@me", (context) =>
    context.json({ id: options.applicationId, username: "steward", bot: true }),
  );
  api.route("/", registry.routes);
  api.route("/", gateway.routes);

  const add = (place: string, body: Record<string, unknown>, original: boolean, flags = 0) => {
    const content = String(body["content"]);
    const file = body["file"] === undefined ? {} : { file: String(body["file"]) };
    const reference = body["message_reference"] as { message_id?: string } | undefined;
    const message = {
      id: String(9_000 + messages.length),
      place,
      channel: channels.get(place) ?? place,
      content,
      flags,
      original,
      edits: 0,
      buttons: buttonsOf(body),
      ...file,
      ...(reference?.message_id !== undefined && { answers: reference.message_id }),
    };
    messages.push(message);
    showSent(transcript, message, messages);
    return message;
  };
  const wrong = (context: Context, body: Record<string, unknown>): Response | undefined => {
    const content = body["content"];
    if (typeof content !== "string" || (content === "" && body["file"] === undefined)) {
      return context.json({ message: "Cannot send an empty message", code: 50006 }, 400);
    }
    if (content.length <= LONGEST) return undefined;
    const problem = { code: "BASE_TYPE_MAX_LENGTH", message: "Must be 2000 or fewer in length." };
    const errors = { content: { _errors: [problem] } };
    return context.json({ message: "Invalid Form Body", code: 50035, errors }, 400);
  };
  const edit = (message: DiscordMessage | undefined, context: Context, body: Record<string, unknown>) => {
    if (message === undefined) return context.json(UNKNOWN_MESSAGE, 404);
    message.content = String(body["content"]);
    if (body["components"] !== undefined) message.buttons = buttonsOf(body);
    message.edits += 1;
    transcript.changed();
    return context.json(message);
  };
  const body = async (context: Context): Promise<Record<string, unknown>> => {
    const { text, file } = await readSent(context.req.raw);
    return { ...(JSON.parse(text) as object), ...(file && { file: file.name }) };
  };

  api.post("/channels/:channel/messages", async (context) => {
    const sent = await body(context);
    return wrong(context, sent) ?? context.json(add(context.req.param("channel"), sent, false));
  });
  api.get("/channels/:channel", (context) => {
    const id = context.req.param("channel");
    if (id !== SERVER.channel) return context.json(UNKNOWN_CHANNEL, 404);
    return context.json({ id, type: 0, guild_id: SERVER.guild, name: SERVER.channelName });
  });
  api.get("/guilds/:guild", (context) => {
    const id = context.req.param("guild");
    return id === SERVER.guild ? context.json({ id, name: SERVER.name }) : context.json(UNKNOWN_GUILD, 404);
  });
  api.post("/channels/:channel/typing", (context) => context.body(null, 204));
  api.put("/channels/:channel/messages/:id/reactions/:emoji/@me", (context) => {
    const { id, emoji } = context.req.param();
    transcript.react(id, emoji);
    return context.body(null, 204);
  });
  api.patch("/channels/:channel/messages/:id", async (context) =>
    edit(
      messages.find(({ id }) => id === context.req.param("id")),
      context,
      await body(context),
    ),
  );
  api.post("/users/@me/channels", async (context) => {
    const { recipient_id: person } = await context.req.json<{ recipient_id: string }>();
    return context.json({ id: `${person}0`, type: 1 });
  });
  // https://docs.discord.com/developers/interactions/receiving-and-responding#create-interaction-response
  api.post("/interactions/:id/:token/callback", async (context) => {
    take(context.req.param("token"), await context.req.json<InteractionAnswer>());
    return context.body(null, 204);
  });
  api.use("/webhooks/:application/:token/*", async (context, next) => {
    const ticket = tickets.get(context.req.param("token"));
    const known = context.req.param("application") === options.applicationId;
    if (ticket === undefined || !known) return context.json(UNKNOWN_WEBHOOK, 404);
    if (ticket.state === "expired") return context.json(INVALID_TOKEN, 401);
    return next();
  });
  const ofToken = (token: string, id: string) => {
    const below = pressed.get(token);
    if (id === "@original" && below !== undefined) return messages.find((one) => one.id === below);
    return messages.find((one) => one.place === token && (id === "@original" ? one.original : one.id === id));
  };
  api.patch("/webhooks/:application/:token/messages/:id", async (context) => {
    const { token, id } = context.req.param();
    const ticket = tickets.get(token);
    const sent = await body(context);
    const refused = wrong(context, sent);
    if (refused !== undefined || ticket === undefined) return refused ?? context.json(UNKNOWN_WEBHOOK, 404);
    const found = ofToken(token, id);
    if (found !== undefined || id !== "@original" || ticket.state !== "deferred") {
      return edit(found, context, sent);
    }
    ticket.state = "answered";
    return context.json(add(token, sent, true, ticket.flags));
  });
  api.delete("/webhooks/:application/:token/messages/:id", (context) => {
    const { token, id } = context.req.param();
    const ticket = tickets.get(token);
    if (id === "@original" && ticket !== undefined) ticket.state = "answered";
    const found = ofToken(token, id);
    if (found !== undefined) messages.splice(messages.indexOf(found), 1);
    transcript.changed();
    return context.body(null, 204);
  });
  api.post("/webhooks/:application/:token", async (context) => {
    const sent = await body(context);
    return (
      wrong(context, sent) ??
      context.json(add(context.req.param("token"), sent, false, Number(sent["flags"] ?? 0)))
    );
  });
  app.notFound((context) => context.json({ message: "404: Not Found", code: 0 }, 404));

  const listening = await listen(app, options, (...upgrade) => gateway.upgrade(...upgrade));
  const defer = (token: string, flags = 0): void => void tickets.set(token, { state: "deferred", flags });
  /**
   * https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type
   */
  const take = (token: string, { type, data }: InteractionAnswer): void => {
    if (type === 5) defer(token, data?.flags);
    if (type === 6) tickets.set(token, { state: "answered", flags: 0 });
  };
  const begun = (payload: Record<string, unknown>): void => {
    channels.set(String(payload["token"]), String(payload["channel_id"]));
    showCommand(transcript, payload);
  };
  const standIn: DiscordStandIn = {
    ...listening,
    async close() {
      gateway.close();
      await listening.close();
    },
    gateway,
    apiUrl: `${listening.url}/api/v10`,
    publicKey: key.publicKey,
    calls,
    messages,
    registry,
    next: (...more) => void faults.push(...more),
    defer,
    expire: (token) => void tickets.set(token, { state: "expired", flags: 0 }),
    pending: () => [...tickets].filter(([, { state }]) => state === "deferred").map(([token]) => token),
    async interact(endpoint, payload) {
      begun(payload);
      const text = JSON.stringify(payload);
      const init = { method: "POST", body: text, headers: signInteraction(key, text) };
      const response = await fetch(endpoint, init);
      const answer = response.ok ? ((await response.clone().json()) as InteractionAnswer) : undefined;
      if (answer !== undefined) take(String(payload["token"]), answer);
      return response;
    },
    press({ id, place, content }, label, by) {
      const button = messages.find((one) => one.id === id)?.buttons.find((one) => one.label === label);
      if (button === undefined) throw new Error(`the message has no button ${label}`);
      presses += 1;
      const token = `a-press-${presses}`;
      pressed.set(token, id);
      return {
        id: snowflakeNow(),
        application_id: options.applicationId,
        type: 3,
        token,
        version: 1,
        channel_id: place,
        ...by,
        message: { id, content, type: 0, author: { id: options.applicationId, bot: true } },
        data: { id: 2, component_type: 2, custom_id: button.custom_id },
      };
    },
  };
  return standIn;
}

interface InteractionAnswer {
  type: number;
  data?: { flags?: number };
}
