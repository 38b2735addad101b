import { once } from "node:events";
import type { Page } from "playwright-core";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { startDiscord } from "../../rehearsal/standins/discord.ts";
import { listen, type Listening } from "../../rehearsal/standins/serve.ts";
import { startSlack } from "../../rehearsal/standins/slack.ts";
import { startTelegram } from "../../rehearsal/standins/telegram.ts";
import { barriers } from "../support/accessibility.ts";
import { browserIsMissing, openBrowser } from "../support/browser.ts";

const HERE = { hostname: "127.0.0.1", port: 0 };
const BOT_TOKEN = "xoxb-test-0123456789";
const TELEGRAM_TOKEN = "1234567890:telegram-token-of-the-tests";
const HOSTILE = `<img src=x onerror="document.title='run'"> & <name>`;

function ended<Server extends Listening>(server: Server): Server {
  onTestFinished(() => server.close());
  return server;
}

/** Where a stand-in sends what people do: it keeps the bodies. */
async function service() {
  const bodies: string[] = [];
  const app = new Hono().post("*", async (context) => {
    bodies.push(await context.req.text());
    // As a sleeping container's edge answers the first event.
    return context.text("", bodies.length === 1 ? 503 : 200);
  });
  return { bodies, url: ended(await listen(app, HERE)).url };
}

async function write(page: Page, text: string, place?: string, files: string[] = []): Promise<void> {
  await page.getByLabel("Message").fill(text);
  if (place !== undefined) await page.getByLabel("Place").selectOption(place);
  const given = files.map((name) => ({ name, mimeType: typeOf(name), buffer: Buffer.from(name) }));
  await page.getByLabel("Files").setInputFiles(given);
  await page.getByRole("button", { name: "Send" }).click();
}

const typeOf = (name: string): string => (name.endsWith(".png") ? "image/png" : "text/plain");

test.skipIf(browserIsMissing)(
  "Slack's page shows both sides as they grow, threads, files and presses",
  async () => {
    const links = { Slack: "http://slack.invalid", Telegram: "http://telegram.invalid" };
    const slack = ended(
      await startSlack({ ...HERE, botToken: BOT_TOKEN, signingSecret: "0123456789abcdef", links }),
    );
    const call = async (method: string, body: object) => {
      const headers = { authorization: `Bearer ${BOT_TOKEN}`, "content-type": "application/json" };
      const answer = await fetch(`${slack.apiUrl}${method}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return (await answer.json()) as { ok: boolean; ts: string; file: { url_private: string } };
    };
    const page = await openBrowser();
    await page.goto(`${slack.url}/`);
    await write(page, "anybody?");
    await page.getByText("The service is not deployed yet").waitFor();
    const { bodies, url } = await service();
    slack.connect(url);

    await write(page, HOSTILE);
    await page.getByText(`@steward ${HOSTILE}`).waitFor();
    await page.getByText("answered with 503: the container was asleep").waitFor();
    const { event } = JSON.parse(bodies[0] ?? "") as { event: { ts: string; channel: string } };
    const { channel } = event;
    const { ts } = await call("chat.postMessage", { channel, text: "I wri", thread_ts: event.ts });
    await page.locator(".thread").getByText("I wri", { exact: true }).waitFor();
    await call("chat.update", { channel, ts, text: "I write to &lt;name&gt; of <@U0STEWARD>" });
    await page.locator(".thread").getByText("I write to <name> of @steward").waitFor();
    await page.getByText("edited once").waitFor();
    await call("reactions.add", { channel, timestamp: event.ts, name: "eyes" });
    await page.getByText(":eyes:").waitFor();
    expect(await page.title()).toBe("Slack stand-in");
    expect(await barriers(page)).toEqual([]);

    const text = { type: "plain_text", text: "Let in" };
    const elements = [{ type: "button", action_id: "press-0", text, value: "press-me" }];
    const asked = await call("chat.postMessage", {
      channel: "D0REHEARSAL",
      text: "Let Bo in?",
      blocks: [{ type: "actions", elements }],
    });
    await page.getByRole("button", { name: "Let in" }).click();
    await expect.poll(() => bodies.length).toBe(2);
    expect(JSON.parse(new URLSearchParams(bodies[1]).get("payload") ?? "")).toMatchObject({
      type: "block_actions",
      channel: { id: "D0REHEARSAL" },
      message: { ts: asked.ts, text: "Let Bo in?" },
      actions: [{ value: "press-me" }],
    });
    await call("chat.update", { channel: "D0REHEARSAL", ts: asked.ts, text: "Done.", blocks: "[]" });
    await page.getByRole("button", { name: "Let in" }).waitFor({ state: "detached" });

    await page.getByRole("link", { name: "Reply in thread" }).first().click();
    await write(page, "look at this", "mention", ["notes.txt"]);
    await page.locator(".thread").getByText("File: notes.txt").waitFor();
    await expect.poll(() => bodies.length).toBe(3);
    const said = JSON.parse(bodies[2] ?? "") as { event: { thread_ts: string; files: { id: string }[] } };
    expect(said.event).toMatchObject({
      thread_ts: event.ts,
      files: [{ name: "notes.txt", mimetype: "text/plain" }],
    });

    // A thread is in one place: a reply to a direct message is one, too.
    await page.goto(`${slack.url}/?thread=${asked.ts}`);
    expect(await page.getByLabel("Place").locator("option").allTextContents()).toEqual([
      "in a direct message",
    ]);
    await write(page, "the answer of a thread");
    await page.locator(".thread").getByText("the answer of a thread").waitFor();
    await expect.poll(() => bodies.length).toBe(4);
    expect(JSON.parse(bodies[3] ?? "")).toMatchObject({
      event: { channel: "D0REHEARSAL", thread_ts: asked.ts },
    });
    const strayed = new URLSearchParams({
      text: "of another place's thread",
      place: "mention",
      thread: asked.ts,
    });
    await fetch(`${slack.url}/say`, { method: "POST", body: strayed });
    await page.getByText("of another place's thread").waitFor();

    const { file } = await call("files.info", { file: said.event.files[0]?.id });
    const headers = { authorization: `Bearer ${BOT_TOKEN}` };
    expect(await (await fetch(file.url_private, { headers })).text()).toBe("notes.txt");
    expect((await fetch(file.url_private)).status).toBe(404);
  },
);

test.skipIf(browserIsMissing)(
  "Telegram's page shows private chats, groups, topics, albums and presses",
  async () => {
    const telegram = ended(await startTelegram({ ...HERE, botToken: TELEGRAM_TOKEN }));
    const call = async (method: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${telegram.url}/bot${TELEGRAM_TOKEN}/${method}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as { result: { message_id: number } }).result;
    };
    const updates = async () =>
      (await call("getUpdates", { offset: 0 })) as unknown as Record<string, object>[];
    const page = await openBrowser();
    await page.goto(`${telegram.url}/`);
    await write(page, HOSTILE, "private");
    await page.getByText(HOSTILE).waitFor();
    await write(page, "what now", "topic");
    const topic = page.locator("section", {
      has: page.getByRole("heading", { name: "Rehearsal › Deploys" }),
    });
    await topic.getByText("@steward_rehearsal_bot what now").waitFor();
    const [, second] = await updates();
    expect(second?.["message"]).toMatchObject({
      message_thread_id: 7,
      entities: [{ type: "mention", offset: 0 }],
    });

    const chat_id = -1001234567890;
    const place = { chat_id, message_thread_id: 7 };
    const { message_id } = await call("sendMessage", { ...place, text: "Gro" });
    await topic.getByText("Gro", { exact: true }).waitFor();
    await call("editMessageText", {
      chat_id,
      message_id,
      parse_mode: "HTML",
      text: "<b>Growing</b> &lt;name&gt;",
    });
    await topic.getByText("Growing <name>").waitFor();

    await write(page, "our holiday", "private", ["beach.png", "plan.txt"]);
    await page.getByText("File: plan.txt").waitFor();
    await expect.poll(async () => (await updates()).length).toBe(4);
    const [photo, document] = (await updates()).slice(2).map(({ message }) => Object(message));
    expect(photo).toMatchObject({ caption: "our holiday", photo: [{ file_id: expect.any(String) }] });
    expect(document).toMatchObject({
      document: { file_name: "plan.txt" },
      media_group_id: photo.media_group_id,
    });
    await call("setMessageReaction", {
      chat_id: 123456789,
      message_id: photo.message_id,
      reaction: [{ type: "emoji", emoji: "👀" }],
    });
    await page.getByText("👀").waitFor();

    await call("sendMessage", {
      chat_id: 123456789,
      text: "Which?",
      reply_markup: { inline_keyboard: [[{ text: "red", callback_data: "r" }]] },
    });
    await page.getByRole("button", { name: "red" }).click();
    await expect.poll(async () => (await updates()).at(-1)).toMatchObject({ callback_query: { data: "r" } });
    expect(await page.title()).toBe("Telegram stand-in");
    expect(await barriers(page)).toEqual([]);
  },
);

test.skipIf(browserIsMissing)(
  "Discord's page sends commands, and messages once a bot is connected",
  async () => {
    const applicationId = "1000000000000000001";
    const discord = ended(await startDiscord({ ...HERE, botToken: "bot.token", applicationId }));
    const bodies: Record<string, unknown>[] = [];
    const app = new Hono().post("*", async (context) => {
      const body = await context.req.json<Record<string, unknown>>();
      bodies.push(body);
      return context.json({ type: body["type"] === 3 ? 6 : 5 });
    });
    const endpoint = ended(await listen(app, HERE)).url;
    const page = await openBrowser();
    await page.goto(`${discord.url}/`);
    await write(page, "hello");
    await page.getByText("No such command. Registered: none yet.").waitFor();
    discord.registry.change({ commands: [{ name: "ask" }, { name: "status" }], endpoint });

    await write(page, HOSTILE);
    await page.getByText(`/ask ${HOSTILE}`).waitFor();
    await expect.poll(() => bodies.length).toBe(1);
    expect(bodies[0]).toMatchObject({ type: 2, user: { username: "mason" }, data: { name: "ask" } });
    const answer = (content: string, components: object[] = []) =>
      fetch(
        `${discord.apiUrl}/webhooks/${applicationId}/${String(bodies[0]?.["token"])}/messages/@original`,
        {
          method: "PATCH",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ content, components }),
        },
      );
    await answer("Gro");
    await page.getByText("Gro", { exact: true }).waitFor();
    await answer(String.raw`Growing\_up`, [
      { type: 1, components: [{ type: 2, label: "Stop", custom_id: "s" }] },
    ]);
    await page.getByText("Growing_up").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect.poll(() => bodies[1]).toMatchObject({ type: 3, data: { custom_id: "s" } });

    await write(page, "/status", "ask-server");
    await page.getByRole("heading", { name: "#general on the server" }).waitFor();
    await expect.poll(() => bodies.length).toBe(3);
    expect(bodies[2]).toMatchObject({
      guild_id: "290926798626357999",
      data: { name: "status", options: [] },
    });
    expect(await barriers(page)).toEqual([]);

    await write(page, "with a file", "ask", ["notes.txt"]);
    await page.getByText("File: notes.txt").waitFor();
    await page.getByText("/ask with a file", { exact: true }).waitFor();
    const headers = { authorization: "Bot bot.token" };
    const named = async (path: string): Promise<unknown> =>
      (await fetch(`${discord.apiUrl}${path}`, { headers })).json();
    expect(await named("/channels/645027906669510667")).toMatchObject({ name: "general" });
    expect(await named("/guilds/290926798626357999")).toMatchObject({ name: "Rehearsal" });
    expect(await named("/channels/1")).toMatchObject({ code: 10_003 });
    expect(await named("/guilds/1")).toMatchObject({ code: 10_004 });

    const socket = new WebSocket(discord.url.replace("http", "ws"));
    await once(socket, "open");
    socket.send(JSON.stringify({ op: 2, d: { token: "bot.token", intents: 512 + 4_096 } }));
    await expect.poll(() => discord.gateway.connected).toBe(true);
    await page.reload();
    await write(page, "without a command", "direct", ["a.txt"]);
    await page.getByText("File: a.txt").waitFor();
    socket.close();
  },
);
