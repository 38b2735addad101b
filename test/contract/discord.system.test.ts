import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { startDiscord } from "../../rehearsal/standins/discord.ts";
import { snowflake } from "../../rehearsal/standins/discord-message.ts";
import { APPLICATION, DISCORD_BOT_TOKEN } from "../runtime/support/discord.ts";
import { eventually } from "../runtime/support/processes.ts";
import { command, pressed } from "../support/discord.ts";
import { channelHost, LOOPBACK } from "../support/channel-host.ts";

/** Heartbeat interval for tests that wait for heartbeats. A host that stalls for longer reconnects. */
const SHORT_MS = 2_000;

/** A data directory with stand-ins around it, and the environment of a host in it. */
async function discordHost(heartbeatMs = 30_000) {
  const bot = { botToken: DISCORD_BOT_TOKEN, applicationId: APPLICATION };
  const discord = await startDiscord({ ...LOOPBACK, ...bot, heartbeatMs });
  onTestFinished(() => discord.close());
  const host = await channelHost({
    platform: "discord",
    environment: { DISCORD_BOT_TOKEN, DISCORD_API_URL: discord.apiUrl },
    section: {
      token: { env: "DISCORD_BOT_TOKEN" },
      dmPolicy: "open",
      allowFrom: ["*"],
      groupPolicy: "open",
      streamMode: "off",
    },
  });
  const { gateway } = discord;
  const sent = (words: string) => discord.messages.filter(({ content }) => content.includes(words));
  const answered = (words: string) => eventually(() => sent(words).length > 0);
  return { ...host, discord, gateway, sent, answered };
}

test("a host is connected: a direct message and a mention on a server are answered", async () => {
  const { discord, gateway, sent, answered, start, row } = await discordHost(SHORT_MS);
  const host = await start();
  await eventually(() => gateway.connected);
  const direct = gateway.say("what is up?");
  await answered("what is up?");
  expect(sent("what is up?")).toMatchObject([{ place: direct.channel_id, original: false }]);
  expect(sent("what is up?")[0]).not.toHaveProperty("answers");

  gateway.sayOnServer("nobody asked", { content: "nobody asked", mentions: [] });
  const mention = gateway.sayOnServer("and here?");
  await answered("and here?");
  expect(sent("and here?")).toMatchObject([{ place: mention.channel_id, answers: mention.id }]);
  expect(sent("and here?")[0]?.content).not.toContain(APPLICATION);
  expect(sent("nobody asked")).toEqual([]);

  const asked = new URLSearchParams({ text: "from the stand-in's page", place: "direct" });
  expect((await fetch(`${discord.url}/say`, { method: "POST", body: asked })).status).toBe(200);
  await answered("from the stand-in");
  await eventually(() => gateway.heartbeats.length > 1);
  await expect.poll(row).toMatchObject({ mode: "connection", error_code: null });
  expect(gateway.identified).toMatchObject([{ intents: 512 + 4_096 }]);
  expect(host.stdout()).not.toContain(DISCORD_BOT_TOKEN);
});

test("without an endpoint, commands and presses come over the connection too", async () => {
  const { discord, gateway, answered, start } = await discordHost();
  const host = await start();
  await host.ready();
  await eventually(() => gateway.connected);
  gateway.interact(command("by command", { id: snowflake(Date.now()), application_id: APPLICATION }));
  await answered("by command");
  expect(discord.messages).toMatchObject([{ original: true }]);
  expect(discord.pending()).toEqual([]);
  expect(discord.calls.find(({ path: asked }) => asked.endsWith("/callback"))).toMatchObject({
    body: { type: 5 },
    authorization: undefined,
  });

  const button = {
    ...pressed("made-up"),
    application_id: APPLICATION,
    id: snowflake(Date.now(), 1),
    token: "a-press",
  };
  gateway.interact(button);
  await answered("This button no longer works");
  expect(discord.messages.at(-1)).toMatchObject({ place: "a-press", flags: 68 });
});

test("messages that come while the connection is cut, or the host restarts, are answered", async () => {
  const { gateway, sent, answered, start, row } = await discordHost();
  const first = await start();
  await eventually(() => gateway.connected);
  gateway.drop();
  gateway.say("while it was cut");
  await answered("while it was cut");
  expect(gateway.resumed).toHaveLength(1);

  gateway.askToReconnect();
  await eventually(() => gateway.resumed.length === 2 && gateway.connected);
  first.kill("SIGTERM");
  expect(await first.exited).toBe(0);
  expect(row()).toMatchObject({ holder: null });
  gateway.say("while it was away");
  await start();
  await answered("while it was away");
  expect([sent("while it was cut").length, sent("while it was away").length]).toEqual([1, 1]);
  expect(gateway.identified).toHaveLength(1);
});

test("a message that was received and not yet recorded when the host was killed is not lost", async () => {
  const { home, gateway, sent, answered, start, row } = await discordHost();
  const first = await start();
  await first.ready();
  await eventually(() => row()?.["sequence"] === 1);

  // Another writer holds the database, so the message is in the host's hands and nowhere else.
  const lock = new DatabaseSync(path.join(home, "state.db"), { timeout: 10_000 });
  lock.exec("BEGIN IMMEDIATE");
  gateway.say("do not lose me");
  await new Promise((resolve) => setTimeout(resolve, 300));
  first.kill("SIGKILL");
  await first.exited;
  lock.exec("ROLLBACK");
  expect(lock.prepare("SELECT count(*) AS n FROM ledger").get()).toEqual({ n: 0 });
  lock.close();
  expect(row()).toMatchObject({ sequence: 1 });

  await start();
  await answered("do not lose me");
  expect(gateway.resumed).toMatchObject([{ seq: 1 }]);
  expect(sent("do not lose me")).toHaveLength(1);
});

test("a message that cannot be recorded comes again until it can be", async () => {
  const { home, gateway, sent, answered, start, row } = await discordHost();
  const host = await start();
  await host.ready();
  await eventually(() => gateway.connected);
  const database = new DatabaseSync(path.join(home, "state.db"), { timeout: 10_000 });
  database.exec(`CREATE TRIGGER full BEFORE INSERT ON ledger WHEN NEW.delivery LIKE '%second%'
    BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`);
  gateway.say("first");
  gateway.say("second");
  gateway.say("third");
  await eventually(() => String(row()?.["error_detail"]).includes("disk is full"));
  expect(row()).toMatchObject({ error_code: "internal", sequence: 2 });
  database.exec("DROP TRIGGER full");
  database.close();
  await answered("third");
  // Messages that came together may be answered together, but each of them once.
  const words = sent("").flatMap(({ content }) => content.match(/first|second|third/g) ?? []);
  expect(words).toEqual(["first", "second", "third"]);
  await expect.poll(row).toMatchObject({ error_code: null });
});

test("a session that Discord has ended is followed by another one", async () => {
  const { gateway, answered, start, row } = await discordHost();
  await start();
  await eventually(() => gateway.connected);
  gateway.endSessions();
  await eventually(() => gateway.identified.length === 2 && gateway.connected);
  gateway.say("still there?");
  await answered("still there?");
  await expect.poll(row).toMatchObject({ error_code: null });
});

test("a connection on which Discord is silent is opened again", async () => {
  const { gateway, answered, start } = await discordHost(SHORT_MS);
  await start();
  await eventually(() => gateway.connected);
  gateway.acknowledges = false;
  await eventually(() => gateway.resumed.length > 0);
  gateway.acknowledges = true;
  gateway.say("awake?");
  await answered("awake?");
  expect(gateway.identified).toHaveLength(1);
});

test("a wrong token is told, and Discord is not asked again and again", async () => {
  const { discord, gateway, start, row } = await discordHost();
  const host = await start({ DISCORD_BOT_TOKEN: "a-wrong-token-0123456789" });
  await eventually(() => row()?.["error_code"] === "discord_token_invalid");
  await host.ready();
  await eventually(() => discord.calls.some(({ path: asked }) => asked === "/users/@me"));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(discord.calls.filter(({ path: asked }) => asked === "/gateway/bot")).toHaveLength(1);
  expect(gateway.identified).toEqual([]);
  expect(host.stdout()).toContain("Discord refuses the bot token");
  expect(host.stdout()).not.toContain("a-wrong-token");
});

test("the last sessions of the day are left alone", async () => {
  const { gateway, start, row } = await discordHost();
  gateway.remaining = 10;
  await start();
  await eventually(() => row()?.["error_code"] === "discord_session_limit");
  expect(row()).toMatchObject({ error_detail: "No new session is allowed for 240 minutes." });
  expect(gateway.identified).toEqual([]);
});

test("a server without mentions needs the Message Content intent, and the operator learns of it", async () => {
  const { gateway, answered, configure, start, row } = await discordHost();
  await configure({ guilds: { "290926798626357999": { requireMention: false } } });
  const host = await start();
  await eventually(() => row()?.["error_code"] === "discord_intent_refused");
  expect(gateway.identified).toMatchObject([{ intents: 512 + 4_096 + 32_768 }]);
  await host.ready();
  const page = await fetch(`${host.url}/_admin/channels`, {
    headers: { authorization: "Bearer admin-token-0123456789" },
  });
  expect(page.status).toBe(200);
  expect(await page.text()).toContain("Message Content Intent");

  host.kill("SIGTERM");
  await host.exited;
  gateway.allowsContent = true;
  await start();
  await eventually(() => gateway.connected);
  gateway.sayOnServer("nobody is mentioned", { content: "nobody is mentioned", mentions: [] });
  await answered("nobody is mentioned");
});

test("it is connected while the config file says so", async () => {
  const { gateway, configure, start } = await discordHost();
  await configure({ enabled: false });
  const host = await start();
  await host.ready();
  await eventually(() => host.stdout().includes("Discord is not configured"));
  expect(gateway.identified).toEqual([]);
  await configure({});
  await eventually(() => gateway.connected);
  await configure({ enabled: false });
  await eventually(() => !gateway.connected);
});
