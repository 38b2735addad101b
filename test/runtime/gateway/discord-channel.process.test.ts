import { onTestFinished, expect, test } from "vitest";
import { startDiscord } from "../../../rehearsal/standins/discord.ts";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { DISCORD_COMMANDS } from "../../../runtime/contract/discord-commands.ts";
import { channelAccess } from "../../../runtime/shared/channel-access.ts";
import { createDiscordChannel } from "../../../runtime/gateway/channels/discord/channel.ts";
import { snowflake } from "../../../rehearsal/standins/discord-message.ts";
import {
  BOT_USER,
  command,
  directCommand,
  MASON,
  messageEvent,
  type CommandFields,
} from "../../support/discord.ts";
import { NOW } from "../../support/edge.ts";
import { APPLICATION, DISCORD_BOT_TOKEN, GUILD } from "../support/discord.ts";
import { startSlack as startServer } from "../support/platforms.ts";

const TOKEN = "aW50ZXJhY3Rpb246MTIzNDU2Nzg5MDEyMzQ1Njc4OQ";
const EXPIRES_AT = NOW + 15 * 60_000 - 30_000;
const PERSON = "53908232506183680";

/** The channel over the stand-in for Discord, on a clock that the test moves. */
async function discordChannel(keys: object = {}, apiUrl?: string) {
  const options = { hostname: "127.0.0.1", port: 0, botToken: DISCORD_BOT_TOKEN, applicationId: APPLICATION };
  const discord = await startDiscord(options);
  onTestFinished(() => discord.close());
  const checked = checkConfig({
    channels: { discord: { token: DISCORD_BOT_TOKEN, guilds: { [GUILD]: {} }, ...keys } },
  });
  if (!checked.ok || checked.config.channels.discord === undefined) throw new Error("not a config");
  const config = checked.config.channels.discord;
  const log = () => {};
  const time = { now: NOW };
  const channel = createDiscordChannel({
    config,
    access: channelAccess({ ...config, groups: config.guilds, operators: [] }, { granted: () => undefined }),
    environment: { DISCORD_API_URL: apiUrl ?? discord.apiUrl },
    intake: () => undefined,
    clock: () => time.now,
    log: { debug: log, info: log, warn: log, error: log },
  });
  const receive = (payload: Record<string, unknown>) => channel.receive(payload);
  return { discord, channel, time, receive };
}

const target = {
  chat: "645027906669510667",
  ticket: { token: `${APPLICATION}/${TOKEN}`, expiresAt: EXPIRES_AT },
};

test("a command is read with who wrote it, and the right to answer it", async () => {
  const { receive } = await discordChannel();
  expect(receive(command(" what is up? "))).toEqual({
    kind: "message",
    direct: false,
    admission: { by: "group", sendElsewhere: [] },
    sender: { id: PERSON, name: "Mason", username: "mason" },
    text: "what is up?",
    attachments: [],
    target,
  });
});

test.each<[string, CommandFields, string]>([
  ["/status", { name: "status" }, "/status"],
  ["/new", { name: "new" }, "/new"],
  ["/model", { name: "model" }, "/model"],
  ["/model with a name", { name: "model", options: [{ type: 3, name: "name", value: "m-2" }] }, "/model m-2"],
])("%s is the chat command of its name", async (_, fields, text) => {
  const { receive } = await discordChannel();
  expect(receive(command("", fields))).toMatchObject({ kind: "message", text });
});

test("a file of /ask is an attachment", async () => {
  const { receive } = await discordChannel();
  // https://docs.discord.com/developers/resources/message#attachment-object
  const attachments = {
    "1095": {
      id: "1095",
      filename: "cat.png",
      size: 4_096,
      url: "https://cdn.discordapp.com/ephemeral-attachments/1/1095/cat.png?ex=1&is=2&hm=3",
      proxy_url: "https://media.discordapp.net/ephemeral-attachments/1/1095/cat.png",
      content_type: "image/png",
      width: 10,
      height: 10,
      ephemeral: true,
    },
  };
  const options = [
    { type: 3, name: "text", value: "look" },
    { type: 11, name: "file", value: "1095" },
  ];
  expect(receive(command("", { options, resolved: { attachments } }))).toMatchObject({
    text: "look",
    attachments: [
      {
        kind: "image",
        name: "cat.png",
        mediaType: "image/png",
        sizeBytes: 4_096,
        reference: "https://cdn.discordapp.com/ephemeral-attachments/1/1095/cat.png?ex=1&is=2&hm=3",
      },
    ],
  });
});

const OPEN = { dmPolicy: "open", allowFrom: ["*"] };
test.each([
  ["direct, pairing", directCommand("hi"), {}, "unpaired"],
  ["direct, on the list", directCommand("hi"), { allowFrom: [PERSON] }, "message"],
  ["direct, not on the list", directCommand("hi"), { dmPolicy: "allowlist" }, "refused"],
  ["direct, open", directCommand("hi"), OPEN, "message"],
  ["direct, disabled", directCommand("hi"), { dmPolicy: "disabled" }, "ignored"],
  ["a server", command("hi"), {}, "message"],
  ["a server that nobody has listed", command("hi"), { guilds: {} }, "ignored"],
  ["any server, where all are let in", command("hi"), { guilds: {}, groupPolicy: "open" }, "message"],
  ["a server, disabled", command("hi"), { groupPolicy: "disabled" }, "ignored"],
  ["a server on the list", command("hi"), { groupPolicy: "allowlist", guilds: { [GUILD]: {} } }, "message"],
  ["a server not on the list", command("hi"), { guilds: { "1": {} } }, "ignored"],
  ["a server, somebody else", command("hi"), { groupAllowFrom: ["1"] }, "ignored"],
  ["a bot", directCommand("hi", { user: { id: "7", bot: true } }), OPEN, "ignored"],
  ["nobody", directCommand("hi", { user: null }), OPEN, "ignored"],
  ["nothing said", directCommand(" "), OPEN, "ignored"],
])("%s", async (_, payload, keys, kind) => {
  const { receive } = await discordChannel(keys);
  // What is ignored is dismissed, so it names its target too.
  expect(receive(payload)).toMatchObject({ kind, target: { ticket: {} } });
});

test.each([
  ["a PING", { id: "1", type: 1 }],
  ["an id that is none", command("hi", { id: "1; drop" })],
  ["nothing", {}],
])("%s is left alone", async (_, payload) => {
  const { receive } = await discordChannel();
  expect(receive(payload)).toEqual({ kind: "ignored", note: "not a command of a known form" });
});

const MENTIONED = {
  content: `<@!${BOT_USER}> hi`,
  mentions: [{ id: BOT_USER, username: "steward", bot: true }],
};
const ANSWERED = {
  type: 19,
  content: "and now?",
  referenced_message: { content: "then", author: { id: BOT_USER, bot: true } },
};
const CONTENT_INTENT = { guilds: { [GUILD]: { requireMention: false } } };
test.each<[string, Parameters<typeof messageEvent>, object, object]>([
  [
    "a direct message of a stranger",
    [],
    {},
    { kind: "unpaired", sender: MASON.id, meta: { username: "mason" } },
  ],
  ["one of somebody on the list", [], { allowFrom: [MASON.id] }, { kind: "message", direct: true }],
  ["one of somebody who is not", [], { dmPolicy: "allowlist" }, { kind: "refused" }],
  ["one where they are disabled", [], { dmPolicy: "disabled" }, { kind: "ignored" }],
  [
    "a mention on a server",
    [MENTIONED, "server"],
    {},
    { kind: "message", text: "hi", admission: { by: "group" }, target: { chat: "645027906669510667" } },
  ],
  ["an answer to the bot", [ANSWERED, "server"], {}, { kind: "message", references: [{ author: "bot" }] }],
  ["a mention of nobody", [{ content: "hm" }, "server"], {}, { kind: "context", text: "hm" }],
  [
    "a mention of nobody where none is needed",
    [{ content: "hm" }, "server"],
    CONTENT_INTENT,
    { kind: "message" },
  ],
  [
    "a mention on a server that is not listed",
    [MENTIONED, "server"],
    { guilds: {} },
    { kind: "ignored", unlisted: GUILD },
  ],
  ["a mention by somebody else", [MENTIONED, "server"], { groupAllowFrom: ["1"] }, { kind: "ignored" }],
  [
    "a mention and no words",
    [{ ...MENTIONED, content: `<@${BOT_USER}>` }, "server"],
    {},
    { note: "no text" },
  ],
  ["a mention on a server whose id is odd", [{ ...MENTIONED, guild_id: 7 }], OPEN, { kind: "ignored" }],
  ["no words and no mention", [{ content: "" }, "server"], {}, { kind: "ignored", note: "no text" }],
])("message: %s", async (_, event, keys, expected) => {
  const { receive } = await discordChannel(keys);
  expect(receive(messageEvent(...event))).toMatchObject(expected);
});

test("a message on a server is answered as a reply to it, and what follows is not", async () => {
  const { discord, channel, receive } = await discordChannel({ ackReaction: "👀" });
  const inbound = receive(messageEvent(MENTIONED, "server"));
  if (inbound.kind !== "message") throw new Error("not a message");
  await channel.react?.(inbound.target, inbound.message ?? "");
  await channel.typing?.(inbound.target);
  const { id = "" } = await channel.send(inbound.target, "one", 0);
  await channel.send(inbound.target, "two", 1);
  await channel.edit?.(inbound.target, id, "first");
  const place = { place: "645027906669510667", original: false };
  expect(discord.messages).toMatchObject([
    { ...place, content: "first", answers: inbound.message },
    { ...place, content: "two" },
  ]);
  expect(discord.messages[1]).not.toHaveProperty("answers");
  expect(discord.calls.map(({ method, path }) => `${method} ${path}`).slice(0, 2)).toEqual([
    `PUT /channels/645027906669510667/messages/${inbound.message}/reactions/👀/@me`,
    "POST /channels/645027906669510667/typing",
  ]);
  for (const { body } of discord.calls.slice(2))
    expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
});

test("where the bot may not read the history, its answer refers to nothing", async () => {
  const { discord, channel } = await discordChannel();
  const refusal = { message: "Cannot reply without permission to read message history", code: 160002 };
  discord.next({ status: 403, body: refusal });
  await channel.send({ chat: target.chat, answers: "7" }, "one", 0);
  expect(discord.messages).toMatchObject([{ content: "one" }]);
  expect(discord.messages[0]).not.toHaveProperty("answers");
});

test("a message is edited by the ticket, and after its end by the bot", async () => {
  const { discord, channel, time } = await discordChannel();
  discord.defer(TOKEN);
  const { id = "" } = await channel.send(target, "Hel", 0);
  await channel.edit?.(target, id, "Hello");
  time.now = EXPIRES_AT;
  await channel.edit?.(target, id, "Hello you");

  expect(channel.streams).toBe(true);
  expect(discord.messages).toMatchObject([{ id, content: "Hello you", edits: 2, original: true }]);
  expect(discord.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `PATCH /webhooks/${APPLICATION}/${TOKEN}/messages/@original`,
    `PATCH /webhooks/${APPLICATION}/${TOKEN}/messages/${id}`,
    `PATCH /channels/645027906669510667/messages/${id}`,
  ]);
  // Nobody is notified, and no address that a model wrote is fetched without a click.
  for (const { body } of discord.calls)
    expect(body).toMatchObject({ allowed_mentions: { parse: [] }, flags: 4 });
});

test("an edit of a message that is gone is refused, one too many is asked to wait", async () => {
  const { discord, channel } = await discordChannel();
  discord.defer(TOKEN);
  await expect(channel.edit?.(target, "404", "x")).rejects.toMatchObject({ code: "edit_refused" });
  discord.next({ status: 429, body: { message: "limited", retry_after: 0.3, global: false } });
  await expect(channel.edit?.(target, "1", "x")).rejects.toMatchObject({ status: 429, retryAfterMs: 300 });
});

test("an answer to one person stays between the two in each of its messages", async () => {
  const { discord, channel, receive } = await discordChannel();
  const inbound = receive(command("", { name: "whoami" }));
  if (inbound.kind !== "message") throw new Error("not a message");
  discord.defer(TOKEN, 64);
  await channel.send(inbound.target, "one", 0);
  await channel.send(inbound.target, "two", 1);
  expect(discord.messages.map(({ flags = 0 }) => flags & 64)).toEqual([64, 64]);
});

test("a person who deletes the answer that is being made gets it as a message", async () => {
  const { discord, channel } = await discordChannel();
  discord.defer(TOKEN);
  discord.next({ status: 404, body: { message: "Unknown Message", code: 10008 } });
  await channel.send(target, "here", 0);
  expect(discord.messages).toMatchObject([{ place: "645027906669510667", content: "here" }]);
});

test("files come from Discord's own hosts alone", async () => {
  const server = await startServer();
  const { channel } = await discordChannel({}, `${server.url}/api/v10`);
  const load = (reference: string) =>
    channel.load?.({ kind: "image", reference }, AbortSignal.timeout(10_000));
  expect((await load(`${server.url}/cat.png`))?.byteLength).toBeGreaterThan(0);
  expect(server.calls[0]?.headers.authorization).toBeUndefined();
  for (const reference of [
    "https://evil.example/a",
    "http://cdn.discordapp.com/a",
    "https://cdn.discordapp.com.evil.example/a",
  ]) {
    await expect(load(reference)).rejects.toMatchObject({ code: "channel_failed" });
  }
});

test("the commands keep to Discord's limits", () => {
  // https://docs.discord.com/developers/interactions/application-commands#application-command-object
  for (const { name, description, options = [] } of DISCORD_COMMANDS) {
    for (const named of [{ name, description }, ...options]) {
      expect(named.name).toMatch(/^[a-z]{1,32}$/);
      expect(named.description.length).toBeGreaterThan(0);
      expect(named.description.length).toBeLessThanOrEqual(100);
    }
    const required = options.map((option) => option.required);
    expect(required).toEqual(required.toSorted((a, b) => Number(b) - Number(a)));
  }
  expect(new Set(DISCORD_COMMANDS.map(({ name }) => name)).size).toBe(DISCORD_COMMANDS.length);
  expect(snowflake(NOW)).toMatch(/^\d{19}$/);
});

const REPORT = { name: "report.pdf", mediaType: "application/pdf", data: new Uint8Array(10) };

test("a file goes out by the ticket, and after its end by the bot; it notifies nobody", async () => {
  const { discord, channel, time } = await discordChannel();
  discord.defer(TOKEN);
  await channel.files?.send(target, REPORT, "As asked @everyone");
  time.now = EXPIRES_AT;
  await channel.files?.send(target, REPORT);
  expect(discord.messages).toMatchObject([
    { place: TOKEN, content: "As asked @everyone", file: "report.pdf" },
    { place: target.chat, content: "", file: "report.pdf" },
  ]);
  for (const { body } of discord.calls) expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
});

test("a file for one person stays between the two, and is refused when its time is over", async () => {
  const { discord, channel, time } = await discordChannel();
  discord.defer(TOKEN, 64);
  const own = { ...target, ticket: { ...target.ticket, private: true } };
  await channel.files?.send(own, REPORT);
  time.now = EXPIRES_AT;
  await expect(channel.files?.send(own, REPORT)).rejects.toMatchObject({ code: "reply_refused" });
  expect(discord.messages).toMatchObject([{ place: TOKEN, flags: 68 }]);
});

test("a file that Discord finds too large is refused for good", async () => {
  const { discord, channel } = await discordChannel();
  const data = new Uint8Array((channel.files?.maxBytes ?? 0) + 1);
  await expect(channel.files?.send({ chat: target.chat }, { ...REPORT, data })).rejects.toMatchObject({
    code: "reply_refused",
    message: expect.stringContaining("the file is too large"),
  });
  expect(discord.messages).toEqual([]);
});

test("a refused token is reported until Discord accepts it, whatever replies without a token say", async () => {
  const { discord, channel } = await discordChannel();
  const [late, unauthorized] = [{ chat: target.chat }, { message: "401: Unauthorized", code: 0 }];
  const failing = { state: "failing", reason: { code: "discord_token_invalid" } };
  discord.defer(TOKEN);
  for (const mend of [() => channel.send(late, "now"), () => channel.probe()]) {
    discord.next({ status: 401, body: unauthorized });
    await expect(channel.send(late, "late")).rejects.toMatchObject({ code: "discord_token_invalid" });
    await channel.send(target, "by the ticket", 0);
    expect(channel.health()).toMatchObject(failing);
    discord.next({ status: 500 });
    await expect(channel.send(target, "more", 1)).rejects.toMatchObject({ code: "channel_failed" });
    await channel.send(target, "more", 1);
    expect(channel.health()).toMatchObject(failing);
    await mend();
    expect(channel.health()).toMatchObject({ state: "ready" });
  }
  discord.next({ status: 500 });
  await expect(channel.send(target, "last", 1)).rejects.toMatchObject({ code: "channel_failed" });
  await channel.send(target, "last", 1);
  expect(channel.health()).toMatchObject({ state: "ready" });
});
