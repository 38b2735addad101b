import { describe, expect, it } from "vitest";
import type { WebhookPath } from "../../runtime/contract/routes.ts";
import { command, createDiscordKey } from "../support/discord.ts";
import { edgeFixture, NOW, slackEvent, slackHeaders, TELEGRAM_SECRET } from "../support/edge.ts";

/** Events that the platform did not send. Each is refused, recorded nowhere, and wakes nothing. */
type Headers = Record<string, string>;
interface Forgery {
  headers: Headers;
  /** Default: the event as it was signed. */
  body?: string;
}

const MINUTE_MS = 60_000;
const JSON_TYPE = { "content-type": "application/json" };
const discord = await createDiscordKey();
const stranger = await createDiscordKey();

const SLACK_BODY = JSON.stringify(slackEvent());
const slack = await slackHeaders(SLACK_BODY);
const slackSignature = slack["x-slack-signature"];
const slackTime = slack["x-slack-request-timestamp"];
const slackWith = (signature: string, timestamp = slackTime): Forgery => ({
  headers: { ...JSON_TYPE, "x-slack-signature": signature, "x-slack-request-timestamp": timestamp },
});
const SLACK: Record<string, Forgery> = {
  "no headers": { headers: JSON_TYPE },
  "no signature": { headers: { ...JSON_TYPE, "x-slack-request-timestamp": slackTime } },
  "no time": { headers: { ...JSON_TYPE, "x-slack-signature": slackSignature } },
  "an empty signature": slackWith(""),
  "the version alone": slackWith("v0="),
  "no version": slackWith(slackSignature.slice(3)),
  "another version": slackWith(slackSignature.replace("v0", "v1")),
  "a short signature": slackWith(slackSignature.slice(0, -2)),
  "a longer signature": slackWith(`${slackSignature}00`),
  "two signatures": slackWith(`${slackSignature},${slackSignature}`),
  "a turned digit": slackWith(slackSignature.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"))),
  noughts: slackWith(`v0=${"0".repeat(64)}`),
  "what is not hexadecimal": slackWith(`v0=${"z".repeat(64)}`),
  base64: slackWith(`v0=${btoa("0".repeat(32))}`),
  "another time": slackWith(slackSignature, String(Number(slackTime) + 1)),
  "a time that is no number": slackWith(slackSignature, "now"),
  "an empty time": slackWith(slackSignature, ""),
  "a time below nought": slackWith(slackSignature, `-${slackTime}`),
  "a time with a fraction": slackWith(slackSignature, `${slackTime}.0`),
  "a time in hexadecimal": slackWith(slackSignature, `0x${Number(slackTime).toString(16)}`),
  "another secret": { headers: await slackHeaders(SLACK_BODY, "another-secret") },
  "an empty body's signature": { headers: await slackHeaders("") },
  "another body": { headers: slack, body: SLACK_BODY.replace("hello", "hellO") },
  "a blank behind the body": { headers: slack, body: `${SLACK_BODY} ` },
  "an old event": { headers: await slackHeaders(SLACK_BODY, undefined, NOW - 6 * MINUTE_MS) },
  "an event of the future": { headers: await slackHeaders(SLACK_BODY, undefined, NOW + 6 * MINUTE_MS) },
  "a challenge that is no challenge": {
    headers: JSON_TYPE,
    body: JSON.stringify({ ...slackEvent(), challenge: "abc" }),
  },
  "Telegram's header": { headers: { ...JSON_TYPE, "x-telegram-bot-api-secret-token": TELEGRAM_SECRET } },
};

const TELEGRAM_BODY = JSON.stringify({
  update_id: 1,
  message: { message_id: 1, date: 1, chat: { id: 1, type: "private" }, text: "hello" },
});
const telegramWith = (secret: string): Forgery => ({
  headers: { ...JSON_TYPE, "x-telegram-bot-api-secret-token": secret },
});
const TELEGRAM: Record<string, Forgery> = {
  "no secret": { headers: JSON_TYPE },
  "an empty secret": telegramWith(""),
  "another secret": telegramWith("another-secret-0123456789"),
  "the secret's beginning": telegramWith(TELEGRAM_SECRET.slice(0, -1)),
  "a longer secret": telegramWith(`${TELEGRAM_SECRET}0`),
  "the secret in capitals": telegramWith(TELEGRAM_SECRET.toUpperCase()),
  "the secret twice": telegramWith(`${TELEGRAM_SECRET}, ${TELEGRAM_SECRET}`),
  "the secret in quotes": telegramWith(`"${TELEGRAM_SECRET}"`),
  "the secret in base64": telegramWith(btoa(TELEGRAM_SECRET)),
  undefined: telegramWith("undefined"),
  null: telegramWith("null"),
  "the secret as a Bearer": { headers: { ...JSON_TYPE, authorization: `Bearer ${TELEGRAM_SECRET}` } },
  "Slack's headers": { headers: await slackHeaders(TELEGRAM_BODY) },
};

const DISCORD_BODY = JSON.stringify(command("hello"));
const right = await discord.headers(DISCORD_BODY);
const edSignature = right["x-signature-ed25519"] ?? "";
const discordWith = (signature: string, timestamp = right["x-signature-timestamp"] ?? ""): Forgery => ({
  headers: { ...JSON_TYPE, "x-signature-ed25519": signature, "x-signature-timestamp": timestamp },
});
const DISCORD: Record<string, Forgery> = {
  "no headers": { headers: JSON_TYPE },
  "no signature": {
    headers: { ...JSON_TYPE, "x-signature-timestamp": right["x-signature-timestamp"] ?? "" },
  },
  "no time": { headers: { ...JSON_TYPE, "x-signature-ed25519": edSignature } },
  "an empty signature": discordWith(""),
  "a short signature": discordWith(edSignature.slice(0, -2)),
  "a longer signature": discordWith(`${edSignature}00`),
  noughts: discordWith("0".repeat(128)),
  "what is not hexadecimal": discordWith("z".repeat(128)),
  "a turned digit": discordWith(edSignature.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))),
  "halves that are exchanged": discordWith(edSignature.slice(64) + edSignature.slice(0, 64)),
  "another time": discordWith(edSignature, String(Number(right["x-signature-timestamp"]) + 1)),
  "an empty time": discordWith(edSignature, ""),
  "a stranger's key": { headers: await stranger.headers(DISCORD_BODY) },
  "an empty body's signature": { headers: await discord.headers("") },
  "another body": { headers: right, body: DISCORD_BODY.replace("hello", "hellO") },
  "a blank behind the body": { headers: right, body: `${DISCORD_BODY} ` },
  "an old event": { headers: await discord.headers(DISCORD_BODY, NOW - 6 * MINUTE_MS) },
  "an unsigned PING": { headers: JSON_TYPE, body: JSON.stringify({ type: 1 }) },
  "Slack's headers": { headers: await slackHeaders(DISCORD_BODY) },
};

type Case = readonly [signed: string, genuine: Forgery, forgeries: Record<string, Forgery>];
const WEBHOOKS: Record<WebhookPath, Case> = {
  "/slack/events": [SLACK_BODY, { headers: slack }, SLACK],
  "/telegram-webhook": [TELEGRAM_BODY, telegramWith(TELEGRAM_SECRET), TELEGRAM],
  "/discord/interactions": [DISCORD_BODY, { headers: right }, DISCORD],
};

describe.each(Object.entries(WEBHOOKS))("%s", (path, [signed, genuine, forgeries]) => {
  async function post({ headers, body = signed }: Forgery) {
    const { app, admitted, wakes } = edgeFixture({ discordPublicKey: discord.publicKey });
    const { status } = await app.request(path, { method: "POST", headers, body });
    return { status, admitted: admitted.length, wakes: wakes.length };
  }

  it("takes what the platform has sent", async () => {
    expect(await post(genuine)).toMatchObject({ status: 200, admitted: 1 });
  });

  it.each(Object.entries(forgeries))("refuses %s", async (_name, forgery) => {
    const { status, ...done } = await post(forgery);
    expect([400, 401, 403]).toContain(status);
    expect(done).toEqual({ admitted: 0, wakes: 0 });
  });
});

it("55 forgeries at least were tried", () => {
  const count = Object.values(WEBHOOKS).reduce(
    (sum, [, , forgeries]) => sum + Object.keys(forgeries).length,
    0,
  );
  expect(count).toBeGreaterThanOrEqual(55);
});
