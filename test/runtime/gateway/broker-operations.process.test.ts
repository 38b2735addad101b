import { expect, onTestFinished, test } from "vitest";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { SERVICE_OPERATIONS } from "../../../runtime/contract/service-operations.ts";
import { BROKER_VARIABLE, SERVICES, withPasses } from "../../../runtime/contract/services.ts";
import type { TenantChat } from "../../../runtime/contract/tenant.ts";
import { createBroker } from "../../../runtime/edge/broker.ts";
import { channelAccess } from "../../../runtime/shared/channel-access.ts";
import type { Channel } from "../../../runtime/gateway/channels/channel.ts";
import { createDiscordChannel } from "../../../runtime/gateway/channels/discord/channel.ts";
import { createSlackChannel } from "../../../runtime/gateway/channels/slack/channel.ts";
import { createTelegramChannel } from "../../../runtime/gateway/channels/telegram/channel.ts";
import { addressOf } from "../../../runtime/gateway/models/create.ts";
import {
  createAnthropicModel,
  createOpenAiCompatibleModel,
} from "../../../runtime/gateway/models/providers.ts";
import { createTranscriber } from "../../../runtime/gateway/models/transcription.ts";
import { prompt } from "../../../runtime/gateway/prompt/text.ts";
import { listen } from "../../../runtime/process/listen.ts";
import { request } from "../support/providers.ts";
import { telegramAccess, UNMOVED } from "../support/telegram.ts";

const KEYS = {
  ANTHROPIC_API_KEY: "sk-ant-real-0123456789abcdef",
  OPENAI_API_KEY: "sk-real-0123456789abcdefghij",
  TELEGRAM_BOT_TOKEN: "123456789:AAreal-0123456789abcdefghijklmnopqr",
  SLACK_BOT_TOKEN: "xoxb-real-0123456789",
  DISCORD_BOT_TOKEN: "discord.real.0123456789abcdef",
};
const PASS = "pass-0123456789";
const MODELS = ["anthropic/claude-sonnet-4-5", "other/gpt-x"];
const OPENAI = { baseUrl: SERVICES.openai.own, apiKey: { env: "OPENAI_API_KEY" } };
const CONFIG = {
  models: {
    primary: MODELS[0],
    fallbacks: [MODELS[1]],
    providers: { other: OPENAI },
    transcription: { ...OPENAI, model: "whisper-1" },
  },
  channels: {
    telegram: { botToken: { env: "TELEGRAM_BOT_TOKEN" }, ackReaction: "👀" },
    slack: { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: "y", ackReaction: "eyes" },
    discord: { token: { env: "DISCORD_BOT_TOKEN" }, ackReaction: "👀" },
  },
};
const none = (): void => {};
const log = { debug: none, info: none, warn: none, error: none };
const redact = (text: string): string => text;
const clock = (): number => 1_795_000_000_000;
const { signal } = new AbortController();

/** A service's answers, as its clients need them to go on. */
function answerOf(url: string, uploads: string): Response {
  if (url.endsWith("/files.getUploadURLExternal")) {
    return Response.json({ ok: true, upload_url: `${uploads}/upload`, file_id: "F2" });
  }
  const { pathname } = new URL(url);
  if (pathname.endsWith("/files.info")) {
    const place = "https://files.slack.com/files-pri/T1-F1/a.png";
    return Response.json({ ok: true, file: { id: "F1", url_private: place } });
  }
  if (pathname.startsWith("/files-pri/") || pathname.startsWith("/file/")) return new Response("image");
  if (pathname.endsWith("/getFile")) {
    return Response.json({ ok: true, result: { file_path: "photos/file 1.jpg" } });
  }
  const result = { message_id: 1, username: "bot" };
  if (pathname.endsWith("/transcriptions")) return Response.json({ text: "heard" });
  return Response.json({ ok: true, result, id: "3", ts: "1.1", data: [{ id: "gpt-x" }] });
}

/** A broker on a port, the environment of a gateway that has a pass for it, and what has gone out. */
async function brokered(pass = PASS, chat?: TenantChat, moves: typeof UNMOVED = UNMOVED) {
  const sent: { url: string; body: string; headers: Headers }[] = [];
  const slackFiles = await listen({ fetch: () => new Response("OK"), hostname: "127.0.0.1", port: 0 });
  onTestFinished(() => slackFiles.close(0));
  const uploads = `http://127.0.0.1:${slackFiles.port}`;
  const broker = createBroker({
    environment: KEYS,
    token: () => PASS,
    chat,
    fetch: async (url, { headers, body }) => {
      sent.push({ url, headers: new Headers(headers), body: body ? await new Response(body).text() : "" });
      return answerOf(url, uploads);
    },
    log,
  });
  const server = await listen({ fetch: (asked) => broker.handle(asked), hostname: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close(0));
  const url = `http://127.0.0.1:${server.port}/broker`;
  const environment = withPasses(
    { ...KEYS, [BROKER_VARIABLE]: url, SLACK_API_URL: uploads, DISCORD_API_URL: uploads },
    pass,
  );
  const checked = checkConfig(CONFIG);
  if (!checked.ok) throw new Error("not a config");
  const { telegram, slack, discord } = checked.config.channels;
  if (!telegram || !slack || !discord) throw new Error("no channels");
  const shared = { environment, clock, log };
  const access = channelAccess({ ...slack, groups: {}, operators: [] }, { granted: () => undefined });
  return {
    broker,
    sent,
    environment,
    config: checked.config,
    telegram: createTelegramChannel({
      ...shared,
      config: telegram,
      access: telegramAccess(),
      moves,
      intake: () => undefined,
    }),
    slack: createSlackChannel({ ...shared, config: slack, access }),
    discord: createDiscordChannel({ ...shared, config: discord, access, intake: () => undefined }),
  };
}

/** Does everything that a channel can ask its platform for. */
async function useAll(channel: Channel, chat: string): Promise<void> {
  const { id = "" } = await channel.send({ chat, thread: "7" }, "**hello** _there_");
  await channel.send({ chat }, "hello", 0, [{ label: "Yes", press: "a" }]);
  await channel.edit?.({ chat }, id, "hello again");
  await channel.typing?.({ chat });
  await channel.typing?.({ chat, thread: "7" });
  for (const mediaType of channel.files === undefined ? [] : ["image/png", "application/pdf"]) {
    const file = { name: 'ä "1".x', mediaType, data: new TextEncoder().encode(mediaType) };
    await channel.files?.send({ chat, thread: "7" }, file, "As asked");
  }
  const sender = { id: "1" };
  const press = { direct: true, sender, target: { chat }, press: "a", ticket: "1", message: "7" };
  await channel.answerPress?.(press, "Yes", true);
  await channel.answerPress?.(press, "No", false);
  await channel.react?.({ chat }, "7");
  await channel.directChat?.("5");
  for (const kind of ["person", "channel", "group"] as const) await channel.nameOf?.(kind, "12");
  await channel.probe?.();
}

test("the gateway's clients use every operation of the table, and no other", async () => {
  const { broker, sent, environment, config, telegram, slack, discord } = await brokered();
  await useAll(telegram, "-100123");
  await useAll(slack, "C1");
  await useAll(discord, "12");
  expect(await telegram.load?.({ kind: "image", reference: "file-id" }, signal)).toHaveLength(5);
  expect(await slack.load?.({ kind: "image", reference: "F1" }, signal)).toHaveLength(5);
  const tools = [
    { name: "look", description: prompt`Looks.`, inputSchema: { type: "object", properties: {} } },
  ];
  for (const reference of MODELS) {
    const address = addressOf(reference, config, environment);
    const { url, headers } = address.catalog;
    expect((await fetch(url, { headers })).status).toBe(200);
    const options = { ...address, redact, report: () => {}, clock };
    const model = reference.startsWith("anthropic/")
      ? createAnthropicModel(options)
      : createOpenAiCompatibleModel(options);
    // What the stand-in says is no answer; that it was asked for one counts.
    await expect(model.answer(request({ tools }))).rejects.toMatchObject({
      code: expect.stringMatching(/^model_/),
    });
  }

  const transcriber = createTranscriber(config.models, { environment, redact, fetch, clock, log });
  expect(await transcriber?.transcribe(Buffer.from("OggS and words"), signal)).toBe("heard");
  const upload = sent.find(({ url }) => url.endsWith("/audio/transcriptions"));
  expect(upload?.headers.get("authorization")).toBe(`Bearer ${KEYS.OPENAI_API_KEY}`);
  const given = new Response(upload?.body, {
    headers: { "content-type": upload?.headers.get("content-type") ?? "" },
  });
  expect((await given.formData()).get("model")).toBe("whisper-1");

  expect(Object.keys(broker.counts.operations).sort()).toEqual(Object.keys(SERVICE_OPERATIONS).sort());
  expect(broker.counts).toMatchObject({ failed: 0, refused: 0 });
  // One request for each, but for a file of Slack, whose place is asked for first.
  expect(sent).toHaveLength(broker.counts.answered + 1);
  expect(sent.find(({ url }) => url.includes("/file/bot"))?.url).toContain("/photos/file%201.jpg");
  const document = sent.find(({ url }) => url.endsWith("/sendDocument"));
  const { headers = new Headers(), body = "" } = document ?? {};
  const form = await new Response(body, { headers }).formData();
  expect(Object.fromEntries(form)).toMatchObject({
    chat_id: "-100123",
    message_thread_id: "7",
    caption: "As asked",
    document: { name: 'ä "1".x', type: "application/pdf", size: 15 },
  });
  const question = sent.find(({ url }) => url.endsWith("/v1/messages"));
  expect(JSON.parse(question?.body ?? "")).toMatchObject({ tools: [{ name: "look" }] });
  expect(question?.headers.get("anthropic-beta")).toBe("structured-outputs-2025-11-13");
});

test("a pass of an earlier start is no refusal of the chat's: the reply can be tried again", async () => {
  const { telegram } = await brokered("pass-of-an-earlier-start");
  await expect(telegram.send({ chat: "1" }, "hello")).rejects.toMatchObject({
    code: "telegram_unreachable",
    message: expect.stringContaining("broker_refused"),
  });
});

test.each(["telegram", "slack", "discord"] as const)(
  "what %s is asked for another chat than the pass's is not tried again",
  async (platform) => {
    const channels = await brokered(PASS, { platform, chat: "1" });
    const refused = {
      code: "reply_refused",
      gone: false,
      message: expect.stringContaining("serves only its own chat"),
    };
    await expect(channels[platform].send({ chat: "2" }, "hello")).rejects.toMatchObject(refused);
    const file = { name: "a.txt", mediaType: "text/plain", data: new Uint8Array(1) } as const;
    await expect(channels[platform].files?.send({ chat: "2" }, file)).rejects.toMatchObject(refused);
    await channels[platform].send({ chat: "1" }, "hello");
  },
);

test("a group's new id is tried again: the broker knows it a moment later", async () => {
  const moves = { ...UNMOVED, current: () => "-1002" };
  const { telegram } = await brokered(PASS, { platform: "telegram", chat: "-2" }, moves);
  await expect(telegram.send({ chat: "-2" }, "hello")).rejects.toMatchObject({
    code: "telegram_unreachable",
  });
});

test("a file that Slack keeps elsewhere is told with its code", async () => {
  const { slack } = await brokered();
  await expect(slack.load?.({ kind: "image", reference: "not-an-id" }, signal)).rejects.toMatchObject({
    code: "broker_arguments_invalid",
  });
});
