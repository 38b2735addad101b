import { expect, onTestFinished, test } from "vitest";
import { startSlack as startStandIn } from "../../../rehearsal/standins/slack.ts";
import { checkConfig } from "../../../runtime/contract/config/index.ts";
import { channelAccess } from "../../../runtime/shared/channel-access.ts";
import { createSlackChannel } from "../../../runtime/gateway/channels/slack/channel.ts";
import { splitForSlack } from "../../../runtime/gateway/channels/slack/mrkdwn.ts";
import { writeMrkdwn } from "../../../runtime/gateway/channels/slack/mrkdwn.ts";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { askJson, deliver, delivery, startGateway, surroundings } from "../support/gateway.ts";
import { json, startSlack, type Answer } from "../support/platforms.ts";

const BOT_TOKEN = "xoxb-111-222-abcdefghijkl";
const TARGET = { chat: "C1", thread: "100.1" };

/** The channel over the stand-in for Slack. */
async function slackChannel(keys: object = {}, apiUrl?: string) {
  const slack = await startSlack();
  const section = { botToken: { env: "SLACK_BOT_TOKEN" }, signingSecret: "y", ...keys };
  const checked = checkConfig({ channels: { slack: section } });
  if (!checked.ok || checked.config.channels.slack === undefined) throw new Error("not a config");
  const config = checked.config.channels.slack;
  const log = () => {};
  const channel = createSlackChannel({
    config,
    access: channelAccess(
      { ...config, groups: config.channels, operators: [] },
      { granted: () => undefined },
    ),
    environment: { SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_API_URL: apiUrl ?? slack.apiUrl },
    clock: () => 1_795_000_000_000,
    log: { debug: log, info: log, warn: log, error: log },
  });
  const load = (reference: string, mediaType = "image/png") =>
    channel.load?.({ kind: "image", reference, mediaType }, AbortSignal.timeout(10_000));
  return { slack, channel, load };
}

/** Answers bytes, told with their length or not. */
const bytes =
  (size: number, contentType = "image/png"): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": contentType });
    for (let sent = 0; sent < size; sent += 1_000)
      response.write(Buffer.alloc(Math.min(1_000, size - sent), 7));
    response.end();
  };

const redirect =
  (location: string): Answer =>
  (response) =>
    void response.writeHead(302, { location }).end();

test("a thread shows that an answer is being made; elsewhere nothing is asked, and a refusal stops nothing", async () => {
  const { slack, channel } = await slackChannel();
  await channel.typing?.(TARGET);
  await channel.typing?.({ chat: "D1" });
  expect(slack.catalogCalls).toMatchObject([
    { path: "/api/assistant.threads.setStatus", headers: { authorization: `Bearer ${BOT_TOKEN}` } },
  ]);
  expect(Object.fromEntries(new URLSearchParams(slack.catalogCalls[0]?.body))).toEqual({
    channel_id: "C1",
    thread_ts: "100.1",
    status: "is writing…",
  });
  slack.catalog(json(200, { ok: false, error: "missing_scope" }));
  await expect(channel.typing?.(TARGET)).resolves.toBeUndefined();
});

test("a message that is going to be answered gets the reaction of the config", async () => {
  const { slack, channel } = await slackChannel({ ackReaction: "eyes" });
  await channel.react?.(TARGET, "100.1");
  expect(slack.calls[0]?.path).toBe("/api/reactions.add");
  expect(Object.fromEntries(new URLSearchParams(slack.calls[0]?.body))).toEqual({
    channel: "C1",
    timestamp: "100.1",
    name: "eyes",
  });
  slack.next(json(200, { ok: false, error: "missing_scope" }));
  await expect(channel.react?.(TARGET, "100.1")).resolves.toBeUndefined();
  expect((await slackChannel()).channel.react).toBeUndefined();
});

test("a question has buttons, which give way to what was chosen; another is told alone", async () => {
  const { slack, channel } = await slackChannel();
  await channel.send(TARGET, "**Which?**", 0, [
    { label: "red", press: "p1" },
    { label: "blue", press: "p2" },
  ]);
  const form = (at: number) => Object.fromEntries(new URLSearchParams(slack.calls[at]?.body));
  expect(form(0)["text"]).toBe("*Which?*");
  expect(JSON.parse(form(0)["blocks"] ?? "")).toEqual([
    { type: "section", text: { type: "mrkdwn", text: "*Which?*" } },
    {
      type: "actions",
      elements: ["red", "blue"].map((label, at) => ({
        type: "button",
        action_id: `press-${at}`,
        text: { type: "plain_text", text: label },
        value: `p${at + 1}`,
      })),
    },
  ]);
  const press = {
    direct: false,
    sender: { id: "U1" },
    target: TARGET,
    press: "p1",
    ticket: "U1",
    message: "1.1",
    text: "*Which?*",
  };
  await channel.answerPress?.(press, "red", true);
  expect(slack.calls[1]?.path).toBe("/api/chat.update");
  expect(form(1)).toEqual({ channel: "C1", ts: "1.1", text: "*Which?*\n✓ red", blocks: "[]" });
  await channel.answerPress?.(press, "This button is not for you.", false);
  expect(slack.calls[2]?.path).toBe("/api/chat.postEphemeral");
  expect(form(2)).toMatchObject({ channel: "C1", user: "U1", thread_ts: "100.1" });
});

test("a message that is out is edited by its ts", async () => {
  const { slack, channel } = await slackChannel();
  slack.next(json(200, { ok: true, channel: "C1", ts: "1503435956.000247" }));

  const { id } = await channel.send(TARGET, "**Hel**");
  await channel.edit?.(TARGET, id ?? "", "**Hello** <!here>");

  expect(channel.streams).toBe(true);
  expect(slack.calls.map(({ path }) => path)).toEqual(["/api/chat.postMessage", "/api/chat.update"]);
  // No address that a model wrote is fetched without a click.
  expect(Object.fromEntries(new URLSearchParams(slack.calls[0]?.body))).toMatchObject({
    unfurl_links: "false",
    unfurl_media: "false",
  });
  expect(Object.fromEntries(new URLSearchParams(slack.calls[1]?.body))).toEqual({
    channel: "C1",
    ts: "1503435956.000247",
    text: "*Hello* &lt;!here&gt;",
  });
});

test("with streamMode off a reply comes whole", async () => {
  expect((await slackChannel({ streamMode: "off" })).channel.streams).toBe(false);
});

test.each([
  [
    "the rate limit",
    json(429, { ok: false, error: "ratelimited" }, { "retry-after": "7" }),
    "channel_failed",
    7_000,
  ],
  ["a message that is gone", json(200, { ok: false, error: "message_not_found" }), "edit_refused", undefined],
  ["another's message", json(200, { ok: false, error: "cant_update_message" }), "edit_refused", undefined],
  [
    "a message that is too old",
    json(200, { ok: false, error: "edit_window_closed" }),
    "edit_refused",
    undefined,
  ],
  ["an expired token", json(200, { ok: false, error: "token_expired" }), "slack_token_expired", undefined],
  ["a refusal that is new", json(200, { ok: false, error: "of_tomorrow" }), "edit_refused", undefined],
  [
    "a failure of Slack's own",
    json(200, { ok: false, error: "internal_error" }),
    "channel_failed",
    undefined,
  ],
  ["a bad gateway", (response) => void response.writeHead(502).end("<html>"), "channel_failed", undefined],
])("an edit that meets %s", async (_, answer, code, retryAfterMs) => {
  const { slack, channel } = await slackChannel();
  slack.next(answer);
  const failed = await channel.edit?.(TARGET, "1.1", "x").then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failed).toMatchObject({ code, ...(retryAfterMs !== undefined && { status: 429, retryAfterMs }) });
});

test.each([
  ["channel_not_found", "ignored"],
  ["not_in_channel", "ignored"],
  ["is_archived", "ignored"],
  ["msg_too_long", "failed"],
  ["restricted_action", "failed"],
])(
  "%s ends the delivery as %s, with the reason, and says nothing about the channel",
  async (error, outcome) => {
    const { url, environment, slack } = await surroundings();
    await startGateway(environment);
    slack.next(json(200, { ok: false, error }));

    expect(await deliver(url, delivery("Ev1"))).toMatchObject({
      status: 200,
      answer: { outcome, note: expect.stringContaining(error) },
    });
    // A replay says what was not said.
    expect(await deliver(url, delivery("Ev1"))).toMatchObject({ answer: { outcome: "answered" } });
    const { channels } = await askJson<GatewayStatus>(`${url}/status`);
    expect(channels).toEqual([{ platform: "slack", state: "ready", lastEventAt: expect.any(String) }]);
  },
);

test("an expired token stays in the status until Slack takes a message", async () => {
  const { slack, channel } = await slackChannel();
  slack.next(
    json(200, { ok: false, error: "account_inactive" }),
    json(200, { ok: false, error: "is_archived" }),
  );
  await expect(channel.send(TARGET, "a")).rejects.toMatchObject({ code: "slack_token_expired" });
  await expect(channel.send(TARGET, "b")).rejects.toMatchObject({ code: "reply_refused" });
  expect(channel.health()).toMatchObject({
    state: "failing",
    reason: { code: "slack_token_expired", fix: expect.stringContaining("Reinstall") },
  });
  await channel.send(TARGET, "c");
  expect(channel.health()).toEqual({ platform: "slack", state: "ready" });
});

/** Slack's answer about a file, which is at a place on the stand-in. */
const info = (url: string): Answer => json(200, { ok: true, file: { id: "F1", url_private: url } });

test("a file is fetched by its id, with the bot token", async () => {
  const { slack, load } = await slackChannel();
  slack.next(info(`${slack.url}/files-pri/T1-F1/a.png`), bytes(2_500));
  expect((await load("F1"))?.byteLength).toBe(2_500);
  expect(slack.calls.map(({ path, body }) => [path, body])).toEqual([
    ["/api/files.info", "file=F1"],
    ["/files-pri/T1-F1/a.png", ""],
  ]);
  expect(slack.calls.map(({ headers }) => headers.authorization)).toEqual(
    Array(2).fill(`Bearer ${BOT_TOKEN}`),
  );
});

test("a file above the limit is given up while it comes in", async () => {
  const { slack, load } = await slackChannel({ mediaMaxMb: 0.01 });
  slack.next(info(`${slack.url}/files-pri/T1-F1/a.png`), bytes(1_000_000));
  await expect(load("F1")).rejects.toThrow(/larger than 10485 bytes/);
});

test("a missing scope is named, and a page in the place of a file is none", async () => {
  const { slack, load } = await slackChannel();
  slack.next(json(200, { ok: false, error: "missing_scope" }));
  await expect(load("F1")).rejects.toThrow(/files:read/);
  const page = [info(`${slack.url}/files-pri/T1-F1/a`), bytes(100, "text/html; charset=utf-8")];
  slack.next(...page);
  await expect(load("F1")).rejects.toThrow(/a sign-in page/);
  slack.next(...page);
  expect(await load("F1", "text/html")).toHaveLength(100);
});

test.each([
  "https://evil.example/files-pri/T1-F1/a.png",
  "https://slack.com/api/auth.revoke",
  "https://files.slack.com@evil.example/files-pri/T1-F1/a.png",
  "file:///etc/passwd",
])("the bot token does not go to %s", async (place) => {
  const { slack, load } = await slackChannel();
  slack.next(info(place));
  await expect(load("F1")).rejects.toMatchObject({ code: "slack_file_elsewhere" });
  slack.next(info(`${slack.url}/files-pri/T1-F1/a.png`), redirect(place));
  await expect(load("F1")).rejects.toMatchObject({ code: "slack_file_elsewhere" });
});

test("each part of a reply fits as Slack counts it, and no code block is cut", () => {
  const code = `\`\`\`ts\n${"a < b && c > d;\n".repeat(200)}\`\`\``;
  const text = `${"Ä & **b**. ".repeat(500)}\n\n${code}\n\n${"x".repeat(3_990)}`;
  const parts = splitForSlack(text, 4_000, true);
  for (const part of parts) {
    expect(Buffer.byteLength(writeMrkdwn(part))).toBeLessThanOrEqual(4_000);
    expect((writeMrkdwn(part).match(/```/g) ?? []).length % 2).toBe(0);
  }
  const squeezed = (value: string) => value.replace(/```(?:ts)?|\s/g, "");
  expect(squeezed(parts.join(""))).toBe(squeezed(text));
  expect(splitForSlack("&".repeat(12_000), 12_000, false).map((part) => part.length)).toEqual([8_000, 4_000]);
});

const REPORT = { name: "report.pdf", mediaType: "application/pdf", data: new TextEncoder().encode("report") };

test("a file is uploaded without the key, and then shown in its thread", async () => {
  const { slack, channel } = await slackChannel();
  const place = { ok: true, upload_url: `${slack.apiUrl}/../upload/v1/x`, file_id: "F1" };
  slack.next(json(200, place), json(200, {}), json(200, { ok: true }));
  await channel.files?.send(TARGET, REPORT, "As asked <!here>");
  const [asked, uploaded, completed] = slack.calls;
  expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
    filename: "report.pdf",
    length: "6",
  });
  expect([uploaded?.body, uploaded?.headers.authorization]).toEqual(["report", undefined]);
  expect(Object.fromEntries(new URLSearchParams(completed?.body))).toEqual({
    files: '[{"id":"F1"}]',
    channel_id: "C1",
    thread_ts: "100.1",
    initial_comment: "As asked &lt;!here&gt;",
  });
});

test("a file goes to no other host", async () => {
  const { slack, channel } = await slackChannel();
  slack.next(json(200, { ok: true, upload_url: "https://files.slack.com.example.org/x", file_id: "F1" }));
  await expect(channel.files?.send(TARGET, REPORT)).rejects.toMatchObject({ code: "reply_refused" });
  expect(slack.calls).toHaveLength(1);
});

test("an app without the scope is told with the fix", async () => {
  const { slack, channel } = await slackChannel();
  slack.next(json(200, { ok: false, error: "missing_scope", needed: "files:write" }));
  await expect(channel.files?.send(TARGET, REPORT)).rejects.toThrow(
    /scope files:write\. Add it .* reinstall/,
  );
});

test("Slack's stand-in shows the file in the thread", async () => {
  const secrets = { botToken: BOT_TOKEN, signingSecret: "y" };
  const slack = await startStandIn({ hostname: "127.0.0.1", port: 0, ...secrets });
  onTestFinished(() => slack.close());
  const { channel } = await slackChannel({}, slack.apiUrl);
  await channel.files?.send(TARGET, REPORT, "As asked");
  expect(slack.messages()).toMatchObject([
    { channel: "C1", threadTs: "100.1", text: "[file: report.pdf] As asked" },
  ]);
});
