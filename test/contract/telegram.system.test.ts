import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { mention } from "../../rehearsal/standins/telegram.ts";
import { json, startScripted } from "../runtime/support/platforms.ts";
import { eventually } from "../runtime/support/processes.ts";
import { freePort } from "../support/ports.ts";
import { TELEGRAM_TOKEN, telegramHost } from "../support/telegram.ts";

const LONG_MS = 20_000;

test("a host polls: a direct message and a mention in a group are answered", async () => {
  const { telegram, start } = await telegramHost();
  const host = await start();
  telegram.say("what is up?");
  const direct = await telegram.waitFor(({ chat }) => chat === "123456789", LONG_MS);
  expect(direct.text).toContain("what is up?");

  telegram.say(...mention("and here?"));
  const group = await telegram.waitFor(({ chat }) => chat === "-1001234567890", LONG_MS);
  expect(group.text).toContain("and here?");
  expect(group.text).not.toContain(telegram.username);
  expect(host.stdout()).not.toContain("1234567890:AA");
});

test("an edit of what was answered is answered, and one that people do not see leaves no row", async () => {
  const { home, telegram, start } = await telegramHost();
  await start();
  const said = telegram.say("two plus two");
  await telegram.waitFor(({ text }) => text.includes("two plus two"), LONG_MS);
  // As a reaction makes one.
  telegram.edit(said, "two plus two");
  telegram.edit(said, "two plus three");
  await telegram.waitFor(({ text }) => text.includes("two plus three"), LONG_MS);
  telegram.edit(telegram.say("hi"), "hi there");
  await telegram.waitFor(({ text }) => /\bhi\b/.test(text), LONG_MS);

  const database = new DatabaseSync(path.join(home, "state.db"), { timeout: 10_000 });
  const open = database.prepare("SELECT 1 FROM ledger WHERE settled_at IS NULL");
  await eventually(() => open.get() === undefined);
  const rows = database.prepare("SELECT state, note FROM ledger ORDER BY seq").all();
  database.close();
  expect(rows.map(({ state }) => state).slice(0, 3)).toEqual(["answered", "answered", "answered"]);
  expect(rows).toHaveLength(4);
  expect(rows[3]).toMatchObject({ state: expect.stringMatching(/answered|ignored/) });
});

test("a restart goes on behind what is in the ledger", async () => {
  const { telegram, start, row } = await telegramHost();
  const first = await start();
  const update = telegram.say("one");
  await telegram.waitFor(({ text }) => text.includes("one"), LONG_MS);
  await eventually(() => row()?.["next_offset"] === update.update_id + 1);
  first.kill("SIGTERM");
  expect(await first.exited).toBe(0);
  expect(row()).toMatchObject({ holder: null });

  const offsets = () =>
    telegram.calls
      .filter(({ method }) => method === "getUpdates")
      .map(({ parameters }) => parameters["offset"]);
  const before = offsets().length;
  await start();
  await eventually(() => offsets().length > before);
  expect(offsets()[before]).toBe(update.update_id + 1);
  telegram.say("two");
  await telegram.waitFor(({ text }) => text.includes("two"), LONG_MS);
  expect(telegram.messages()).toHaveLength(2);
});

test("an update that was fetched and not yet recorded when the host was killed is not lost", async () => {
  const { home, telegram, start, row } = await telegramHost();
  const first = await start();
  await first.ready();
  await eventually(() => telegram.updates.polled);

  // Another writer holds the database, so the update is in the host's hands and nowhere else.
  const lock = new DatabaseSync(path.join(home, "state.db"), { timeout: 10_000 });
  lock.exec("BEGIN IMMEDIATE");
  const update = telegram.say("do not lose me");
  await eventually(() => !telegram.updates.polled);
  first.kill("SIGKILL");
  await first.exited;
  lock.exec("ROLLBACK");
  const [{ n }] = lock.prepare("SELECT count(*) AS n FROM ledger").all() as [{ n: number }];
  lock.close();
  expect(n).toBe(0);
  // No offset was kept; a host that was killed soon enough had not even made its row.
  expect(row()?.["next_offset"] ?? null).toBeNull();
  expect(telegram.updates.offset).toBe(0);

  await start();
  await telegram.waitFor(({ text }) => text.includes("do not lose me"), LONG_MS);
  await eventually(() => telegram.updates.offset === update.update_id + 1);
  expect(telegram.messages()).toHaveLength(1);
});

test("the offset does not move while an update cannot be recorded", async () => {
  const { home, telegram, start, row } = await telegramHost();
  const host = await start();
  await eventually(() => telegram.updates.polled);
  const database = new DatabaseSync(path.join(home, "state.db"), { timeout: 10_000 });
  database.exec(`CREATE TRIGGER full BEFORE INSERT ON ledger WHEN NEW.delivery LIKE '%three%'
    BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`);
  const one = telegram.say("one");
  telegram.say("two");
  telegram.say("three");
  await eventually(() => String(row()?.["error_detail"]).includes("disk is full"));
  await eventually(() => telegram.calls.filter(({ method }) => method === "getUpdates").length >= 3);
  expect(telegram.updates.offset).toBeLessThanOrEqual(one.update_id + 2);
  expect(telegram.updates.pending).not.toEqual([]);
  // A kill between a reply and its record would repeat the reply.
  const answered = database.prepare("SELECT count(*) AS n FROM ledger WHERE state = 'answered'");
  await eventually(() => answered.get()?.["n"] === 2);
  host.kill("SIGKILL");
  await host.exited;
  database.exec("DROP TRIGGER full");
  database.close();

  await start();
  await telegram.waitFor(({ text }) => text.includes("three"), LONG_MS);
  // Messages that came together may be answered together, but each of them once.
  const words = telegram.messages().flatMap(({ text }) => text.match(/one|two|three/g) ?? []);
  expect(words).toEqual(["one", "two", "three"]);
});

test("of two hosts on one directory one polls, and the other takes over when it dies", async () => {
  const { telegram, start, row } = await telegramHost();
  const first = await start();
  await eventually(() => telegram.updates.polled);
  const holder = row()?.["holder"];
  const second = await start();
  await eventually(() => second.stdout().includes("another process of this data directory polls"));
  expect(row()).toMatchObject({ holder });
  expect(telegram.updates.conflicts).toBe(0);
  const asked = telegram.calls.filter(({ method }) => method === "getUpdates").length;
  expect(asked).toBe(1);

  first.kill("SIGKILL");
  await first.exited;
  await eventually(() => row()?.["holder"] !== holder && telegram.updates.polled);
  await second.ready();
  telegram.say("still there?");
  await telegram.waitFor(({ text }) => text.includes("still there?"), LONG_MS);
});

test("another poller elsewhere is told as what it is, and left when it goes", async () => {
  const { telegram, start, row } = await telegramHost();
  const host = await start();
  await eventually(() => telegram.updates.polled);
  const answer = await fetch(`${telegram.url}/bot${TELEGRAM_TOKEN}/getUpdates`, { method: "POST" });
  expect(answer.status).toBe(200);
  await eventually(() => row()?.["error_code"] === "telegram_conflict");
  expect(row()?.["error_detail"]).toContain("terminated by other getUpdates request");
  await eventually(() => host.stdout().includes("telegram_conflict"));
  await eventually(() => telegram.updates.polled && row()?.["error_code"] === "telegram_conflict");
  telegram.say("back");
  await telegram.waitFor(({ text }) => text.includes("back"), LONG_MS);
  expect(row()).toMatchObject({ error_code: null, error_detail: null });
});

test("a webhook of before is deleted once, with nothing dropped; one that is set later is told", async () => {
  const { telegram, start, row } = await telegramHost();
  telegram.updates.setWebhook({ url: "http://127.0.0.1:9/", secret: "" }, false);
  telegram.say("from before");
  await start();
  await telegram.waitFor(({ text }) => text.includes("from before"), LONG_MS);
  expect(telegram.updates.webhook).toBeUndefined();

  await eventually(() => telegram.updates.polled);
  telegram.updates.setWebhook({ url: "http://127.0.0.1:9/", secret: "" }, false);
  await eventually(() => String(row()?.["error_detail"]).includes("webhook is active"));
  expect(row()).toMatchObject({ error_code: "telegram_conflict" });
  expect(telegram.updates.webhook).toMatchObject({ url: "http://127.0.0.1:9/" });
});

test("a wrong token is told, and not asked about again and again", async () => {
  const { telegram, start, row } = await telegramHost();
  telegram.fail("deleteWebhook", { status: 401, description: "Unauthorized" });
  const host = await start();
  await eventually(() => row()?.["error_code"] === "telegram_token_invalid");
  await host.ready();
  await eventually(() => telegram.calls.some(({ method }) => method === "getMe"));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  // Whoever polls asks once, and so does the channel when it looks whether its token is taken.
  expect(telegram.calls.map(({ method }) => method).sort()).toEqual(["deleteWebhook", "getMe"]);
  expect(host.stdout()).not.toContain(TELEGRAM_TOKEN);
});

test("rate limits, server errors and answers that are cut are waited out", async () => {
  const { telegram, start, row } = await telegramHost();
  telegram.fail(
    "getUpdates",
    { status: 429, description: "Too Many Requests: retry after 4", parameters: { retry_after: 4 } },
    { status: 502, description: "Bad Gateway" },
  );
  await start();
  await eventually(() => String(row()?.["error_detail"]).includes("retry after 4"));
  telegram.say("after all");
  await telegram.waitFor(({ text }) => text.includes("after all"), LONG_MS);
  expect(row()).toMatchObject({ error_code: null });
});

test("an answer that holds nothing readable is told and not asked for without a pause", async () => {
  const { start, row } = await telegramHost();
  let asked = 0;
  const api = await startScripted((response, { path }) => {
    const isPoll = path.endsWith("/getUpdates");
    if (isPoll) asked += 1;
    return json(200, { ok: true, result: isPoll ? [{ message: {} }] : true })(response, {
      path,
      headers: {},
      body: "",
    });
  });
  await start({ TELEGRAM_API_ROOT: api.url });
  await eventually(() => asked > 0);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(asked).toBeLessThan(5);
  expect(row()).toMatchObject({ error_code: "telegram_unreachable" });
});

test("it polls while the config file says so", async () => {
  const { telegram, start, configure } = await telegramHost();
  await configure({ enabled: false });
  const host = await start();
  await host.ready();
  await eventually(() => host.stdout().includes("Telegram is not configured"));
  expect(telegram.calls).toEqual([]);

  await configure({});
  await eventually(() => telegram.updates.polled);
  await configure({ enabled: false });
  await eventually(() => !telegram.updates.polled);
});

test("with a webhook in the config Telegram delivers there, and nothing polls", async () => {
  const { telegram, start, configure, row } = await telegramHost();
  const port = await freePort();
  const secret = "hook-secret-0123456789";
  const webhookUrl = `http://127.0.0.1:${port}/telegram-webhook`;
  await configure({ webhookUrl, webhookSecret: { env: "TELEGRAM_WEBHOOK_SECRET" } });
  const host = await start({ PORT: String(port), TELEGRAM_WEBHOOK_SECRET: secret });
  await eventually(() => telegram.updates.webhook?.url === webhookUrl);
  expect(telegram.calls.find(({ method }) => method === "setWebhook")?.parameters).toEqual({
    url: webhookUrl,
    secret_token: secret,
    allowed_updates: ["message", "edited_message", "callback_query"],
  });
  telegram.say("by webhook");
  await telegram.waitFor(({ text }) => text.includes("by webhook"), LONG_MS);
  await eventually(() => telegram.updates.pending.length === 0);
  expect(telegram.calls.some(({ method }) => method === "getUpdates")).toBe(false);
  expect(host.stdout()).not.toContain(secret);

  await configure({ webhookUrl, webhookSecret: "another-secret" });
  await eventually(() => row()?.["error_code"] === "telegram_webhook_failed");
  expect(row()?.["error_detail"]).toContain("differs from TELEGRAM_WEBHOOK_SECRET");
});

const HTTPS_ONLY = { status: 400, description: "Bad Request: bad webhook: HTTPS url must be provided" };
test.each([
  ["does not come through", [], "cannot deliver: Connection refused"],
  ["is refused", [HTTPS_ONLY], "HTTPS url must be provided"],
])("a webhook that %s is told", async (_, faults, detail) => {
  const { telegram, start, configure, row } = await telegramHost();
  const secret = "hook-secret-0123456789";
  telegram.fail("setWebhook", ...faults);
  const webhookUrl = "http://127.0.0.1:9/telegram-webhook";
  await configure({ webhookUrl, webhookSecret: { env: "TELEGRAM_WEBHOOK_SECRET" } });
  telegram.updates.setWebhook({ url: webhookUrl, secret }, false);
  telegram.say("anybody there?");
  await eventually(() => telegram.updates.lastError !== undefined);
  await start({ TELEGRAM_WEBHOOK_SECRET: secret });
  await eventually(() => row()?.["error_code"] === "telegram_webhook_failed");
  expect(row()?.["error_detail"]).toContain(detail);
});

test("a webhook that somebody sets by hand is not polled away", async () => {
  const { telegram, start } = await telegramHost();
  const host = await start({ TELEGRAM_WEBHOOK_SECRET: "hook-secret-0123456789" });
  await eventually(() => host.stdout().includes("TELEGRAM_WEBHOOK_SECRET is set"));
  await host.ready();
  expect(telegram.calls.filter(({ method }) => method !== "getMe")).toEqual([]);
});
