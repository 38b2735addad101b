import { createServer, request } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Environment } from "../../../runtime/contract/environment.ts";
import { BROKER_VARIABLE, withPasses } from "../../../runtime/contract/services.ts";
import { createBroker } from "../../../runtime/edge/broker.ts";
import { proxyClients } from "../../../runtime/host/proxy.ts";
import { listen } from "../../../runtime/process/listen.ts";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { RefusedError, RetryableError } from "../../../runtime/gateway/failure.ts";
import { createTelegramChannel } from "../../../runtime/gateway/channels/telegram/channel.ts";
import { TelegramApi, TelegramError } from "../../../runtime/process/telegram/api.ts";
import type { IntakeState } from "../../../runtime/process/intake.ts";
import { TELEGRAM_TOKEN, telegramStandIn } from "../../support/telegram.ts";
import { telegramAccess, UNMOVED } from "../support/telegram.ts";

const NOW = 1_795_000_000_000;
const TARGET = { chat: "123456789" };
const none = (): void => {};

/** The channel against the stand-in. A broker stands before that if the environment has one. */
async function channel(section: object = {}, intake?: IntakeState, environment?: Environment) {
  const telegram = await telegramStandIn();
  const botToken = environment === undefined ? TELEGRAM_TOKEN : { env: "TELEGRAM_BOT_TOKEN" };
  const checked = checkConfig({ channels: { telegram: { botToken, ...section } } });
  if (!checked.ok || checked.config.channels.telegram === undefined) throw new Error("not a config");
  const made = createTelegramChannel({
    config: checked.config.channels.telegram,
    access: telegramAccess(),
    environment: { ...environment, TELEGRAM_API_ROOT: telegram.url },
    intake: () => intake,
    moves: UNMOVED,
    clock: () => NOW,
    log: { debug: none, info: none, warn: none, error: none },
  });
  return { telegram, channel: made };
}

const file = (reference: string) => ({ kind: "image", reference }) as const;
const { signal } = new AbortController();

test("a message that is out can be edited; one that is as it was is no error", async () => {
  const { telegram, channel: it } = await channel();
  const { id = "" } = await it.send(TARGET, "one");
  await it.edit?.(TARGET, id, "**two**");
  await it.edit?.(TARGET, id, "**two**");
  expect(telegram.messages()).toMatchObject([{ text: "two", source: "<b>two</b>", edits: ["one"] }]);
});

test("an edit that is refused is known from one that may be tried again", async () => {
  const { telegram, channel: it } = await channel();
  const edit = (id: string) => it.edit?.(TARGET, id, "x").catch((error: unknown) => error);
  expect(await edit("99")).toMatchObject({ code: "edit_refused" });
  expect(await edit("99")).toBeInstanceOf(RefusedError);
  telegram.fail("editMessageText", { status: 400, description: "Bad Request: message can't be edited" });
  expect(await edit("1")).toMatchObject({ code: "edit_refused" });
  telegram.fail("editMessageText", { status: 400, description: "Bad Request: not known so far" });
  expect(await edit("1")).toMatchObject({ code: "edit_refused" });
  telegram.fail("editMessageText", {
    status: 429,
    description: "Too Many Requests: retry after 3",
    parameters: { retry_after: 3 },
  });
  expect(await edit("1")).toMatchObject({ status: 429, retryAfterMs: 3_000 });
});

test("typing is shown, and never fails", async () => {
  const { telegram, channel: it } = await channel();
  telegram.fail("sendChatAction", { status: 403, description: "Forbidden: bot was blocked by the user" });
  await it.typing?.(TARGET);
  await it.typing?.({ ...TARGET, thread: "42" });
  expect(telegram.calls.at(-1)?.parameters).toEqual({
    chat_id: "123456789",
    message_thread_id: 42,
    action: "typing",
  });
});

test("a file is fetched up to the cap", async () => {
  const { telegram, channel: it } = await channel({ mediaMaxMb: 0.001 });
  telegram.addFile("small", new Uint8Array(1_000).fill(7));
  telegram.addFile("large", new Uint8Array(2_000));
  expect(await it.load?.(file("small"), signal)).toEqual(Buffer.alloc(1_000, 7));
  const failure = await it.load?.(file("large"), signal).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "channel_failed", message: "The file is larger than 1048 bytes." });
  expect(failure).not.toBeInstanceOf(RetryableError);
});

test("a file that cannot be had is told without the token", async () => {
  const { telegram, channel: it } = await channel();
  const load = (id: string) => it.load?.(file(id), signal).catch((error: unknown) => error);
  expect(await load("none")).toMatchObject({ code: "channel_failed" });
  telegram.fail("getFile", { status: 400, description: "Bad Request: file is too big" });
  expect(await load("x")).not.toBeInstanceOf(RetryableError);
  telegram.fail("getFile", { status: 502, description: "Bad Gateway" });
  expect(await load("x")).toBeInstanceOf(RetryableError);
  const aborted = AbortSignal.abort();
  expect(await it.load?.(file("x"), aborted).catch((error: unknown) => error)).toBeInstanceOf(RetryableError);
  await telegram.close();
  const failure = (await load("x")) as Error;
  expect(failure).toBeInstanceOf(RetryableError);
  expect(`${failure.stack} ${JSON.stringify(failure)} ${String(failure.cause)}`).not.toContain(
    TELEGRAM_TOKEN,
  );
  expect(it.health()).toMatchObject({ state: "unknown" });
});

test("a call that is not answered ends with its time", async () => {
  const telegram = await telegramStandIn();
  telegram.fail("getMe", "hang");
  const api = new TelegramApi({ token: TELEGRAM_TOKEN, apiRoot: telegram.url });
  const failure = await api.call("getMe", {}, { timeoutMs: 50 }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TelegramError);
  expect(failure).toMatchObject({ status: 0, tokenRefused: false, message: "no answer in time" });
});

test("a token of another form is refused as Telegram refuses it", async () => {
  const telegram = await telegramStandIn();
  const api = new TelegramApi({ token: "not a\ntoken/../x", apiRoot: telegram.url });
  await expect(api.call("getMe")).rejects.toMatchObject({ tokenRefused: true });
});

/** A proxy, and the paths that it was asked for. */
async function startProxy() {
  const asked: string[] = [];
  // A request for another host comes to a proxy with the whole address (RFC 9112, section 3.2.2).
  const proxy = createServer((incoming, response) => {
    asked.push(new URL(incoming.url ?? "").pathname);
    const { method = "GET", headers } = incoming;
    const forward = request(incoming.url ?? "", { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500);
      answer.pipe(response);
    });
    incoming.pipe(forward);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

test("requests go through the proxy of the config", async () => {
  const proxy = await startProxy();
  const { telegram, channel: it } = await channel({ proxy: proxy.url });
  await it.send(TARGET, "by proxy");
  expect(telegram.messages()).toMatchObject([{ text: "by proxy" }]);
  expect(proxy.asked).toEqual([`/bot${TELEGRAM_TOKEN}/sendMessage`]);
});

test("with a broker, it is the broker that goes through the proxy, with the token", async () => {
  const proxy = await startProxy();
  const client = proxyClients({ clock: () => NOW });
  let root = "";
  const server = await listen({
    fetch: (asked) =>
      createBroker({
        environment: { TELEGRAM_BOT_TOKEN: TELEGRAM_TOKEN, TELEGRAM_API_ROOT: root },
        token: () => "pass",
        fetch: () => Promise.reject(new Error("not through the proxy")),
        proxy: { address: () => proxy.url, client },
        log: { debug: none, info: none, warn: none, error: none },
      }).handle(asked),
    hostname: "127.0.0.1",
    port: 0,
  });
  onTestFinished(() => server.close(0));
  const broker = { [BROKER_VARIABLE]: `http://127.0.0.1:${server.port}/broker` };
  const environment = withPasses({ TELEGRAM_BOT_TOKEN: TELEGRAM_TOKEN, ...broker }, "pass");
  const { telegram, channel: it } = await channel({ proxy: proxy.url }, undefined, environment);
  root = telegram.url;
  await it.send(TARGET, "by broker");
  await it.files?.send(TARGET, { name: "a.txt", mediaType: "text/plain", data: new Uint8Array(9) }, "a file");
  telegram.addFile("one", new Uint8Array(1_000).fill(7));
  expect(await it.load?.(file("one"), signal)).toHaveLength(1_000);
  expect(telegram.messages()).toMatchObject([{ text: "by broker" }, { text: "[document: a.txt] a file" }]);
  expect(proxy.asked[0]).toBe(`/bot${TELEGRAM_TOKEN}/sendMessage`);
  expect(proxy.asked.at(-1)).toContain(`/file/bot${TELEGRAM_TOKEN}/`);
});

const MINUTES = 60_000;
test.each<[string, IntakeState | undefined, object]>([
  ["nobody polls here", undefined, { state: "unknown" }],
  ["nobody polls any more", { mode: "poll", held: false, polledAt: 1 }, { state: "unknown" }],
  [
    "it was polled a minute ago",
    { mode: "poll", held: true, startedAt: 1, polledAt: NOW - MINUTES },
    { state: "ready", polledAt: new Date(NOW - MINUTES).toISOString() },
  ],
  ["it has just begun to poll", { mode: "poll", held: true, startedAt: NOW - MINUTES }, { state: "unknown" }],
  [
    "it was polled four minutes ago",
    { mode: "poll", held: true, startedAt: 1, polledAt: NOW - 4 * MINUTES },
    { state: "failing", reason: { code: "telegram_stalled", detail: "polling has stalled" } },
  ],
  [
    "it has never been polled in four minutes",
    { mode: "poll", held: true, startedAt: NOW - 4 * MINUTES },
    { state: "failing", reason: { code: "telegram_stalled" } },
  ],
  [
    "somebody else polls",
    {
      mode: "poll",
      held: true,
      startedAt: 1,
      polledAt: NOW - MINUTES,
      failure: { code: "telegram_conflict", detail: "Conflict: terminated by other getUpdates request." },
    },
    {
      state: "failing",
      polledAt: new Date(NOW - MINUTES).toISOString(),
      reason: { code: "telegram_conflict", fix: expect.stringContaining("Stop the other program") },
    },
  ],
  [
    "the webhook was set long ago",
    { mode: "webhook", held: true, startedAt: 1, polledAt: 1 },
    { state: "unknown" },
  ],
])("health: %s", async (_, intake, health) => {
  const { channel: it } = await channel({}, intake);
  expect(it.health()).toMatchObject({ platform: "telegram", ...health });
});
