import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { PERSON, PRIVATE, type TelegramFault } from "../../../rehearsal/standins/telegram.ts";
import { TELEGRAM_TOKEN, telegramStandIn } from "../../support/telegram.ts";
import { askJson, deliver, startGateway, surroundings } from "../support/gateway.ts";
import { modelStream } from "../support/platforms.ts";
import { eventually } from "../support/processes.ts";

const GROUP = { id: -1001234567890, type: "supergroup", title: "Team", is_forum: true };

/** A gateway that serves Telegram for everyone; `fault` is what Telegram answers when it is first asked who the bot is. */
async function gateway(section: object = {}, fault?: TelegramFault) {
  const { home, environment, model, url } = await surroundings();
  const telegram = await telegramStandIn();
  if (fault !== undefined) telegram.fail("getMe", fault);
  const usual = {
    botToken: { env: "TELEGRAM_BOT_TOKEN" },
    groupPolicy: "open",
    dmPolicy: "open",
    allowFrom: ["*"],
    streamMode: "off",
  };
  await mkdir(home, { recursive: true });
  await writeFile(
    join(home, "steward.json"),
    JSON.stringify({ channels: { telegram: { ...usual, ...section } } }),
  );
  const variables = { TELEGRAM_BOT_TOKEN: TELEGRAM_TOKEN, TELEGRAM_API_ROOT: telegram.url };
  const process = await startGateway({ ...environment, ...variables });
  const send = (id: string, extra: object = {}) =>
    deliver(url, {
      id,
      platform: "telegram",
      conversation: "1",
      receivedAt: Date.now() - 30_000,
      payload: {
        update_id: Number(id),
        message: { message_id: 7, date: 1_795_000_000, from: PERSON, chat: PRIVATE, text: "hello", ...extra },
      },
    });
  const status = () => askJson<GatewayStatus>(`${url}/status`);
  const health = async () => (await status()).channels[0];
  const sent = () =>
    telegram.calls.filter(({ method }) => method === "sendMessage").map(({ parameters }) => parameters);
  return { telegram, model, process, send, status, health, sent, home };
}

test("a reply goes out as HTML, without previews, into the topic it came from", async () => {
  const { telegram, model, send, sent } = await gateway({ groups: { "*": { requireMention: false } } });
  model.next(modelStream("**Yes** & <no>, see [this](https://x.example/)"));
  const topic = { chat: GROUP, message_thread_id: 42, is_topic_message: true };
  expect(await send("1", topic)).toMatchObject({ status: 200, answer: { outcome: "answered" } });
  expect(sent()).toEqual([
    {
      chat_id: "-1001234567890",
      message_thread_id: 42,
      text: '<b>Yes</b> &amp; &lt;no&gt;, see <a href="https://x.example/">this</a>',
      parse_mode: "HTML",
      link_preview_options: { is_disabled: true },
    },
  ]);
  expect(telegram.messages()).toMatchObject([{ text: "Yes & <no>, see this", thread: 42 }]);
});

test("markup that Telegram cannot read goes out as plain text", async () => {
  const { telegram, model, send, sent } = await gateway();
  model.next(modelStream("**Yes**"));
  const description = 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0';
  telegram.fail("sendMessage", { status: 400, description });
  expect(await send("1")).toMatchObject({ status: 200 });
  expect(sent()[1]).toMatchObject({ text: "**Yes**" });
  expect(sent()[1]).not.toHaveProperty("parse_mode");
});

test("a long reply is split at what Telegram takes", async () => {
  const { telegram, model, send } = await gateway();
  model.next(modelStream(Array.from({ length: 1_500 }, (_, index) => `**w${index}**`).join(" ")));
  expect(await send("1")).toMatchObject({ status: 200 });
  expect(telegram.messages().length).toBeGreaterThan(2);
  const texts = telegram.messages().flatMap(({ text, buttons }) => (buttons.length > 0 ? [] : text));
  expect(texts.join(" ")).toBe(Array.from({ length: 1_500 }, (_, index) => `w${index}`).join(" "));
});

test("a rate limit is passed on with its time; the model is not asked again", async () => {
  const { telegram, model, send, health } = await gateway();
  telegram.fail("sendMessage", {
    status: 429,
    description: "Too Many Requests: retry after 120",
    parameters: { retry_after: 120 },
  });
  expect(await send("1")).toMatchObject({
    status: 429,
    retryAfter: "120",
    answer: { code: "channel_failed" },
  });
  expect(await send("1")).toMatchObject({ status: 200 });
  expect(telegram.messages()).toHaveLength(1);
  expect(model.asked()).toHaveLength(1);
  expect(await health()).toMatchObject({ platform: "telegram", state: "ready" });
});

test("a wrong token is told with its fix, in the answer and in the status", async () => {
  const { telegram, process, send, health } = await gateway();
  telegram.fail("sendMessage", { status: 401, description: "Unauthorized" });
  const refused = await send("1");
  expect(refused).toMatchObject({ status: 503, answer: { code: "telegram_token_invalid" } });
  expect(await health()).toMatchObject({
    state: "failing",
    reason: { code: "telegram_token_invalid", fix: expect.stringContaining("TELEGRAM_BOT_TOKEN") },
  });
  expect(JSON.stringify(refused) + process.stdout()).not.toContain(TELEGRAM_TOKEN);
});

test.each([
  ["blocked the bot", "ignored", { status: 403, description: "Forbidden: bot was blocked by the user" }],
  [
    "removed the bot",
    "ignored",
    { status: 403, description: "Forbidden: bot was kicked from the supergroup chat" },
  ],
  ["is gone", "ignored", { status: 400, description: "Bad Request: chat not found" }],
  ["takes no text", "failed", { status: 400, description: "Bad Request: CHAT_SEND_PLAIN_FORBIDDEN" }],
  [
    "takes not this text",
    "failed",
    { status: 400, description: "Bad Request: strings must be encoded in UTF-8" },
  ],
])("a chat that %s ends the delivery as %s, with a note", async (_, outcome, fault) => {
  const { telegram, send, health } = await gateway();
  telegram.fail("sendMessage", fault);
  expect(await send("1")).toMatchObject({
    status: 200,
    answer: { outcome, note: expect.stringContaining(fault.description) },
  });
  expect(telegram.messages()).toEqual([]);
  expect(await health()).toMatchObject({ state: "ready" });
  expect(await send("2")).toMatchObject({ answer: { outcome: "answered" } });
  expect(telegram.messages()).toHaveLength(1);
});

test("a group that was upgraded is answered under its new id", async () => {
  const { telegram, send } = await gateway({ groups: { "*": { requireMention: false } } });
  telegram.fail("sendMessage", {
    status: 400,
    description: "Bad Request: group chat was upgraded to a supergroup chat",
    parameters: { migrate_to_chat_id: -1009 },
  });
  const chat = { id: -9, type: "group", title: "Old" };
  expect(await send("1", { chat })).toMatchObject({ status: 200 });
  expect(await send("2", { chat })).toMatchObject({ status: 200 });
  expect(telegram.messages().map((message) => message.chat)).toEqual(["-1009", "-1009"]);
});

test("a group that became a supergroup goes on: with its list and its conversation", async () => {
  const { telegram, model, send, sent } = await gateway({
    groupPolicy: "allowlist",
    groups: { "-9": { requireMention: false } },
  });
  const chat = { id: -9, type: "group", title: "Club" };
  const now = { id: -1009, type: "supergroup", title: "Club" };
  await send("1", { chat, text: "before" });
  expect(await send("2", { chat, text: undefined, migrate_to_chat_id: -1009 })).toMatchObject({
    answer: { outcome: "ignored", note: "the group became a supergroup: its id changed from -9 to -1009" },
  });
  expect(await send("3", { chat: now, text: "after" })).toMatchObject({ answer: { outcome: "answered" } });
  expect(sent().map((one) => one["chat_id"])).toEqual(["-9", "-1009"]);
  expect(model.asked().at(-1)?.join()).toContain("before");
  expect(telegram.messages()).toHaveLength(2);
});

test.each(["message thread not found", "TOPIC_CLOSED", "TOPIC_DELETED"])(
  "where the topic is gone or closed the answer goes into the group: %s",
  async (why) => {
    const { telegram, send, sent } = await gateway({ groups: { "*": { requireMention: false } } });
    telegram.fail("sendMessage", { status: 400, description: `Bad Request: ${why}` });
    const topic = { chat: GROUP, message_thread_id: 77, is_topic_message: true };
    expect(await send("1", topic)).toMatchObject({ answer: { outcome: "answered" } });
    expect(sent().map((one) => one["message_thread_id"])).toEqual([77, undefined]);
    expect(telegram.messages()).toHaveLength(1);
  },
);

test("a part that nobody knows yet is counted for the operator, and the words are answered", async () => {
  const { send, status } = await gateway();
  expect(await send("1", { hologram: { size: 3 } })).toMatchObject({ answer: { outcome: "answered" } });
  expect((await status()).findings).toMatchObject([
    { area: "message", what: "telegram: message.hologram", count: 1 },
  ]);
});

test("what is going to be answered gets the reaction of the config, and a refusal of it stops nothing", async () => {
  const { telegram, send } = await gateway({ ackReaction: "👀" });
  telegram.fail("setMessageReaction", { status: 400, description: "Bad Request: REACTION_INVALID" });
  expect(await send("1")).toMatchObject({ answer: { outcome: "answered" } });
  expect(await send("2", { text: "/help" })).toMatchObject({ answer: { outcome: "answered" } });
  const set = telegram.calls.filter(({ method }) => method === "setMessageReaction");
  expect(set.map(({ parameters }) => parameters)).toEqual([
    { chat_id: String(PRIVATE.id), message_id: 7, reaction: [{ type: "emoji", emoji: "👀" }] },
  ]);
});

test("the bot's name is asked for again where the first time failed, and what needs it is answered behind that", async () => {
  const began = performance.now();
  const { telegram, send } = await gateway({}, { status: 502, description: "Bad Gateway" });
  const name = telegram.username;
  const mention = {
    chat: GROUP,
    text: `@${name} hi`,
    entities: [{ type: "mention", offset: 0, length: name.length + 1 }],
  };
  expect(await send("1", mention)).toMatchObject({ status: 503, retryAfter: "1" });
  await eventually(async () => (await send("1", mention)).status === 200);
  expect(telegram.messages()).toHaveLength(1);
  expect(await send("2", mention)).toMatchObject({ status: 200 });
  const asked = telegram.calls.filter(({ method }) => method === "getMe").length;
  // The gateway's own check comes again after ten seconds.
  expect(performance.now() - began < 10_000 ? [2] : [2, 3]).toContain(asked);
});

test("a server error and an answer that is no JSON are tried again", async () => {
  const { telegram, send } = await gateway();
  telegram.fail("sendMessage", { status: 502, description: "Bad Gateway" });
  expect(await send("1")).toMatchObject({ status: 503, answer: { code: "telegram_unreachable" } });
  await telegram.close();
  expect(await send("1")).toMatchObject({ status: 503, answer: { code: "telegram_unreachable" } });
});
