import { describe, expect, it } from "vitest";
import type { BrokerOptions } from "../../../runtime/edge/broker.ts";
import { BROKER_TOKEN as TOKEN, edgeFixture, NOW } from "../../support/edge.ts";

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
function brokered(answer: () => Response = () => Response.json({ ok: true }), environment = {}) {
  const sent: Sent[] = [];
  const take = async (url: string, init: RequestInit): Promise<Response> => {
    const { method = "GET", headers, body } = init;
    sent.push({
      url,
      method,
      headers: new Headers(headers),
      body: body ? new TextDecoder().decode(body as Uint8Array) : "",
    });
    return answer();
  };
  const edge = edgeFixture({ environment: { ...KEYS, ...environment }, services: take });
  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    edge.app.request(`/broker${path}`, { method, headers, ...(body !== undefined && { body }) });
  return { ...edge, sent, ask };
}

describe("what the gateway asks goes on with the key", () => {
  it.each([
    ["POST", "/anthropic/v1/messages", API_KEY, "https://api.anthropic.com/v1/messages"],
    ["GET", "/anthropic/v1/models/claude-x", API_KEY, "https://api.anthropic.com/v1/models/claude-x"],
    ["POST", "/openai/chat/completions", BEARER, "https://api.openai.com/v1/chat/completions"],
    ["GET", "/openai/models", BEARER, "https://api.openai.com/v1/models"],
    ["POST", "/slack/chat.postMessage", BEARER, "https://slack.com/api/chat.postMessage"],
    [
      "GET",
      "/slack/file?url=https%3A%2F%2Ffiles.slack.com%2Ff%2F1%3Fa%3Db",
      BEARER,
      "https://files.slack.com/f/1?a=b",
    ],
    ["GET", "/discord/users/@me", BOT, "https://discord.com/api/v10/users/@me"],
    ["POST", "/discord/channels/12/messages", BOT, "https://discord.com/api/v10/channels/12/messages"],
    ["PATCH", "/discord/channels/12/messages/3", BOT, "https://discord.com/api/v10/channels/12/messages/3"],
    [
      "POST",
      `/telegram/bot123456789:${TOKEN}/sendMessage`,
      {},
      `https://api.telegram.org/bot${KEYS.TELEGRAM_BOT_TOKEN}/sendMessage`,
    ],
    [
      "GET",
      `/telegram/file/bot123456789:${TOKEN}/photos/file_1.jpg`,
      {},
      `https://api.telegram.org/file/bot${KEYS.TELEGRAM_BOT_TOKEN}/photos/file_1.jpg`,
    ],
  ])("%s %s", async (method, path, headers, url) => {
    const { ask, sent } = brokered();
    const body = method === "GET" ? undefined : '{"a":1}';
    const answer = await ask(method, path, { ...headers, "content-type": "application/json" }, body);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ ok: true });
    expect(sent).toMatchObject([{ url, method, body: body ?? "" }]);
    const all = JSON.stringify([sent[0]?.url, [...(sent[0]?.headers ?? [])]]);
    expect(all).not.toContain(TOKEN);
    expect(Object.values(KEYS).filter((key) => all.includes(key))).toHaveLength(1);
  });

  it("at the address that the deployment names", async () => {
    const { ask, sent } = brokered(undefined, { ANTHROPIC_BASE_URL: "https://proxy.example/anthropic/v1/" });
    await ask("POST", "/anthropic/v1/messages", API_KEY, "{}");
    expect(sent).toMatchObject([{ url: "https://proxy.example/anthropic/v1/messages" }]);
  });

  it("with the headers that matter to a service, and no others", async () => {
    const { ask, sent } = brokered();
    const headers = {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "one",
      cookie: "a=b",
      "x-forwarded-for": "10.0.0.1",
      authorization: "Bearer other",
    };
    await ask("POST", "/anthropic/v1/messages", { ...API_KEY, ...headers }, "{}");
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "one",
      "content-type": expect.stringContaining("text/plain"),
      "x-api-key": KEYS.ANTHROPIC_API_KEY,
    });
  });
});

describe("what the gateway does not ask is refused, and nothing is sent", () => {
  const OTHER = { authorization: "Bearer broker-token-9999999999", "x-api-key": "broker-token-9999999999" };
  const telegram = (method: string) => `/telegram/bot123456789:${TOKEN}/${method}`;
  const file = (url: string) => `/slack/file?url=${encodeURIComponent(url)}`;
  it.each([
    // Without the pass of the gateway that runs.
    ["POST", "/anthropic/v1/messages", {}],
    ["POST", "/anthropic/v1/messages", OTHER],
    ["POST", "/anthropic/v1/messages", BEARER],
    ["POST", "/openai/chat/completions", OTHER],
    ["POST", "/slack/chat.postMessage", { authorization: TOKEN }],
    ["POST", "/slack/chat.postMessage", BOT],
    ["GET", "/discord/users/@me", BEARER],
    ["POST", `/telegram/bot123456789:${TOKEN}x/sendMessage`, {}],
    ["POST", `/telegram/bot${TOKEN}/sendMessage`, BEARER],
    ["POST", `/telegram/bot${KEYS.TELEGRAM_BOT_TOKEN}/sendMessage`, {}],
    ["POST", "/slack/chat.postMessage", { authorization: `Bearer ${KEYS.SLACK_BOT_TOKEN}` }],
    // Other methods of the services.
    ["PATCH", "/anthropic/v1/messages", API_KEY],
    ["GET", "/anthropic/v1/messages", API_KEY],
    ["POST", "/anthropic/v1/messages/batches", API_KEY],
    ["GET", "/anthropic/v1/organizations/api_keys", API_KEY],
    ["POST", "/anthropic/v1/files", API_KEY],
    ["GET", "/anthropic/v1/models/a/../../files", API_KEY],
    ["GET", "/openai/files", BEARER],
    ["POST", "/openai/images/generations", BEARER],
    ["POST", "/slack/conversations.history", BEARER],
    ["POST", "/slack/users.list", BEARER],
    ["GET", "/slack/chat.postMessage", BEARER],
    ["POST", "/slack/chat.postMessage/x", BEARER],
    ["POST", telegram("setWebhook"), {}],
    ["POST", telegram("logOut"), {}],
    ["POST", telegram("getUpdates"), {}],
    ["POST", telegram("sendMessage/x"), {}],
    ["GET", telegram("getMe"), {}],
    ["POST", "/discord/channels/12/invites", BOT],
    ["PATCH", "/discord/channels/12", BOT],
    ["PATCH", "/discord/users/@me", BOT],
    ["GET", "/discord/guilds/1", BOT],
    ["GET", "/openai/models", { ...BEARER, "steward-proxy": "http://proxy.example:3128" }],
    // Other destinations.
    ["GET", file("https://files.slack.com.attacker.example/f"), BEARER],
    ["GET", file("https://attacker.example/slack.com"), BEARER],
    ["GET", file("http://files.slack.com/f"), BEARER],
    ["GET", file("https://files.slack.com@attacker.example/f"), BEARER],
    ["GET", file("not an address"), BEARER],
    ["GET", "/slack/file", BEARER],
    ["POST", file("https://files.slack.com/f"), BEARER],
    ["GET", "/attacker.example/x", BEARER],
    ["GET", "/constructor/x", BEARER],
    ["GET", "/", BEARER],
    ["POST", "/%61nthropic/v1/messages", API_KEY],
    ["POST", "//anthropic/v1/messages", API_KEY],
  ])("%s %s %o", async (method, path, headers) => {
    const { ask, sent } = brokered();
    const answer = await ask(method, path, headers, method === "GET" ? undefined : "{}");
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: "broker_refused" });
    expect(sent).toEqual([]);
  });

  it("a body above 32 MiB", async () => {
    const { ask, sent } = brokered();
    const answer = await ask("POST", "/anthropic/v1/messages", API_KEY, "x".repeat(32 * 1024 * 1024 + 1));
    expect([answer.status, sent]).toEqual([413, []]);
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
    const answer = await ask("POST", "/anthropic/v1/messages", API_KEY, "{}");
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
    const answer = await ask("POST", "/anthropic/v1/messages", API_KEY, "{}");
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "7"]);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(await answer.text()).toBe("Incorrect API key provided: [redacted].");
  });

  it("is a redirect: it is handed back, not followed", async () => {
    const { ask } = brokered(
      () => new Response(null, { status: 302, headers: { location: "https://x.example/" } }),
    );
    const answer = await ask("GET", "/slack/file?url=https%3A%2F%2Ffiles.slack.com%2Ff", BEARER);
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "https://x.example/"]);
  });

  it("nothing: 502, and the log holds no key", async () => {
    const { ask, logged } = brokered(() => {
      throw new Error(`connect https://api.telegram.org/bot${KEYS.TELEGRAM_BOT_TOKEN}/getMe`);
    });
    const answer = await ask("POST", `/telegram/bot123456789:${TOKEN}/getMe`);
    expect([answer.status, await answer.json()]).toEqual([
      502,
      expect.objectContaining({ code: "broker_no_answer" }),
    ]);
    expect(logged.join()).toContain("a service did not answer");
    expect(logged.join()).not.toContain(KEYS.TELEGRAM_BOT_TOKEN);
  });
});

it("is counted by how it was dealt with", async () => {
  let isUp = true;
  const { ask, brokered: counts } = brokered(() => {
    if (isUp) return Response.json({ ok: true });
    throw new Error("down");
  });
  await ask("GET", "/openai/models", BEARER);
  await ask("GET", "/openai/models", BEARER);
  await ask("GET", "/openai/files", BEARER);
  isUp = false;
  await ask("GET", "/openai/models", BEARER);
  expect(counts).toEqual({ answered: 2, failed: 1, refused: 1 });
});

describe("a proxy that the config names", () => {
  const asked = (proxied?: BrokerOptions["fetchThrough"]) =>
    edgeFixture({ environment: KEYS, clock: () => NOW, ...(proxied && { proxied }) }).app.request(
      `/broker/telegram/bot123456789:${TOKEN}/getMe`,
      { method: "POST", headers: { "steward-proxy": "http://proxy.example:3128" } },
    );

  it("is gone through where the target can", async () => {
    const used: string[] = [];
    const answer = await asked((proxy) => {
      used.push(proxy);
      return async () => Response.json({ ok: true });
    });
    expect([answer.status, used]).toEqual([200, ["http://proxy.example:3128"]]);
  });

  it("is refused where it cannot", async () => {
    const answer = await asked();
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({ code: "broker_no_proxy" }),
    ]);
  });
});
