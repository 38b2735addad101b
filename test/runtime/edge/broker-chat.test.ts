import { describe, expect, it } from "vitest";
import type { Platform } from "../../../runtime/contract/delivery.ts";
import { SERVICE_OPERATIONS, type OperationName } from "../../../runtime/contract/service-operations.ts";
import { credential, type ServiceName } from "../../../runtime/contract/services.ts";
import type { TenantChat } from "../../../runtime/contract/tenant.ts";
import { BROKER_TOKEN as TOKEN, edgeFixture } from "../../support/edge.ts";
import { generator } from "../../support/random.ts";

const KEYS = {
  ANTHROPIC_API_KEY: "sk-ant-real-0123456789abcdef",
  OPENAI_API_KEY: "sk-real-0123456789abcdefghij",
  TELEGRAM_BOT_TOKEN: "123456789:AAreal-0123456789abcdefghijklmnopqr",
  SLACK_BOT_TOKEN: "xoxb-real-0123456789",
  DISCORD_BOT_TOKEN: "discord.real.0123456789abcdef",
};
/** The tenant's chat on each platform, and another one. Neither is part of any other text of a request. */
const CHATS: Record<Platform, { own: string; other: string }> = {
  slack: { own: "C0WNCHANNEL", other: "C0THERCHANNEL" },
  telegram: { own: "-1005551112223", other: "-1007778889990" },
  discord: { own: "555111222333444", other: "777888999000111" },
};
const PLATFORMS = Object.keys(CHATS) as Platform[];
const OTHERS = PLATFORMS.map((platform) => CHATS[platform].other);

type Body = string | FormData;
interface Asked {
  method: string;
  path: string;
  body?: Body;
}

const post = (path: string, body?: Body): Asked => ({ method: "POST", path, ...(body && { body }) });
const get = (path: string): Asked => ({ method: "GET", path });
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const json = (fields: object) => JSON.stringify(fields);
const parts = (fields: Record<string, string | Blob>): FormData => {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.set(name, value);
  return made;
};
const FILE = new File(["image"], "a.png", { type: "image/png" });
const UNFURL = { unfurl_links: "false", unfurl_media: "false" };
const PREVIEW = { link_preview_options: { is_disabled: true } };
const DISCORD_TEXT = { content: "hello", allowed_mentions: { parse: [] }, flags: 4 };
const EMOJI = encodeURIComponent("👀");

/** A request for each operation, about a chat. */
const REQUESTS = {
  "anthropic/messages": () => post("anthropic/messages", "{}"),
  "anthropic/model": () => get("anthropic/model?id=claude-x"),
  "openai/chat/completions": () => post("openai/chat/completions", "{}"),
  "openai/audio/transcriptions": () =>
    post("openai/audio/transcriptions", parts({ model: "whisper-1", response_format: "json", file: FILE })),
  "openai/models": () => get("openai/models"),
  "slack/auth.test": () => post("slack/auth.test", ""),
  "slack/chat.postMessage": (channel) =>
    post("slack/chat.postMessage", form({ channel, text: "a", ...UNFURL })),
  "slack/chat.update": (channel) => post("slack/chat.update", form({ channel, ts: "1.2", text: "a" })),
  "slack/reactions.add": (channel) =>
    post("slack/reactions.add", form({ channel, timestamp: "1.2", name: "eyes" })),
  "slack/chat.postEphemeral": (channel) =>
    post("slack/chat.postEphemeral", form({ channel, user: "U1", text: "a" })),
  "slack/assistant.threads.setStatus": (channel) =>
    post(
      "slack/assistant.threads.setStatus",
      form({ channel_id: channel, thread_ts: "1.2", status: "is writing…" }),
    ),
  "slack/files.getUploadURLExternal": () =>
    post("slack/files.getUploadURLExternal", form({ filename: "a", length: "1" })),
  "slack/files.completeUploadExternal": (channel) =>
    post(
      "slack/files.completeUploadExternal",
      form({ files: '[{"id":"FUPLOAD"}]', channel_id: channel, initial_comment: "a" }),
    ),
  "slack/file": (channel) => get(`slack/file?id=F${channel}`),
  "slack/users.info": () => post("slack/users.info", form({ user: "U1" })),
  "slack/conversations.info": (channel) => post("slack/conversations.info", form({ channel })),
  "discord/user": () => get("discord/user"),
  "discord/guild": () => get("discord/guild?guild=5"),
  "discord/channel": (channel) => get(`discord/channel?channel=${channel}`),
  "discord/message.create": (channel) =>
    post(`discord/message.create?channel=${channel}`, json(DISCORD_TEXT)),
  "discord/typing": (channel) => post(`discord/typing?channel=${channel}`),
  "discord/reaction.create": (channel) => ({
    method: "PUT",
    path: `discord/reaction.create?channel=${channel}&message=3&emoji=${EMOJI}`,
  }),
  "discord/file.create": (channel) =>
    post(
      `discord/file.create?channel=${channel}`,
      parts({ payload_json: json(DISCORD_TEXT), "files[0]": FILE }),
    ),
  "discord/message.edit": (channel) => ({
    method: "PATCH",
    path: `discord/message.edit?channel=${channel}&message=3`,
    body: json(DISCORD_TEXT),
  }),
  "discord/dm.create": () => post("discord/dm.create", json({ recipient_id: "5" })),
  "telegram/getMe": () => post("telegram/getMe", "{}"),
  "telegram/sendMessage": (chat_id) => post("telegram/sendMessage", json({ chat_id, text: "a", ...PREVIEW })),
  "telegram/editMessageText": (chat_id) =>
    post("telegram/editMessageText", json({ chat_id, text: "a", ...PREVIEW, message_id: 1 })),
  "telegram/setMessageReaction": (chat_id) =>
    post(
      "telegram/setMessageReaction",
      json({ chat_id, message_id: 1, reaction: [{ type: "emoji", emoji: "👀" }] }),
    ),
  "telegram/answerCallbackQuery": () =>
    post("telegram/answerCallbackQuery", json({ callback_query_id: "1", text: "a" })),
  "telegram/editMessageReplyMarkup": (chat_id) =>
    post(
      "telegram/editMessageReplyMarkup",
      json({ chat_id, message_id: 1, reply_markup: { inline_keyboard: [] } }),
    ),
  "telegram/sendChatAction": (chat_id) =>
    post("telegram/sendChatAction", json({ chat_id, action: "typing" })),
  "telegram/sendPhoto": (chat_id) => post("telegram/sendPhoto", parts({ chat_id, photo: FILE })),
  "telegram/sendDocument": (chat_id) => post("telegram/sendDocument", parts({ chat_id, document: FILE })),
  "telegram/getFile": (chat) => post("telegram/getFile", json({ file_id: chat })),
  "telegram/file": (chat) => get(`telegram/file?path=photos/${chat}.jpg`),
} satisfies Record<OperationName, (chat: string) => Asked>;
const NAMES = Object.keys(REQUESTS) as OperationName[];
const requestOf = (name: OperationName, chat: string): Asked => REQUESTS[name](chat);

/** Operations about no chat, listed apart from the table. */
const WITHOUT_CHAT: readonly OperationName[] = [
  "anthropic/messages",
  "anthropic/model",
  "openai/chat/completions",
  "openai/audio/transcriptions",
  "openai/models",
  "slack/auth.test",
  "slack/files.getUploadURLExternal",
  "slack/users.info",
  "discord/user",
  "discord/guild",
  "telegram/getMe",
  "telegram/answerCallbackQuery",
  "telegram/getFile",
];
const ABOUT_CHATS = NAMES.filter((name) => !WITHOUT_CHAT.includes(name) && name !== "discord/dm.create");
const platformOf = (name: OperationName) => name.slice(0, name.indexOf("/")) as Platform;

/** Slack's answer about a file, which is in the channel that its id names. */
const slackFile = (id: string, fields: object = { channels: [id.slice(1)] }): Response =>
  Response.json({
    ok: true,
    file: { id, url_private: `https://files.slack.com/files-pri/T1-${id}/a.png`, ...fields },
  });

async function answerOf(url: string, body: string): Promise<Response> {
  if (url.endsWith("/files.info")) return slackFile(new URLSearchParams(body).get("file") ?? "");
  if (url.endsWith("/files.getUploadURLExternal")) return Response.json({ ok: true, file_id: "FUPLOAD" });
  if (url.endsWith("/getFile")) {
    const { file_id: id } = JSON.parse(body) as { file_id: string };
    return Response.json({ ok: true, result: { file_path: `photos/${id}.jpg` } });
  }
  return Response.json({ ok: true, result: {} });
}

/** An edge with a broker for one chat, and what was sent to the services. */
function brokered(chat: TenantChat | undefined, answer = answerOf, isReplaced = false) {
  const sent: string[] = [];
  const edge = edgeFixture({
    environment: KEYS,
    ...(chat && { chat }),
    isReplaced,
    services: async (url, { method, body }) => {
      const text = body ? await new Response(body).text() : "";
      sent.push(`${method} ${url}\n${text}`);
      return answer(url, text);
    },
  });
  const ask = async ({ method, path, body }: Asked, type?: string) => {
    const encoded = body instanceof FormData ? new Response(body) : undefined;
    const contentType = type ?? encoded?.headers.get("content-type") ?? "text/plain";
    const answer = await edge.app.request(`/broker/${path}`, {
      method,
      headers: {
        ...credential(path.slice(0, path.indexOf("/")) as ServiceName, TOKEN),
        "content-type": contentType,
      },
      ...(body !== undefined &&
        method !== "GET" && { body: encoded ? await encoded.arrayBuffer() : (body as string) }),
    });
    const text = await answer.text();
    return { status: answer.status, code: /"code":"(\w+)"/.exec(text)?.[1], text };
  };
  return { ...edge, sent, ask };
}

const own = (platform: Platform): TenantChat => ({ platform, chat: CHATS[platform].own });
const REFUSED = { status: 403, code: "broker_other_chat" };

describe("a pass for one chat", () => {
  it.each(NAMES)("%s: the table names its chat", (name) => {
    const { chat, takes, fields } = SERVICE_OPERATIONS[name];
    expect(WITHOUT_CHAT.includes(name)).toBe(chat === "none");
    // Nothing is an argument and a field: only one of them would be checked.
    const both = { ...takes, ...(fields as { shape?: object } | undefined)?.shape };
    const names = Object.keys(takes).length + Object.keys((fields as { shape?: object })?.shape ?? {}).length;
    expect(Object.keys(both)).toHaveLength(names);
  });

  it.each(ABOUT_CHATS)("%s: its own chat passes", async (name) => {
    const platform = platformOf(name);
    const { ask, sent } = brokered(own(platform));
    await ask(requestOf("slack/files.getUploadURLExternal", ""));
    await ask(requestOf("telegram/getFile", CHATS.telegram.own));
    const before = sent.length;
    expect(await ask(requestOf(name, CHATS[platform].own))).toMatchObject({ status: 200 });
    expect(sent.length).toBeGreaterThan(before);
  });

  it.each(ABOUT_CHATS)("%s: another chat is refused before a request leaves", async (name) => {
    const platform = platformOf(name);
    const { ask, sent, brokered: counts, logged } = brokered(own(platform));
    expect(await ask(requestOf(name, CHATS[platform].other))).toMatchObject(REFUSED);
    // Where a file is, Slack has to be asked.
    expect(sent.map((request) => request.split("\n")[0])).toEqual(
      name === "slack/file" ? ["POST https://slack.com/api/files.info"] : [],
    );
    expect(counts).toMatchObject({
      refused: 1,
      failed: 0,
      operations: { [name]: { answered: 0, failed: 0, refused: 1 } },
    });
    expect(logged.join()).toContain("broker_other_chat");
  });

  it.each(ABOUT_CHATS)("%s: a gateway that is being replaced is asked to try later", async (name) => {
    const platform = platformOf(name);
    const { ask, brokered: counts } = brokered({ platform: "web", chat: "" }, answerOf, true);
    const later = { status: 503, code: "gateway_unavailable" };
    expect(await ask(requestOf(name, CHATS[platform].other))).toMatchObject(later);
    expect(counts).toMatchObject({ answered: 0, failed: 1 });
  });

  it.each(ABOUT_CHATS)("%s: the same id on another platform, or a browser's, is refused", async (name) => {
    const { own: chat } = CHATS[platformOf(name)];
    for (const platform of [...PLATFORMS, "web"] as const) {
      if (platform === platformOf(name)) continue;
      const { ask, sent } = brokered({ platform, chat });
      await ask(requestOf("slack/files.getUploadURLExternal", ""));
      await ask(requestOf("telegram/getFile", chat));
      const before = sent.length;
      expect(await ask(requestOf(name, chat))).toMatchObject(REFUSED);
      expect(sent).toHaveLength(before);
    }
  });

  it.each(WITHOUT_CHAT)("%s: needs no chat, so each tenant may use it", async (name) => {
    for (const platform of [...PLATFORMS, "web"] as const) {
      const { ask, sent } = brokered({ platform, chat: "1" });
      expect(await ask(requestOf(name, "1"))).toMatchObject({ status: 200 });
      expect(sent).toHaveLength(1);
    }
  });

  it("opens no direct chat of Discord", async () => {
    for (const platform of PLATFORMS) {
      const { ask, sent } = brokered(own(platform));
      expect(await ask(requestOf("discord/dm.create", ""))).toMatchObject(REFUSED);
      expect(sent).toEqual([]);
    }
  });

  it.each(NAMES)("%s: a broker without a chat serves every chat", async (name) => {
    const { ask } = brokered(undefined);
    expect(await ask(requestOf(name, CHATS[platformOf(name)]?.other ?? ""))).toMatchObject({ status: 200 });
  });

  it.each<[string, Asked]>([
    [
      "a message",
      post(`telegram/bot123456789:${TOKEN}/sendMessage`, json({ chat_id: "2", text: "a", ...PREVIEW })),
    ],
    ["a file", get(`telegram/file/bot123456789:${TOKEN}/photos/file_12.jpg`)],
    ["a message of Discord", post("discord/channels/12/messages", json(DISCORD_TEXT))],
    ["an edit", { method: "PATCH", path: "discord/channels/12/messages/3", body: json(DISCORD_TEXT) }],
  ])("by an earlier gateway's paths: %s elsewhere is refused", async (_, asked) => {
    const platform = asked.path.startsWith("telegram") ? "telegram" : "discord";
    const { ask, sent } = brokered({ platform, chat: "1" });
    expect(await ask(asked)).toMatchObject(REFUSED);
    expect(sent).toEqual([]);
  });

  it("by an earlier gateway's paths: its own chat passes", async () => {
    const telegram = brokered({ platform: "telegram", chat: "1" });
    const bot = `bot123456789:${TOKEN}`;
    const text = json({ chat_id: "1", text: "a", ...PREVIEW });
    expect(await telegram.ask(post(`telegram/${bot}/sendMessage`, text))).toMatchObject({ status: 200 });
    await telegram.ask(post(`telegram/${bot}/getFile`, json({ file_id: "7" })));
    expect(await telegram.ask(get(`telegram/file/${bot}/photos/7.jpg`))).toMatchObject({ status: 200 });
    const discord = brokered({ platform: "discord", chat: "12" });
    const message = post("discord/channels/12/messages", json(DISCORD_TEXT));
    expect(await discord.ask(message)).toMatchObject({ status: 200 });
  });

  it.each(["@channelusername", "#general", "1 ", " 1", "+1", "01", "1.0", "1e0", "１"])(
    "compares ids as text: %j is not 1",
    async (chat) => {
      const telegram = brokered({ platform: "telegram", chat: "1" });
      expect(await telegram.ask(requestOf("telegram/sendMessage", chat))).toMatchObject(REFUSED);
      const slack = brokered({ platform: "slack", chat: "1" });
      expect(await slack.ask(requestOf("slack/chat.postMessage", chat))).toMatchObject(REFUSED);
      expect([...telegram.sent, ...slack.sent]).toEqual([]);
    },
  );
});

describe("a file of Slack", () => {
  const CHAT = CHATS.slack.own;
  const fetched = async (fields: object) => {
    const it = brokered(own("slack"), async (url) =>
      url.endsWith("/files.info") ? slackFile("F1", fields) : new Response("image"),
    );
    return { ...(await it.ask(get("slack/file?id=F1"))), sent: it.sent };
  };

  it.each<[string, object]>([
    ["of a channel", { channels: ["C2", CHAT], groups: [], ims: [] }],
    ["of a private channel", { channels: [], groups: [CHAT], ims: [] }],
    ["of a direct chat", { channels: [], groups: [], ims: [CHAT] }],
    ["with public messages", { channels: [], shares: { public: { [CHAT]: [{ ts: "1.2" }] } } }],
    ["with private messages", { channels: [], shares: { public: {}, private: { [CHAT]: [] } } }],
  ])("%s is read", async (_, fields) => {
    expect(await fetched(fields)).toMatchObject({ status: 200, text: "image" });
  });

  it.each<[string, object]>([
    ["of another channel", { channels: ["C2"], groups: ["G2"], ims: ["D2"], shares: { public: { C2: [] } } }],
    ["of no chat", { channels: [], groups: [], ims: [], shares: {} }],
    ["without a list of its chats", {}],
    ["with lists of another form", { channels: CHAT, groups: { [CHAT]: 1 }, ims: null, shares: [CHAT] }],
    ["whose chat is no list's own entry", { channels: [[CHAT]], shares: { public: [CHAT], private: CHAT } }],
    ["with the chat as its title", { title: CHAT, channels: ["C2"], user: CHAT, pinned_to: [CHAT] }],
    ["of a channel with a longer id", { channels: [`${CHAT}1`] }],
  ])("%s is refused, and not fetched", async (_, fields) => {
    const { sent, ...answer } = await fetched(fields);
    expect(answer).toMatchObject(REFUSED);
    expect(sent).toHaveLength(1);
  });

  it.each(["constructor", "__proto__", "toString"])("is not in a chat by the name of %s", async (chat) => {
    const it = brokered({ platform: "slack", chat }, async () => slackFile("F1", { shares: { public: {} } }));
    expect(await it.ask(get("slack/file?id=F1"))).toMatchObject(REFUSED);
  });

  it("is shared into the chat only by the broker that began its upload", async () => {
    const { ask, sent } = brokered(own("slack"));
    const complete = (id: string) =>
      post("slack/files.completeUploadExternal", form({ files: json([{ id }]), channel_id: CHAT }));
    expect(await ask(complete("FUPLOAD"))).toMatchObject(REFUSED);
    await ask(requestOf("slack/files.getUploadURLExternal", ""));
    expect(await ask(complete("FOTHER"))).toMatchObject(REFUSED);
    expect(await ask(complete("FUPLOAD"))).toMatchObject({ status: 200 });
    expect(sent).toHaveLength(2);
  });
});

it("learns of a person or a server, which need no chat, no more than the names", async () => {
  const profile = { display_name: "Ada", real_name: "Ada Lovelace", email: "ada@example.com", phone: "1" };
  const user = { id: "U1", name: "ada", is_admin: true, profile };
  const answer = async (url: string) =>
    url.includes("users.info")
      ? Response.json({ ok: true, user })
      : Response.json({ id: "5", name: "A server", owner_id: "7" });
  const learned = async (chat: TenantChat | undefined, name: OperationName) =>
    JSON.parse((await brokered(chat, answer).ask(requestOf(name, "1"))).text);
  expect(await learned(own("slack"), "slack/users.info")).toEqual({
    ok: true,
    user: { name: "ada", profile: { display_name: "Ada", real_name: "Ada Lovelace" } },
  });
  expect(await learned(own("discord"), "discord/guild")).toEqual({ name: "A server" });
  expect(await learned(undefined, "slack/users.info")).toEqual({ ok: true, user });
});

describe("a file of Telegram", () => {
  const getFile = (id: number | string) => requestOf("telegram/getFile", String(id));
  const file = (id: number | string) => requestOf("telegram/file", String(id));

  it("is read at the path that Telegram gave, and the answer about it is unchanged", async () => {
    const { ask } = brokered(own("telegram"));
    expect(await ask(file(12))).toMatchObject(REFUSED);
    const { text } = await ask(getFile(12));
    expect(JSON.parse(text)).toEqual({ ok: true, result: { file_path: "photos/12.jpg" } });
    expect(await ask(file(12))).toMatchObject({ status: 200 });
    expect(await ask(file(13))).toMatchObject(REFUSED);
    expect(await ask(get("telegram/file?path=/photos/12.jpg"))).toMatchObject(REFUSED);
  });

  it("is remembered by one broker, among its latest 256", async () => {
    const { ask } = brokered(own("telegram"));
    for (let id = 0; id < 256; id += 1) await ask(getFile(id));
    // Asked for again, so it is among the latest.
    await ask(getFile(0));
    await ask(getFile(256));
    expect(await ask(file(1))).toMatchObject(REFUSED);
    for (const id of [0, 2, 256]) expect(await ask(file(id))).toMatchObject({ status: 200 });
    expect(await brokered(own("telegram")).ask(file(0))).toMatchObject(REFUSED);
  });

  it.each<[string, () => Response]>([
    ["a refusal", () => Response.json({ ok: false, description: "wrong file_id" }, { status: 400 })],
    ["no JSON", () => new Response("<html>")],
    ["no path", () => Response.json({ ok: true, result: { file_path: 7 } })],
    ["a list", () => Response.json([{ file_path: "photos/7.jpg" }])],
    [
      "more than an answer has",
      () => new Response(`{"result":{"file_path":"photos/7.jpg"}}${" ".repeat(70_000)}`),
    ],
  ])("is not read after %s", async (_, told) => {
    const { ask } = brokered(own("telegram"), async () => told());
    expect((await ask(getFile(7))).status).toBe(told().status);
    expect(await ask(file(7))).toMatchObject(REFUSED);
  });
});

describe("no request names two chats", () => {
  const random = generator(38);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const chance = (share: number) => random() < share;

  /** Spellings of a field's name that some parser could take for it. */
  const spelled = (field: string): string =>
    one([
      field,
      field,
      field,
      `${field}[]`,
      `${field}[0]`,
      field.toUpperCase(),
      ` ${field}`,
      `${field}\0`,
      `.${field}`,
    ]);
  /** A value that holds the other chat for some parser. */
  const values = (ours: string, other: string): unknown[] => [
    other,
    other,
    [ours, other],
    [other],
    { toString: other, valueOf: other },
    { id: other },
    Number(other),
    `${ours},${other}`,
    `${ours}\0${other}`,
    `${ours}&chat_id=${other}`,
    `${ours}","chat_id":"${other}`,
    `${ours}\r\nchat_id: ${other}`,
    ` ${other}`,
  ];
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const shuffled = <T>(list: readonly T[]): T[] =>
    list
      .map((item) => [random(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item);

  /** Writes JSON by hand: a name may occur twice, and may be escaped. */
  const jsonOf = (pairs: readonly (readonly [string, unknown])[]): string => {
    const name = (plain: string) =>
      chance(0.2)
        ? `"\\u${plain.charCodeAt(0).toString(16).padStart(4, "0")}${plain.slice(1)}"`
        : JSON.stringify(plain);
    const object = `{${pairs.map(([key, value]) => `${name(key)}:${JSON.stringify(value)}`).join(",")}}`;
    return one([object, object, object, `[${object}]`, `${object}${object}`, `\uFEFF${object}`]);
  };
  const formOf = (pairs: readonly (readonly [string, unknown])[]): string =>
    pairs
      .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(text(value))}`)
      .join(one(["&", "&", "&", ";", "&&"]));
  const BOUNDARY = "x-boundary";
  const partsOf = (pairs: readonly (readonly [string, unknown])[]): string => {
    const part = ([key, value]: readonly [string, unknown]) => {
      const isFile = value instanceof Blob;
      const quoted = key.replaceAll('"', "%22").replaceAll("\0", "");
      const name = one([`name="${quoted}"`, `name="${quoted}"`, `name="${quoted}"; name="other"`]);
      const filename = isFile
        ? '; filename="a.png"'
        : one(["", "", "", '; filename="b"', "; filename*=UTF-8''b"]);
      return `--${BOUNDARY}\r\nContent-Disposition: form-data; ${name}${filename}\r\n\r\n${isFile ? "image" : text(value)}\r\n`;
    };
    return `${pairs.map(part).join("")}--${BOUNDARY}--\r\n`;
  };

  it.each(ABOUT_CHATS.filter((name) => SERVICE_OPERATIONS[name].chat !== "file"))("%s", async (name) => {
    const platform = platformOf(name);
    const { own: ours, other } = CHATS[platform];
    const { ask, sent } = brokered(own(platform));
    await ask(requestOf("slack/files.getUploadURLExternal", ""));
    const { method, path, body } = requestOf(name, ours);
    const { chat, body: kind } = SERVICE_OPERATIONS[name];
    const field = chat as string;
    const [place = "", query = ""] = path.split("?");
    const fields: [string, unknown][] =
      body instanceof FormData
        ? [...body]
        : kind === "form"
          ? [...new URLSearchParams(body ?? "")]
          : Object.entries(JSON.parse(body ?? "{}") as object);
    const hostile = () => one(values(ours, other));
    const codes = new Set<string | undefined>();
    for (let round = 0; round < 400; round += 1) {
      let pairs: (readonly [string, unknown])[] = fields;
      const extra = (): [string, unknown] => [
        one([
          spelled(field),
          one(["channel", "channels", "channel_id", "chat_id", "__proto__", "constructor"]),
        ]),
        chance(0.2) ? { [field]: other } : hostile(),
      ];
      if (chance(0.5)) pairs = shuffled([...pairs, extra()]);
      if (chance(0.3)) pairs = pairs.map(([key, value]) => [key, key === field ? hostile() : value]);
      if (chance(0.1)) pairs = pairs.filter(([key]) => key !== field);
      const asked = new URLSearchParams(query);
      if (asked.has(field) && chance(0.3)) asked.set(field, text(hostile()));
      if (chance(0.2)) asked.append(spelled(field), text(hostile()));
      const hostilePath = asked.size === 0 ? place : `${place}?${asked.toString()}`;
      const isMultipart = kind === "parts" && chance(0.95);
      const written = isMultipart ? partsOf(pairs) : kind === "form" ? formOf(pairs) : jsonOf(pairs);
      const type = isMultipart ? `multipart/form-data; boundary=${BOUNDARY}` : undefined;
      codes.add((await ask({ method, path: hostilePath, body: written }, type)).code);
    }
    const isAboutOther = (request: string) => OTHERS.some((id) => request.includes(id));
    expect(sent.filter((request) => isAboutOther(request) || isAboutOther(unescaped(request)))).toEqual([]);
    // Each outcome occurs: the property is not empty.
    expect([...codes]).toEqual(
      expect.arrayContaining([undefined, "broker_arguments_invalid", "broker_other_chat"]),
    );
  });
});

/** Decodes the escapes of a form. */
function unescaped(request: string): string {
  return request.replace(/%([0-9A-F]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
