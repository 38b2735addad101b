import { beforeEach, afterEach, expect, test } from "vitest";
import type { Delivery, DeliveryNotice } from "../../../runtime/contract/delivery.ts";
import { LedgerStore } from "../../../runtime/edge/ledger/store.ts";
import { ChatNotifier } from "../../../runtime/edge/ledger/chat-notifier.ts";
import { messageEvent } from "../../support/discord.ts";
import { answered, HOUR, LedgerStage, silent } from "../support/ledger.ts";
import { Notices } from "../../../runtime/edge/ledger/dispatcher.ts";

const MINUTE = 60_000;

let stage: LedgerStage;
let store: LedgerStore;
beforeEach(() => {
  stage = new LedgerStage();
  store = new LedgerStore(stage.sql);
});
afterEach(() => stage.close());

/** Whom the notices tell, in their order, and when they want to run again. */
function notices() {
  const told: { id: string; notice: DeliveryNotice }[] = [];
  const wishes: number[] = [];
  const runner = new Notices({
    store,
    notify: async ({ id }, notice) => {
      told.push({ id, notice });
      return true;
    },
    wakeAt: (time) => void wishes.push(time - stage.now),
    clock: () => stage.now,
    log: silent,
  });
  return { runner, told, wishes };
}

test("a message that nothing has taken up is told of after a minute, once", () => {
  store.record(stage.event("E1"));
  const { runner, told, wishes } = notices();

  runner.run();
  expect({ told, wishes }).toEqual({ told: [], wishes: [MINUTE] });
  stage.now += MINUTE;
  runner.run();
  stage.now += HOUR;
  runner.run();

  expect(told).toEqual([{ id: "E1", notice: { nextAt: expect.any(Number) } }]);
});

test("a message behind one that is tried again in hours is told of at once, with that one's reason", async () => {
  store.record(stage.event("E1"));
  const head = stage.dispatcher(store, async () => ({
    kind: "retry",
    note: "429 model_rate_limited slow down",
    afterMs: 6 * HOUR,
  }));
  head.runner.run();
  await head.runner.idle();
  stage.now += 10_000;
  store.record(stage.event("E2"));
  const { runner, told } = notices();

  runner.run();

  const nextAt = stage.now - 10_000 + 6 * HOUR;
  expect(told).toEqual([{ id: "E2", notice: { code: "model_rate_limited", nextAt } }]);
});

test("what is being delivered is the gateway's to tell of, and what is answered nobody's", async () => {
  store.record(stage.event("E1"));
  store.record(stage.event("E2", "C2"));
  const [taken] = store.take(stage.now, 1);
  const { runner: dispatcher } = stage.dispatcher(store, answered);
  const { runner, told } = notices();
  stage.now += MINUTE;

  runner.run();
  expect(told.map(({ id }) => id)).toEqual(["E2"]);
  store.release([]);
  dispatcher.run();
  await dispatcher.idle();
  stage.now += HOUR;
  runner.run();

  expect(taken?.entries[0].delivery.id).toBe("E1");
  expect(told.map(({ id }) => id)).toEqual(["E2"]);
});

const PRIVATE = { message: { chat: { id: 7, type: "private" }, from: { id: 7, is_bot: false }, text: "hi" } };
const GROUP = { message: { chat: { id: -9, type: "group" }, from: { id: 7, is_bot: false }, text: "hi" } };
const DIRECT = { event: { type: "message", channel_type: "im", channel: "D1", user: "U1", ts: "1.1" } };
const MENTION = { event: { type: "app_mention", channel: "C1", user: "U1", ts: "1.1" } };
const OWN = { event: { type: "message", channel_type: "im", channel: "D1", bot_id: "B1", ts: "1.1" } };
const COMMAND = { type: 2, application_id: "845", token: "a-token" };
const DOWN = expect.stringContaining("Your message is saved");

/** A teller whose gateway is in this state, what it sends, and how the platform answers. */
function teller(state: "ready" | "crash-looping") {
  const sent: {
    method?: string | undefined;
    url: string;
    body: Record<string, unknown>;
    authorization?: string;
  }[] = [];
  const gateway: Record<string, unknown>[] = [];
  const answers: object[] = [];
  const one = new ChatNotifier({
    sandbox: {
      status: async () => ({ state, since: "", restarts: 0 }),
      request: async (_port, { body = "" }) => {
        gateway.push(JSON.parse(body));
        return Response.json({ outcome: "answered" });
      },
    },
    environment: { TELEGRAM_BOT_TOKEN: "1:tok", SLACK_BOT_TOKEN: "xoxb-1", DISCORD_BOT_TOKEN: "discord-1" },
    fetch: async (url, { method, body, headers }) => {
      const authorization = new Headers(headers).get("authorization");
      sent.push({ method, url, body: JSON.parse(String(body)), ...(authorization && { authorization }) });
      return Response.json(answers.shift() ?? { ok: true });
    },
  });
  const tell = (
    platform: Delivery["platform"],
    payload: Record<string, unknown>,
    conversation = "C",
    notice: DeliveryNotice = { code: "model_overloaded" },
  ) => one.notify({ id: "E1", platform, conversation, receivedAt: 0, payload }, notice, store.chats);
  return { tell, sent, gateway, answers };
}

/** The gateway has answered in these chats before. */
function answeredIn(...conversations: string[]): void {
  for (const conversation of conversations) store.chats.answered(conversation, stage.now);
}

test("while the gateway runs it tells, since it knows whom it may answer", async () => {
  const { tell, sent, gateway } = teller("ready");

  expect(await tell("telegram", PRIVATE)).toBe(true);

  expect(sent).toEqual([]);
  expect(gateway).toMatchObject([{ id: "E1", payload: PRIVATE, notice: { code: "model_overloaded" } }]);
});

test("while it does not, the edge tells each chat once, where a message is surely for the bot", async () => {
  const { tell, sent } = teller("crash-looping");
  answeredIn(
    "telegram:7",
    "telegram:-9",
    "slack:D1",
    "slack:C1",
    "slack:D2",
    "discord:845",
    "discord:846",
    "discord:12",
    "discord:13",
  );

  for (const payload of [PRIVATE, PRIVATE]) await tell("telegram", payload, "7");
  await tell("telegram", GROUP, "-9");
  await tell("slack", DIRECT, "D1");
  await tell("slack", MENTION, "C1");
  await tell("slack", OWN, "D2");
  await tell("discord", COMMAND, "845");
  await tell("discord", {}, "846");
  await tell("discord", messageEvent({ channel_id: "12" }), "12");
  await tell("discord", { ...COMMAND, type: 3 }, "12");
  await tell("discord", messageEvent({ content: "to nobody", channel_id: "13" }, "server"), "13");

  const slack = {
    method: "POST",
    url: "https://slack.com/api/chat.postMessage",
    authorization: "Bearer xoxb-1",
  };
  expect(sent).toEqual([
    {
      method: "POST",
      url: "https://api.telegram.org/bot1:tok/sendMessage",
      body: { chat_id: 7, text: DOWN },
    },
    { ...slack, body: { channel: "D1", text: DOWN } },
    { ...slack, body: { channel: "C1", thread_ts: "1.1", text: DOWN } },
    {
      method: "PATCH",
      url: "https://discord.com/api/v10/webhooks/845/a-token/messages/@original",
      body: { content: DOWN },
    },
    {
      method: "POST",
      url: "https://discord.com/api/v10/channels/12/messages",
      authorization: "Bot discord-1",
      body: { content: DOWN, allowed_mentions: { parse: [] } },
    },
  ]);
});

test.each([
  ["slack", MENTION, "T1:C1:1700000000.000100", "T1:C1:1700000001.000200"],
  ["telegram", PRIVATE, "7:12", "7:13"],
] as const)(
  "a chat of %s is known by any of its threads, and told once",
  async (platform, payload, one, other) => {
    const { tell, sent } = teller("crash-looping");
    answeredIn(`${platform}:${one}`);

    expect(await tell(platform, payload, other)).toBe(true);
    expect(await tell(platform, payload, one)).toBe(true);

    expect(sent).toHaveLength(1);
  },
);

test("a stranger, whom the gateway may not answer either, gets no word from the edge", async () => {
  const { tell, sent } = teller("crash-looping");

  expect(await tell("telegram", PRIVATE, "7")).toBe(false);

  expect(sent).toEqual([]);
});

test("one outage is told once, over restarts of the edge; the next one again", async () => {
  answeredIn("telegram:7");
  await teller("crash-looping").tell("telegram", PRIVATE, "7");
  store = new LedgerStore(stage.sql);
  const { tell, sent } = teller("crash-looping");

  expect(await tell("telegram", PRIVATE, "7")).toBe(true);
  expect(sent).toEqual([]);
  store.record({ ...stage.event("E9", "C9") });
  const { runner } = stage.dispatcher(store, answered);
  runner.run();
  await runner.idle();
  expect(await tell("telegram", PRIVATE, "7")).toBe(true);

  expect(sent).toHaveLength(1);
});

test("what Slack refuses with 200 was not told, and the next message tries again", async () => {
  answeredIn("slack:D1");
  const { tell, sent, answers } = teller("crash-looping");
  answers.push({ ok: false, error: "account_inactive" });

  await expect(tell("slack", DIRECT, "D1")).rejects.toThrow("slack refused: account_inactive");
  expect(await tell("slack", DIRECT, "D1")).toBe(true);

  expect(sent).toHaveLength(2);
});

test("messages given up together share one word, and its fate", async () => {
  answeredIn("slack:D1");
  const { tell, sent, answers } = teller("crash-looping");
  answers.push({ ok: false, error: "account_inactive" });
  const both = () =>
    Promise.allSettled(["D1", "D1"].map((chat) => tell("slack", DIRECT, chat, { givenUp: true })));

  expect((await both()).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await both()).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);

  expect(sent).toHaveLength(2);
});

test("a chat that was told that it waits is told once more when its message is given up", async () => {
  answeredIn("telegram:7");
  const { tell, sent } = teller("crash-looping");

  await tell("telegram", PRIVATE, "7");
  for (let message = 0; message < 3; message += 1) {
    await tell("telegram", PRIVATE, "7", { givenUp: true });
  }

  expect(sent.map(({ body }) => body["text"])).toEqual([
    DOWN,
    expect.stringContaining("cannot answer what you wrote. Please send it again later."),
  ]);
});

test("an event that nothing could answer for a day is failed, and its note says whether its person knows", async () => {
  store.record(stage.event("E1"));
  const { runner, told } = stage.dispatcher(store, answered);
  stage.now += 24 * HOUR + 1;

  runner.run();
  await new Promise(setImmediate);

  expect(told).toEqual(['E1 {"givenUp":true}']);
  expect(store.list({ state: "failed", limit: 10 }).entries).toMatchObject([
    { note: "never delivered. The sender was notified." },
  ]);
});
