import { expect } from "vitest";
import { mention } from "../../../rehearsal/standins/slack.ts";
import { mention as groupMention } from "../../../rehearsal/standins/telegram.ts";
import { CHALLENGE, update } from "../../contract/suite/requests.ts";
import { fieldOf, unescaped } from "../../support/form.ts";
import { modelError, startModel } from "../../runtime/support/platforms.ts";
import type { SharedWorld, StartWorld } from "./shared-world.ts";
import type { Row } from "./rows.ts";

const SOON = { timeout: 60_000, interval: 100 };
const JSON_TYPE = { "content-type": "application/json" };
const DEPRECATED =
  '{"channels":{"telegram":{"botToken":{"env":"TELEGRAM_BOT_TOKEN"},"dm":{"policy":"open"}}}}';
const WEBHOOKS = ["/slack/events", "/telegram-webhook"] as const;

/** Walks one row as an operator does: the symptom, what the product says of it, the fix followed, the symptom gone. */
type Journey = (start: StartWorld) => Promise<void>;

function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method: "POST", headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
}

/** The status and the fields of an answer. */
async function told(response: Response): Promise<Record<string, unknown>> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  return { ...body, status: response.status };
}

/** Polls a response. While the supervisor is busy, the status of any request may be 503. */
function toldBy(asked: (route: string) => Promise<Response>) {
  return expect.poll(async () => told(await asked("/")), SOON);
}

/** A deployment whose gateway this config keeps from starting. */
async function stoppedBy(start: StartWorld, config: string): Promise<SharedWorld> {
  const world = await start();
  await world.ready();
  await world.putConfig(config);
  // A host's gateway notices the file, and a restart from the page is then refused.
  await (world.kind === "host" ? world.deploy({}) : world.press("/_admin/restart"));
  await world.inState("crash-looping");
  return world;
}

/** Has somebody unknown write to the bot on Slack. The page then shows the code, as its own advice gives it. */
async function knock({ ask, platforms, page }: SharedWorld): Promise<string> {
  const event = {
    type: "message",
    channel_type: "im",
    channel: "D0ANN",
    user: "UANN",
    text: "hi",
    ts: "1795000000.1",
  };
  const message = { type: "event_callback", event_id: "EvKnock", team_id: "T1", event };
  await ask("/slack/events", { method: "POST", ...platforms.slack.sign(message) });
  return pairingCode(page, "slack");
}

async function pairingCode(page: SharedWorld["page"], platform: string): Promise<string> {
  const line = new RegExp(`pairing approve ${platform} ([A-Z]{8})`);
  await expect.poll(() => page("/_admin/"), SOON).toMatch(line);
  return line.exec(await page("/_admin/"))?.[1] ?? "";
}

/** What is wrong shows on the channels' page, by its code. */
async function shownOnChannels({ page }: SharedWorld, code: string): Promise<string> {
  await expect.poll(() => page("/_admin/channels"), SOON).toContain(code);
  return page("/_admin/channels");
}

const home: Journey = async (start) => {
  const { ask, ready } = await start();
  await ready();
  await toldBy(ask).toMatchObject({ status: 200, name: "steward", state: "ready" });
};

const badGateway: Journey = async (start) => {
  const { ask, ready, operate, deploy } = await start({ TELEGRAM_DM_POLICY: "open" });
  const down = await ask("/");
  expect(down.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(await told(down)).toMatchObject({ status: 502, fix: expect.any(String) });
  // Where the advice sends the operator.
  const logs = async () => (await operate("/debug/processes?logs=true")).text();
  await expect.poll(logs, SOON).toContain("TELEGRAM_DM_POLICY");
  await deploy({ TELEGRAM_DM_POLICY: "" });
  await ready();
  await toldBy(ask).toMatchObject({ status: 200 });
};

const adminLists: Journey = async (start) => {
  const world = await start();
  await world.ready();
  expect(await knock(world)).toMatch(/^[A-Z]{8}$/);
  const page = await world.page("/_admin/");
  expect(page).toContain("Waiting for approval (1)");
  expect(page).toMatch(/Browsers \(0\)/);
  expect(page).toContain("Approve");
};

const debugCli: Journey = async (start) => {
  const world = await start();
  await world.ready();
  const { cli, platforms, say } = world;
  const { path = "" } = (await told(await world.operate("/debug/container-config"))) as { path?: string };
  expect(JSON.parse(await cli(`cat ${path}`))).toHaveProperty("channels");
  expect(await cli("devices list")).toContain("No device pairing entries.");
  expect(await cli(`pairing approve slack ${await knock(world)}`)).toContain("Approved");
  await platforms.slack.waitFor(({ channel }) => channel === "D0ANN", SOON.timeout);
  await say("still here?");
};

const containerConfig: Journey = async (start) => {
  const { operate } = await start();
  // Whether or not the container runs: it is waited for.
  expect(await told(await operate("/debug/container-config"))).toMatchObject({
    status: 200,
    config: { channels: { slack: { botToken: { env: "SLACK_BOT_TOKEN" } } } },
    valid: true,
  });
};

const processes: Journey = async (start) => {
  const { operate, ready } = await start();
  await ready();
  const plain = await (await operate("/debug/processes")).text();
  expect(JSON.parse(plain)).toMatchObject({
    state: "ready",
    processes: expect.arrayContaining([expect.objectContaining({ name: "gateway", state: "running" })]),
  });
  expect(plain).not.toContain("gateway ready");
  expect(await (await operate("/debug/processes?logs=true")).text()).toContain("gateway ready");
};

const verification: Journey = async (start) => {
  const { ask, ready } = await start();
  const echoed = async () => told(await ask("/slack/events", post(CHALLENGE)));
  expect(await echoed()).toEqual({ challenge: CHALLENGE.challenge, status: 200 });
  await ready();
  expect(await echoed()).toEqual({ challenge: CHALLENGE.challenge, status: 200 });
};

const slackEvents: Journey = async (start) => {
  const { ask, platforms, deleteConfig, press } = await stoppedBy(start, DEPRECATED);
  const event = { method: "POST", ...platforms.slack.sign(mention("kept while down")) };
  expect(await told(await ask("/slack/events", event))).toMatchObject({
    status: 503,
    code: "gateway_unavailable",
  });
  expect((await ask("/slack/events", post({ type: "event_callback" }))).status).toBe(503);
  await deleteConfig();
  await press("/_admin/restart");
  // Nobody has sent it again.
  await platforms.slack.waitFor(({ text }) => text.includes("kept while down"), SOON.timeout);
};

const webhookDown: Journey = async (start) => {
  const { ask, operate, deleteConfig, press, say, inState } = await stoppedBy(start, DEPRECATED);
  const refused = await told(await ask("/slack/events", post({ type: "event_callback" })));
  expect(refused).toMatchObject({ status: 503, fix: expect.stringContaining("/debug/processes?logs=true") });
  const found = await (await operate("/debug/processes?logs=true")).text();
  expect(found).toContain("Unrecognized key");
  await deleteConfig();
  await press("/_admin/restart");
  await inState("ready");
  await toldBy(() => ask("/slack/events", post({ type: "event_callback" }))).toMatchObject({ status: 403 });
  await say("and it is back");
};

const telegramWebhook: Journey = async (start) => {
  const secret = "hook-secret-0123456789";
  const world = await start({ TELEGRAM_WEBHOOK_SECRET: secret });
  const { ask, platforms, ready, kind, url, putConfig, page, cli } = world;
  await ready();
  if (kind === "host") {
    // It polls until the config names the webhook.
    const webhook = {
      webhookUrl: `${url}/telegram-webhook`,
      webhookSecret: { env: "TELEGRAM_WEBHOOK_SECRET" },
    };
    await putConfig(JSON.stringify({ channels: { telegram: webhook } }));
    await expect.poll(() => platforms.telegram.updates.webhook?.url, SOON).toBe(webhook.webhookUrl);
  }
  const send = (text: string) =>
    ask("/telegram-webhook", post(update(text), { "x-telegram-bot-api-secret-token": secret }));
  // A 503 while the gateway is busy: the event is recorded all the same.
  expect([200, 503]).toContain((await send("let me in")).status);
  expect(await cli(`pairing approve telegram ${await pairingCode(page, "telegram")}`)).toContain("Approved");
  await send("by webhook");
  await platforms.telegram.waitFor(({ text }) => text.includes("by webhook"), SOON.timeout);
  await toldBy(() => ask("/telegram-webhook", post(update("forged")))).toMatchObject({ status: 403 });
};

const identity: Journey = async (start) => {
  const { ask, operate } = await start();
  for (const route of ["/_admin/", "/debug/processes", "/debug/container-config"]) {
    expect([route, (await ask(route)).status]).toEqual([route, 403]);
    expect([route, (await operate(route)).status]).toEqual([route, 200]);
  }
};

const audienceMissing: Journey = async (start) => {
  const world = await start();
  const { deploy, operate, kind, right } = world;
  await deploy({ EDGE_ACCESS_TEAM_DOMAIN: "team.example.com", EDGE_ACCESS_AUD: "" });
  expect(await told(await operate("/_admin/", { headers: { accept: "application/json" } }))).toMatchObject({
    status: 500,
    code: "access_not_configured",
    detail: expect.stringContaining("EDGE_ACCESS_AUD is not configured"),
    fix: "Set EDGE_ACCESS_AUD and EDGE_ACCESS_TEAM_DOMAIN, then deploy again. On a host without an identity gateway set ADMIN_TOKEN (steward:adminToken) instead.",
  });
  // A host without an identity gateway signs in with ADMIN_TOKEN.
  const { EDGE_ACCESS_TEAM_DOMAIN = "", EDGE_ACCESS_AUD = "" } = right;
  await deploy({ EDGE_ACCESS_TEAM_DOMAIN, EDGE_ACCESS_AUD });
  expect([kind, (await operate("/_admin/")).status]).toEqual([kind, 200]);
};

const forbidden: Journey = async (start) => {
  const { deploy, operate, kind, right } = await start();
  await deploy(
    kind === "host" ? { ADMIN_TOKEN: "another-token-0123456789" } : { EDGE_ACCESS_AUD: "f".repeat(64) },
  );
  expect(await told(await operate("/_admin/"))).toMatchObject({
    status: 403,
    fix: expect.stringMatching(kind === "host" ? /ADMIN_TOKEN/ : /team domain, audience tag and policy/),
  });
  await deploy({ ADMIN_TOKEN: right["ADMIN_TOKEN"] ?? "", EDGE_ACCESS_AUD: right["EDGE_ACCESS_AUD"] ?? "" });
  expect((await operate("/_admin/")).status).toBe(200);
};

const privateWebhooks: Journey = async (start) => {
  const { ask, deploy } = await start({ PUBLIC_WEBHOOKS: "false" });
  for (const route of WEBHOOKS) {
    expect(await told(await ask(route, post(CHALLENGE)))).toMatchObject({
      status: 401,
      code: "webhooks_private",
      fix: expect.stringContaining("publicWebhooks"),
    });
  }
  await deploy({ PUBLIC_WEBHOOKS: "true" });
  expect(await told(await ask("/slack/events", post(CHALLENGE)))).toMatchObject({ status: 200 });
  for (const route of WEBHOOKS) expect([503, 403]).toContain((await ask(route, post({}))).status);
};

const invalidConfig: Journey = async (start) => {
  const { ask, operate, page, deleteConfig, press, inState, say } = await stoppedBy(start, DEPRECATED);
  await toldBy(ask).toMatchObject({
    status: 502,
    code: "config_invalid",
    fix: expect.stringMatching(/delete/i),
  });
  expect(await page("/_admin/")).toContain("Unrecognized key");
  expect(await (await operate("/debug/processes?logs=true")).text()).toContain("Invalid config at ");
  await deleteConfig();
  await press("/_admin/restart");
  await inState("ready");
  await say("mended");
};

const corruptConfig: Journey = async (start) => {
  const { ask, page, deleteConfig, press, inState, say } = await stoppedBy(start, '{"channels":');
  await toldBy(ask).toMatchObject({ status: 502, code: "config_invalid" });
  expect(await page("/_admin/logs")).toContain("Not valid JSON");
  await deleteConfig();
  await press("/_admin/restart");
  await inState("ready");
  await say("mended");
};

const directPolicy: Journey = async (start) => {
  const { ask, operate, deploy, inState, say } = await start({ TELEGRAM_DM_POLICY: "open" });
  await operate("/_admin/", { headers: { accept: "text/html" } });
  await inState("crash-looping");
  await toldBy(ask).toMatchObject({
    status: 502,
    code: "dm_policy_set",
    fix: expect.stringContaining("empty"),
  });
  expect(await (await operate("/debug/processes")).json()).toMatchObject({
    processes: expect.arrayContaining([expect.objectContaining({ name: "gateway", exitCode: 1 })]),
  });
  await deploy({ TELEGRAM_DM_POLICY: "" });
  await say("it starts");
};

const telegramToken: Journey = async (start) => {
  const world = await start({ TELEGRAM_BOT_TOKEN: "1234567890:another-token-of-nobody-0123456789a" });
  const { ready, deploy, right, cli, page } = world;
  await ready();
  expect(await shownOnChannels(world, "telegram_token_invalid")).toContain("BotFather");
  await deploy({ TELEGRAM_BOT_TOKEN: right["TELEGRAM_BOT_TOKEN"] ?? "" });
  await ready();
  await expect.poll(() => page("/_admin/channels"), SOON).not.toContain("telegram_token_invalid");
  expect(await cli("config get telegram.botToken")).toContain("[redacted]");
};

const slackToken: Journey = async (start) => {
  const world = await start({ SLACK_BOT_TOKEN: "xoxb-expired-0123456789ab" });
  const { ready, deploy, right, ask, platforms } = world;
  await ready();
  expect(await shownOnChannels(world, "slack_token_expired")).toContain("Reinstall the app");
  const event = { method: "POST", ...platforms.slack.sign(mention("asked in vain")) };
  // A 503 while the gateway is busy: the event is recorded all the same.
  expect([200, 503]).toContain((await ask("/slack/events", event)).status);
  await deploy({ SLACK_BOT_TOKEN: right["SLACK_BOT_TOKEN"] ?? "" });
  await ready();
  // Nobody has sent it again.
  await platforms.slack.waitFor(({ text }) => text.includes("asked in vain"), SOON.timeout);
};

const modelKey: Journey = async (start) => {
  const world = await start({ ANTHROPIC_API_KEY: "sk-ant-mistyped-0123456789abcdef" });
  const { ready, deploy, right, say } = world;
  await ready();
  expect(await shownOnChannels(world, "model_key_invalid")).toContain("Correct ANTHROPIC_API_KEY");
  await deploy({ ANTHROPIC_API_KEY: right["ANTHROPIC_API_KEY"] ?? "" });
  await say("and now?");
};

const rateLimit: Journey = async (start) => {
  const model = await startModel();
  model.next(modelError(429, "rate_limit_error", "slow down", { "retry-after": "3" }));
  const { ready, ask, platforms } = await start({ ANTHROPIC_BASE_URL: model.url });
  await ready();
  await ask("/slack/events", { method: "POST", ...platforms.slack.sign(mention("are you there?")) });
  await platforms.slack.waitFor(({ text }) => text.includes("rate limit is reached"), SOON.timeout);
  await platforms.slack.waitFor(({ text }) => text.includes("are you there?"), SOON.timeout);
};

const modelMissing: Journey = async (start) => {
  const model = await startModel();
  model.catalog(modelError(404, "not_found_error", "model: claude-sonnet-4-5"));
  const world = await start({ ANTHROPIC_BASE_URL: model.url });
  const { ready, cli, putConfig, press, page, say } = world;
  await ready();
  expect(await shownOnChannels(world, "model_not_available")).toContain("models.primary");
  model.catalog((response) => void response.writeHead(404).end());
  const config = JSON.parse(await cli("cat steward.json")) as Record<string, unknown>;
  await putConfig(JSON.stringify({ ...config, models: { primary: "anthropic/claude-haiku-4-5" } }));
  await press("/_admin/restart");
  await expect.poll(() => page("/_admin/channels"), SOON).toContain("anthropic/claude-haiku-4-5");
  await say("another model?");
};

/** Its message is ignored, and two clicks later it is answered. */
const unlistedGroup: Journey = async (start) => {
  const { kind, url, right, platforms, ready, page, press } = await start();
  await ready();
  const { telegram } = platforms;
  const secret = right["TELEGRAM_WEBHOOK_SECRET"] ?? "";
  if (kind === "serverless") telegram.updates.setWebhook({ url: `${url}/telegram-webhook`, secret }, false);
  telegram.say(...groupMention("does anybody hear me?"));
  await expect
    .poll(() => page("/_admin/ledger?state=ignored"), SOON)
    .toContain("the group is not on the list");
  const ledger = await page("/_admin/ledger?state=ignored");
  const [, link = ""] = /href="([^"]*allow-group[^"]*)"/.exec(ledger) ?? [];
  const review = await page(unescaped(link));
  expect(review).toContain("What changes");
  const saved = await press("/_admin/config/save", {
    text: fieldOf(review, "text"),
    expected: fieldOf(review, "expected"),
  });
  expect(saved.headers.get("location")).toContain("done=saved");
  await press("/_admin/ledger/replay", { key: fieldOf(ledger, "key") });
  await telegram.waitFor(({ text }) => text.includes("does anybody hear me?"), SOON.timeout);
};

/** A config names a variable that is not there: refused alike by every surface, until the stack has it. */
const ownSecret: Journey = async (start) => {
  const { ready, cli, deploy, deleteConfig, putConfig, press, inState, page, ask } = await start();
  await ready();
  const config = JSON.stringify({ gateway: { token: { env: "GATEWAY_TOKEN" } } });
  await putConfig(config);
  await press("/_admin/restart");
  await inState("crash-looping");
  const missing = "Environment variable GATEWAY_TOKEN is not set (set: ANTHROPIC_API_KEY";
  await toldBy(ask).toMatchObject({ status: 502, code: "config_invalid" });
  expect(await cli("config validate")).toContain(missing);
  expect(await page("/_admin/config")).toContain(missing);
  await deploy({ STEWARD_OWN_SECRETS: "GATEWAY_TOKEN", GATEWAY_TOKEN: "token-of-the-operator-0123456789" });
  await ready();
  expect(await cli("config validate")).toContain("Config is valid");
  expect(await page("/_admin/logs")).not.toContain("token-of-the-operator");
  await deleteConfig();
};

/** Every row that a running deployment can show. Rows of one journey are walked once. */
export const JOURNEYS: Partial<Record<Row, Journey>> = {
  "4 GET /": home,
  "4 GET /_admin/": adminLists,
  "4 GET /debug/cli": debugCli,
  "4 GET /debug/container-config": containerConfig,
  "4 GET /debug/processes": processes,
  "4 POST /slack/events": slackEvents,
  "4 POST /telegram-webhook": telegramWebhook,
  "5.1 identity": identity,
  "5.2 settings": audienceMissing,
  "5.3 public webhooks": privateWebhooks,
  "5.4 model provider": modelKey,
  "5.5 Slack's token": slackToken,
  "5.6 Telegram's token": telegramToken,
  "6 URL verification": verification,
  "6 Slack's events": slackEvents,
  "6 Telegram's updates": telegramWebhook,
  "6 a group that nobody has listed": unlistedGroup,
  "6 a secret of the operator's own": ownSecret,
  "7 Invalid config": invalidConfig,
  "7 401 on webhook routes": privateWebhooks,
  "7 403 on /_admin/": forbidden,
  "7 502 Bad Gateway": badGateway,
  "7 503 on webhook route": webhookDown,
  "7 EDGE_ACCESS_AUD is not configured": audienceMissing,
  "7 container keeps restarting": corruptConfig,
  "7 TELEGRAM_DM_POLICY is set": directPolicy,
  "7 Telegram's bot does not respond": telegramToken,
  "7 Slack's URL verification failed": privateWebhooks,
  "7 Slack's token expired": slackToken,
  "7 invalid model key": modelKey,
  "7 rate limit exceeded": rateLimit,
  "7 model not available": modelMissing,
};
