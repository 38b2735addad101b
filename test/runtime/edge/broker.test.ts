import { describe, expect, it } from "vitest";
import { VERSION } from "../../../runtime/contract/names.ts";
import { BROKER_TOKEN as TOKEN, edgeFixture } from "../../support/edge.ts";

const KEYS = {
  ANTHROPIC_API_KEY: "sk-ant-real-0123456789abcdef",
  OPENAI_API_KEY: "sk-real-0123456789abcdefghij",
  TELEGRAM_BOT_TOKEN: "123456789:AAreal-0123456789abcdefghijklmnopqr",
  SLACK_BOT_TOKEN: "xoxb-real-0123456789",
  DISCORD_BOT_TOKEN: "discord.real.0123456789abcdef",
};
const BEARER = { authorization: `Bearer ${TOKEN}` };
const BOT = { authorization: `Bot ${TOKEN}` };
const API_KEY = { "x-api-key": TOKEN };

interface Sent {
  url: string;
  method: string;
  headers: Headers;
  body: string;
}

/** An edge whose services answer with `answer`, and what was sent to them. */
function brokered(answer: (url: string) => Response = () => Response.json({ ok: true }), environment = {}) {
  const sent: Sent[] = [];
  const take = async (url: string, init: RequestInit): Promise<Response> => {
    const { method = "GET", headers, body } = init;
    sent.push({
      url,
      method,
      headers: new Headers(headers),
      body: body ? await new Response(body).text() : "",
    });
    return answer(url);
  };
  const edge = edgeFixture({ environment: { ...KEYS, ...environment }, services: take });
  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    edge.app.request(`/broker${path}`, { method, headers, ...(body !== undefined && { body }) });
  return { ...edge, sent, ask };
}

const TEXT = { text: "hello", link_preview_options: { is_disabled: true } };
const SLACK_TEXT = "channel=C1&text=hello&unfurl_links=false&unfurl_media=false";
const COMPLETE = "/slack/files.completeUploadExternal";
const slackFile = (files: string) => new URLSearchParams({ files, channel_id: "C1" }).toString();
const SLACK_FILE = slackFile('[{"id":"F1"}]');
const DISCORD_TEXT = { content: "hello", allowed_mentions: { parse: [] }, flags: 4 };
const TELEGRAM = `https://api.telegram.org/bot${KEYS.TELEGRAM_BOT_TOKEN}`;

describe("an operation goes out with the key", () => {
  it.each([
    ["POST", "/anthropic/messages", API_KEY, { a: 1 }, "https://api.anthropic.com/v1/messages"],
    [
      "GET",
      "/anthropic/model?id=claude-x",
      API_KEY,
      undefined,
      "https://api.anthropic.com/v1/models/claude-x",
    ],
    ["GET", "/anthropic/model?id=a/b:1", API_KEY, undefined, "https://api.anthropic.com/v1/models/a%2Fb%3A1"],
    ["POST", "/openai/chat/completions", BEARER, { a: 1 }, "https://api.openai.com/v1/chat/completions"],
    ["GET", "/openai/models", BEARER, undefined, "https://api.openai.com/v1/models"],
    ["POST", "/slack/auth.test", BEARER, "", "https://slack.com/api/auth.test"],
    ["POST", "/slack/chat.postMessage", BEARER, SLACK_TEXT, "https://slack.com/api/chat.postMessage"],
    ["POST", COMPLETE, BEARER, SLACK_FILE, "https://slack.com/api/files.completeUploadExternal"],
    ["POST", "/slack/chat.update", BEARER, "channel=C1&ts=1.2&text=a", "https://slack.com/api/chat.update"],
    ["GET", "/discord/user", BOT, undefined, "https://discord.com/api/v10/users/@me"],
    [
      "POST",
      "/discord/message.create?channel=12",
      BOT,
      DISCORD_TEXT,
      "https://discord.com/api/v10/channels/12/messages",
    ],
    [
      "PATCH",
      "/discord/message.edit?channel=12&message=3",
      BOT,
      DISCORD_TEXT,
      "https://discord.com/api/v10/channels/12/messages/3",
    ],
    [
      "PUT",
      "/discord/reaction.create?channel=12&message=3&emoji=%F0%9F%91%80",
      BOT,
      undefined,
      "https://discord.com/api/v10/channels/12/messages/3/reactions/%F0%9F%91%80/@me",
    ],
    ["POST", "/telegram/getMe", BEARER, {}, `${TELEGRAM}/getMe`],
    ["POST", "/telegram/sendMessage", BEARER, { chat_id: "1", ...TEXT }, `${TELEGRAM}/sendMessage`],
    [
      "GET",
      "/telegram/file?path=photos/file_1.jpg",
      BEARER,
      undefined,
      `https://api.telegram.org/file/bot${KEYS.TELEGRAM_BOT_TOKEN}/photos/file_1.jpg`,
    ],
  ])("%s %s", async (method, path, headers, given, url) => {
    const { ask, sent } = brokered();
    const body = given === undefined || typeof given === "string" ? given : JSON.stringify(given);
    const answer = await ask(method, path, headers, body);
    expect(await answer.json()).toEqual({ ok: true });
    expect(sent).toMatchObject([{ url, method, body: body ?? "" }]);
    const all = JSON.stringify([sent[0]?.url, [...(sent[0]?.headers ?? [])]]);
    expect(all).not.toContain(TOKEN);
    expect(Object.values(KEYS).filter((key) => all.includes(key))).toHaveLength(1);
  });

  it.each([
    ["POST", "/anthropic/v1/messages", API_KEY, { a: 1 }, "https://api.anthropic.com/v1/messages"],
    [
      "GET",
      "/anthropic/v1/models/claude-x",
      API_KEY,
      undefined,
      "https://api.anthropic.com/v1/models/claude-x",
    ],
    ["GET", "/discord/users/@me", BOT, undefined, "https://discord.com/api/v10/users/@me"],
    [
      "POST",
      "/discord/channels/12/messages",
      BOT,
      DISCORD_TEXT,
      "https://discord.com/api/v10/channels/12/messages",
    ],
    [
      "PATCH",
      "/discord/channels/12/messages/3",
      BOT,
      DISCORD_TEXT,
      "https://discord.com/api/v10/channels/12/messages/3",
    ],
    [
      "POST",
      `/telegram/bot123456789:${TOKEN}/sendMessage`,
      {},
      { chat_id: "1", ...TEXT },
      `${TELEGRAM}/sendMessage`,
    ],
    [
      "GET",
      `/telegram/file/bot123456789:${TOKEN}/photos/file_1.jpg`,
      {},
      undefined,
      `https://api.telegram.org/file/bot${KEYS.TELEGRAM_BOT_TOKEN}/photos/file_1.jpg`,
    ],
  ])("asked for by an earlier gateway: %s %s", async (method, path, headers, given, url) => {
    const { ask, sent } = brokered();
    const answer = await ask(method, path, headers, given && JSON.stringify(given));

    expect(answer.status).toBe(200);
    expect(sent).toMatchObject([{ url, method, body: given ? JSON.stringify(given) : "" }]);
  });

  it("a recording with its name, in parts that the broker writes itself", async () => {
    const { ask, sent } = brokered();
    const form = new FormData();
    form.set("model", "whisper-1");
    form.set("response_format", "json");
    form.set("file", new Blob(["sound"]), "voice.ogg");
    const written = new Response(form);
    const type = { "content-type": written.headers.get("content-type") ?? "" };
    const body = await written.text();
    const answer = await ask("POST", "/openai/audio/transcriptions", { ...BEARER, ...type }, body);
    expect(answer.status).toBe(200);
    expect(sent).toMatchObject([{ url: "https://api.openai.com/v1/audio/transcriptions" }]);
    expect(sent[0]?.body).toContain('filename="voice.ogg"');
    expect(sent[0]?.body).toContain("sound");
  });

  it("at the address that the deployment names", async () => {
    const { ask, sent } = brokered(undefined, { ANTHROPIC_BASE_URL: "https://proxy.example/anthropic/v1/" });
    await ask("POST", "/anthropic/messages", API_KEY, "{}");
    expect(sent).toMatchObject([{ url: "https://proxy.example/anthropic/v1/messages" }]);
  });

  it("with the broker's own headers; of the gateway's, an Anthropic beta that its client needs", async () => {
    const { ask, sent } = brokered();
    const headers = {
      "anthropic-version": "1999-01-01",
      "anthropic-beta": "files-api-2025-04-14, structured-outputs-2025-11-13,mcp-client-2025-04-04",
      "content-type": "text/plain",
      "user-agent": "other",
      cookie: "a=b",
      "x-forwarded-for": "10.0.0.1",
      authorization: "Bearer other",
    };
    await ask("POST", "/anthropic/messages", { ...API_KEY, ...headers }, "{}");
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "structured-outputs-2025-11-13",
      "content-type": "application/json",
      "user-agent": `steward/${VERSION}`,
      "x-api-key": KEYS.ANTHROPIC_API_KEY,
    });
  });
});

describe("what the gateway does not need is refused, and nothing is sent", () => {
  const OTHER = { authorization: "Bearer broker-token-9999999999", "x-api-key": "broker-token-9999999999" };
  const send = (fields: object) => JSON.stringify({ chat_id: "1", ...TEXT, ...fields });
  const discord = (fields: object) => JSON.stringify({ ...DISCORD_TEXT, ...fields });
  const CREATE = "/discord/message.create?channel=12";
  it.each<[code: string, method: string, path: string, headers: Record<string, string>, body?: string]>([
    // Without the pass of the gateway that runs, in its place.
    ["broker_refused", "POST", "/anthropic/messages", {}],
    ["broker_refused", "POST", "/anthropic/messages", OTHER],
    ["broker_refused", "POST", "/anthropic/messages", BEARER],
    ["broker_refused", "POST", "/slack/chat.postMessage", { authorization: TOKEN }],
    ["broker_refused", "POST", "/slack/chat.postMessage", BOT],
    ["broker_refused", "POST", "/slack/auth.test", { authorization: `Bearer ${KEYS.SLACK_BOT_TOKEN}` }],
    ["broker_refused", "GET", "/discord/user", BEARER],
    ["broker_refused", "POST", "/telegram/bot123456789:broker-token-9999999999/sendMessage", {}],
    ["broker_refused", "POST", "/telegram/getMe", { authorization: `Bearer ${KEYS.TELEGRAM_BOT_TOKEN}` }],
    ["broker_refused", "GET", "/attacker.example/x", BEARER],
    ["broker_refused", "GET", "/constructor/x", BEARER],
    ["broker_refused", "GET", "/", BEARER],
    ["broker_refused", "POST", "/%61nthropic/messages", API_KEY],
    ["broker_refused", "POST", "//anthropic/messages", API_KEY],
    // A recording that is no form with a file.
    ["broker_arguments_invalid", "POST", "/openai/audio/transcriptions", BEARER, "{}"],
    [
      "broker_arguments_invalid",
      "POST",
      "/openai/audio/transcriptions",
      { ...BEARER, "content-type": 'multipart/form-data; boundary="a"; x=y' },
      "--a",
    ],
    // Other operations, and other methods of these.
    ["broker_operation_unknown", "GET", "/anthropic/messages", API_KEY],
    ["broker_operation_unknown", "PATCH", "/anthropic/messages", API_KEY],
    ["broker_operation_unknown", "POST", "/anthropic/messages/batches", API_KEY],
    ["broker_operation_unknown", "GET", "/anthropic/files", API_KEY],
    ["broker_operation_unknown", "GET", "/openai/files", BEARER],
    ["broker_operation_unknown", "POST", "/slack/conversations.history", BEARER],
    ["broker_operation_unknown", "POST", "/slack/auth.revoke", BEARER],
    ["broker_operation_unknown", "POST", "/slack/files.info", BEARER],
    ["broker_operation_unknown", "GET", "/slack/auth.test", BEARER],
    ["broker_operation_unknown", "POST", "/telegram/setWebhook", BEARER],
    ["broker_operation_unknown", "POST", "/telegram/getUpdates", BEARER],
    ["broker_operation_unknown", "GET", "/telegram/getMe", BEARER],
    ["broker_operation_unknown", "PATCH", "/discord/user", BOT],
    ["broker_operation_unknown", "POST", `/telegram/bot123456789:${TOKEN}/setWebhook`, {}],
    ["broker_operation_unknown", "POST", "/discord/channels/12/messages/3", BOT],
    // Arguments that shape an address.
    [
      "broker_arguments_invalid",
      "GET",
      "/slack/file?url=https%3A%2F%2Fslack.com%2Fapi%2Fauth.revoke",
      BEARER,
    ],
    ["broker_arguments_invalid", "GET", "/slack/file?id=F1&url=x", BEARER],
    ["broker_arguments_invalid", "GET", "/slack/file?id=F1&id=F2", BEARER],
    ["broker_arguments_invalid", "GET", "/slack/file?id=C1", BEARER],
    ["broker_arguments_invalid", "GET", "/slack/file", BEARER],
    ["broker_arguments_invalid", "GET", "/telegram/file?path=..%2Fbot1/getMe", BEARER],
    ["broker_arguments_invalid", "GET", "/telegram/file?path=a/..%252fb", BEARER],
    ["broker_arguments_invalid", "GET", "/telegram/file?path=a%5C..%5Cb", BEARER],
    ["broker_arguments_invalid", "GET", `/telegram/file/bot123456789:${TOKEN}/..%2fbot1/getMe`, {}],
    ["broker_arguments_invalid", "GET", `/telegram/file/bot123456789:${TOKEN}/a%2`, {}],
    ["broker_arguments_invalid", "GET", "/telegram/file?path=a/./b", BEARER],
    ["broker_arguments_invalid", "GET", "/telegram/file?path=a%3Fb", BEARER],
    ["broker_arguments_invalid", "GET", `/telegram/file?path=${"a".repeat(1_100)}`, BEARER],
    ["broker_arguments_invalid", "GET", "/anthropic/model?id=../files", API_KEY],
    ["broker_arguments_invalid", "POST", "/discord/message.create?channel=@me", BOT, discord({})],
    ["broker_arguments_invalid", "POST", "/discord/message.create?channel=1/2", BOT, discord({})],
    ["broker_arguments_invalid", "POST", "/anthropic/messages?beta=true", API_KEY, "{}"],
    // Fields that the gateway never sends.
    [
      "broker_arguments_invalid",
      "POST",
      "/telegram/sendMessage",
      BEARER,
      send({ business_connection_id: "1" }),
    ],
    ["broker_arguments_invalid", "POST", "/telegram/sendMessage", BEARER, send({ link_preview_options: {} })],
    ["broker_arguments_invalid", "POST", "/telegram/sendMessage", BEARER, "[]"],
    ["broker_arguments_invalid", "POST", "/telegram/sendMessage", BEARER, "{"],
    ["broker_arguments_invalid", "POST", "/telegram/sendMessage", BEARER],
    ["broker_arguments_invalid", "POST", "/slack/chat.postMessage", BEARER, `${SLACK_TEXT}&username=boss`],
    ["broker_arguments_invalid", "POST", "/slack/chat.postMessage", BEARER, `${SLACK_TEXT}&channel=C2`],
    ["broker_arguments_invalid", "POST", "/slack/auth.test", BEARER, "token=other"],
    ["broker_arguments_invalid", "POST", COMPLETE, BEARER, `${SLACK_FILE}&channels=C1,C2`],
    ["broker_arguments_invalid", "POST", COMPLETE, BEARER, `${SLACK_FILE}&blocks=[]`],
    ["broker_arguments_invalid", "POST", COMPLETE, BEARER, slackFile('[{"id":"F1"},{"id":"F2"}]')],
    ["broker_operation_unknown", "POST", "/slack/files.delete", BEARER, "file=F1"],
    ["broker_operation_unknown", "POST", "/slack/files.sharedPublicURL", BEARER, "file=F1"],
    ["broker_arguments_invalid", "POST", CREATE, BOT, discord({ allowed_mentions: { parse: ["everyone"] } })],
    ["broker_arguments_invalid", "POST", CREATE, BOT, discord({ embeds: [] })],
    [
      "broker_arguments_invalid",
      "GET",
      "/openai/models",
      { ...BEARER, "steward-proxy": "http://127.0.0.1:1" },
    ],
  ])("%s: %s %s %o %s", async (code, method, path, headers, body) => {
    const { ask, sent } = brokered();
    const answer = await ask(method, path, headers, method === "GET" ? undefined : (body ?? ""));
    expect(await answer.json()).toMatchObject({ code });
    expect(answer.status).toBe(code === "broker_arguments_invalid" ? 400 : 403);
    expect(sent).toEqual([]);
  });

  it.each([
    ["/anthropic/messages", API_KEY, 32 * 1024 * 1024],
    ["/telegram/sendMessage", BEARER, 512 * 1024],
    ["/telegram/sendDocument", BEARER, 26 * 1024 * 1024],
  ])("a body of %s that is too large", async (path, headers, most) => {
    const { ask, sent } = brokered();
    const answer = await ask("POST", path, headers, "x".repeat(most + 1));
    expect([answer.status, sent]).toEqual([413, []]);
  });
});

describe("a file goes to Telegram in parts that the broker writes itself", () => {
  const post = async (operation: string, parts: [string, string | Blob][]) => {
    const it = brokered();
    const form = new FormData();
    for (const [name, value] of parts) form.append(name, value);
    const encoded = new Response(form);
    const type = encoded.headers.get("content-type") ?? "";
    const answer = await it.ask(
      "POST",
      `/telegram/${operation}`,
      { ...BEARER, "content-type": type },
      new TextDecoder().decode(await encoded.arrayBuffer()),
    );
    return { answer, ...it };
  };
  const FILE = new File(["image"], "a.png", { type: "image/png" });

  it("with the fields that were given", async () => {
    const { answer, sent } = await post("sendPhoto", [
      ["chat_id", "1"],
      ["photo", FILE],
    ]);
    expect(answer.status).toBe(200);
    expect(sent.map(({ url }) => url)).toEqual([`${TELEGRAM}/sendPhoto`]);
    const form = await new Response(sent[0]?.body ?? "", { headers: sent[0]?.headers ?? {} }).formData();
    expect(Object.fromEntries(form)).toMatchObject({ chat_id: "1", photo: { name: "a.png", size: 5 } });
  });

  it.each<[string, string, [string, string | Blob][]]>([
    ["another field of a file", "sendPhoto", [["document", FILE]]],
    ["an address in place of the file", "sendDocument", [["document", "http://10.0.0.1/"]]],
    [
      "two files",
      "sendDocument",
      [
        ["document", FILE],
        ["document", FILE],
      ],
    ],
    [
      "a file as the caption",
      "sendDocument",
      [
        ["document", FILE],
        ["caption", FILE],
      ],
    ],
    [
      "a field that the gateway never sends",
      "sendDocument",
      [
        ["document", FILE],
        ["parse_mode", "HTML"],
      ],
    ],
    [
      "two chats",
      "sendDocument",
      [
        ["document", FILE],
        ["chat_id", "2"],
      ],
    ],
    ["no file", "sendDocument", []],
  ])("not with %s", async (_, operation, parts) => {
    const { answer, sent } = await post(operation, [["chat_id", "1"], ...parts]);
    expect(await answer.json()).toMatchObject({ code: "broker_arguments_invalid" });
    expect(sent).toEqual([]);
  });

  it.each(["sendVideo", "sendMediaGroup", "setMyProfilePhoto"])("nothing by %s", async (operation) => {
    const { answer, sent } = await post(operation, [
      ["chat_id", "1"],
      ["photo", FILE],
    ]);
    expect(await answer.json()).toMatchObject({ code: "broker_operation_unknown" });
    expect(sent).toEqual([]);
  });
});

describe("a file goes to a channel of Discord", () => {
  const PLACE = "/discord/file.create?channel=12";
  const FILE = new File(["report"], "report.pdf", { type: "application/pdf" });
  const post = async (payload: string, place = PLACE, field = "files[0]") => {
    const it = brokered();
    const form = new FormData();
    form.set("payload_json", payload);
    form.set(field, FILE);
    const encoded = new Response(form);
    const type = encoded.headers.get("content-type") ?? "";
    const text = new TextDecoder().decode(await encoded.arrayBuffer());
    return { answer: await it.ask("POST", place, { ...BOT, "content-type": type }, text), ...it };
  };
  const PAYLOAD = JSON.stringify(DISCORD_TEXT);

  it("with a text that notifies nobody", async () => {
    const { answer, sent } = await post(PAYLOAD);
    expect(answer.status).toBe(200);
    expect(sent.map(({ url }) => url)).toEqual(["https://discord.com/api/v10/channels/12/messages"]);
    const form = await new Response(sent[0]?.body ?? "", { headers: sent[0]?.headers ?? {} }).formData();
    expect(Object.fromEntries(form)).toMatchObject({
      payload_json: PAYLOAD,
      "files[0]": { name: "report.pdf" },
    });
  });

  it.each<[string, string, string?, string?]>([
    ["another field", JSON.stringify({ ...DISCORD_TEXT, embeds: [] })],
    ["mentions", JSON.stringify({ ...DISCORD_TEXT, allowed_mentions: { parse: ["everyone"] } })],
    ["a field that is given twice", PAYLOAD.replace("{", '{"flags":0,')],
    ["no JSON", "{"],
    ["another channel's name", PAYLOAD, "/discord/file.create?channel=@me"],
    ["a file elsewhere", PAYLOAD, PLACE, "files[1]"],
  ])("not with %s", async (_, payload, place, field) => {
    const { answer, sent } = await post(payload, place, field);
    expect(await answer.json()).toMatchObject({ code: "broker_arguments_invalid" });
    expect(sent).toEqual([]);
  });
});

describe("a file of Slack is fetched by its id", () => {
  const PLACE = "https://files.slack.com/files-pri/T1-F1/download/a.png";
  const info = (url: unknown, id = "F1") =>
    Response.json({ ok: true, file: { id, url_private_download: url } });
  const file = async (place: unknown, answer: (url: string) => Response = () => new Response("image")) => {
    const it = brokered((url) => (url.endsWith("/files.info") ? info(place) : answer(url)));
    return { ...it, answer: await it.ask("GET", "/slack/file?id=F1", BEARER) };
  };

  it("where Slack tells that it is, with the key", async () => {
    const { answer, sent } = await file(PLACE);
    expect(await answer.text()).toBe("image");
    expect(sent).toMatchObject([
      { url: "https://slack.com/api/files.info", method: "POST", body: "file=F1" },
      { url: PLACE, method: "GET", body: "" },
    ]);
    expect(sent.map(({ headers }) => headers.get("authorization"))).toEqual(
      Array(2).fill(`Bearer ${KEYS.SLACK_BOT_TOKEN}`),
    );
  });

  it("at the server that SLACK_API_URL names, too", async () => {
    const place = "http://127.0.0.1:9/files-pri/T1-F1/a.png";
    const it = brokered((url) => (url.endsWith("/files.info") ? info(place) : new Response("image")), {
      SLACK_API_URL: "http://127.0.0.1:9/api/",
    });
    expect(await (await it.ask("GET", "/slack/file?id=F1", BEARER)).text()).toBe("image");
    expect(it.sent.map(({ url }) => url)).toEqual(["http://127.0.0.1:9/api/files.info", place]);
  });

  const ELSEWHERE = [
    "https://slack.com/api/auth.revoke",
    "https://slack.com/files-pri/T1-F1/../../api/auth.revoke",
    "https://files.slack.com/api/auth.revoke",
    "https://files.slack.com:8443/files-pri/T1-F1/a.png",
    "http://files.slack.com/files-pri/T1-F1/a.png",
    "https://files.slack.com/files-pri/T1-F2/a.png",
    "https://files.slack.com/files-pri/T1-F1/..%2f..%2fapi/auth.revoke",
    "https://files.slack.com/files-pri/T1-F1/%2e%2e/%2e%2e/api/auth.revoke",
    "https://files.slack.com/files-pri/T1-F1\\..\\..\\x",
    "https://user:word@files.slack.com/files-pri/T1-F1/a.png",
    "https://files.slack.com@attacker.example/files-pri/T1-F1/a.png",
    "https://files.slack.com.attacker.example/files-pri/T1-F1/a.png",
    "https://anyteam.slack.com/files-pri/T1-F1/a.png",
    "https://docs.google.example/document/1",
    "http://169.254.169.254/files-pri/T1-F1/a.png",
  ];
  it.each(ELSEWHERE)("not at %s", async (place) => {
    const { answer, sent, brokered: counts } = await file(place);
    expect(await answer.json()).toMatchObject({ code: "slack_file_elsewhere" });
    expect(sent).toHaveLength(1);
    expect(counts.operations).toEqual({ "slack/file": { answered: 0, failed: 0, refused: 1 } });
  });

  it.each(ELSEWHERE)("and no redirect is followed to %s", async (location) => {
    const { answer, sent } = await file(
      PLACE,
      () => new Response(null, { status: 302, headers: { location } }),
    );
    expect(await answer.json()).toMatchObject({ code: "slack_file_elsewhere" });
    expect(sent).toHaveLength(2);
  });

  it("over a redirect within its place", async () => {
    const next = "https://files.slack.com/files-pri/T1-F1/b.png";
    const { answer, sent } = await file(PLACE, (url) =>
      url === next ? new Response("image") : new Response(null, { status: 302, headers: { location: next } }),
    );
    expect([await answer.text(), sent.length]).toEqual(["image", 3]);
  });

  it.each<[string, () => Response, string]>([
    ["of a missing scope", () => Response.json({ ok: false, error: "missing_scope" }), "files:read"],
    ["of an unknown file", () => Response.json({ ok: false, error: "file_not_found" }), "file_not_found"],
    ["about another file", () => info(PLACE, "F2"), "does not describe the file"],
    ["without an address", () => info(undefined), "no URL"],
    ["that is no JSON", () => new Response("<html>"), "does not describe the file"],
    ["of a failure", () => new Response(null, { status: 500 }), "HTTP 500"],
  ])("unless Slack's answer is one %s", async (_, told, detail) => {
    const { ask, sent } = brokered(told);
    const answer = await ask("GET", "/slack/file?id=F1", BEARER);
    expect(await answer.json()).toMatchObject({
      code: "channel_failed",
      detail: expect.stringContaining(detail),
    });
    expect(sent).toHaveLength(1);
  });

  it("unless it redirects for ever, or is gone", async () => {
    const again = () => new Response(null, { status: 302, headers: { location: PLACE } });
    const round = await file(PLACE, again);
    expect([(await round.answer.json()) as object, round.sent.length]).toEqual([
      expect.objectContaining({ code: "channel_failed" }),
      5,
    ]);
    const gone = await file(PLACE, () => new Response(null, { status: 404 }));
    expect(await gone.answer.json()).toMatchObject({ detail: expect.stringContaining("HTTP 404") });
  });
});

describe("what a service answers", () => {
  it("streams: a part comes through before the next is there", async () => {
    let write: ((text: string) => void) | undefined;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        write = (text) => controller.enqueue(new TextEncoder().encode(text));
      },
    });
    const { ask } = brokered(
      () => new Response(stream, { headers: { "content-type": "text/event-stream" } }),
    );
    const answer = await ask("POST", "/anthropic/messages", API_KEY, "{}");
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    const reader = answer.body?.getReader();
    for (const part of ["one", "two"]) {
      write?.(part);
      expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(part);
    }
    await reader?.cancel();
  });

  it("keeps its status and what tells when to ask again; a key that a refusal quotes is masked", async () => {
    const { ask } = brokered(
      () =>
        new Response(`Incorrect API key provided: ${KEYS.ANTHROPIC_API_KEY}.`, {
          status: 429,
          headers: { "retry-after": "7", "set-cookie": "a=b" },
        }),
    );
    const answer = await ask("POST", "/anthropic/messages", API_KEY, "{}");
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "7"]);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(await answer.text()).toBe("Incorrect API key provided: [redacted].");
  });

  it("is a redirect: its status is handed back, not where it leads", async () => {
    const { ask, sent } = brokered(
      () => new Response(null, { status: 302, headers: { location: "https://x.example/" } }),
    );
    const answer = await ask("GET", "/openai/models", BEARER);
    expect([answer.status, answer.headers.get("location"), sent.length]).toEqual([302, null, 1]);
  });

  it("nothing: 502, and the log holds no key", async () => {
    const { ask, logged } = brokered(() => {
      throw new Error(`connect https://api.telegram.org/bot${KEYS.TELEGRAM_BOT_TOKEN}/getMe`);
    });
    const answer = await ask("POST", "/telegram/getMe", BEARER, "{}");
    expect([answer.status, await answer.json()]).toEqual([
      502,
      expect.objectContaining({ code: "broker_no_answer", detail: "telegram did not answer." }),
    ]);
    expect(logged.join()).toContain("a service did not answer");
    expect(logged.join()).not.toContain(KEYS.TELEGRAM_BOT_TOKEN);
  });
});

it("counts by outcome, and by operation what the gateway asked itself", async () => {
  let isUp = true;
  const {
    ask,
    brokered: counts,
    logged,
  } = brokered(() => {
    if (isUp) return Response.json({ ok: true });
    throw new Error("down");
  });
  await ask("GET", "/openai/models", BEARER);
  await ask("GET", "/openai/models", BEARER);
  await ask("GET", "/openai/models?x=1", BEARER);
  await ask("GET", "/openai/models");
  await ask("GET", "/openai/files", BEARER);
  isUp = false;
  await ask("GET", "/openai/models", BEARER);
  const operations = { "openai/models": { answered: 2, failed: 1, refused: 1 } };
  expect(counts).toEqual({ answered: 2, failed: 1, refused: 3, operations });
  // A stranger writes nothing into the log.
  expect(logged.map((line) => JSON.parse(line) as object)).toMatchObject([
    { operation: "openai/models", code: "broker_arguments_invalid" },
    { operation: "openai/files", code: "broker_operation_unknown" },
    { operation: "openai/models", code: "broker_no_answer" },
  ]);
});

describe("a proxy", () => {
  const PROXY = "http://proxy.example:3128";
  const asked = async (asks: string, names?: string) => {
    const used: string[] = [];
    const client = (proxy: string) => async () => {
      used.push(proxy);
      return Response.json({ ok: true });
    };
    const { app } = edgeFixture({
      environment: KEYS,
      ...(names !== undefined && { proxy: { address: () => names, client } }),
    });
    const headers = { ...BEARER, "steward-proxy": asks };
    const answer = await app.request("/broker/telegram/getMe", { method: "POST", headers, body: "{}" });
    return { status: answer.status, answer: (await answer.json()) as object, used };
  };

  it("that the config names is gone through", async () => {
    expect(await asked(PROXY, PROXY)).toMatchObject({ status: 200, used: [PROXY] });
  });

  it.each(["http://169.254.169.254/", "http://proxy.example:3129", "http://proxy.example:3128/", ""])(
    "that it does not name is refused: %s",
    async (other) => {
      const { status, answer, used } = await asked(other, PROXY);
      expect({ status, answer, used }).toMatchObject({
        status: 503,
        answer: { code: "broker_proxy_refused" },
        used: [],
      });
    },
  );

  it("is refused where the target has none", async () => {
    expect(await asked(PROXY)).toMatchObject({ status: 400, answer: { code: "broker_no_proxy" }, used: [] });
  });
});
