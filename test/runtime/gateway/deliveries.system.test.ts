import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { json, modelStream } from "../support/platforms.ts";
import {
  askJson,
  deliver,
  delivery,
  directMessage,
  startGateway,
  surroundings,
  writeConfig,
} from "../support/gateway.ts";
import { eventually, SECRETS } from "../support/processes.ts";

test("a mention is answered with the model's text, in its thread", async () => {
  const { url, environment, model, slack } = await surroundings();
  await startGateway(environment);
  model.next(modelStream("Hello from the model & <!channel>"));

  const result = await deliver(url, delivery("Ev1"));

  expect(result).toMatchObject({ status: 200, answer: { outcome: "answered" } });
  expect(slack.posts()).toEqual([
    { channel: "C1", text: "Hello from the model &amp; &lt;!channel&gt;", thread: "100.1" },
  ]);
  expect(slack.calls[0]?.path).toBe("/api/chat.postMessage");
  expect(slack.calls[0]?.headers.authorization).toBe(`Bearer ${SECRETS.SLACK_BOT_TOKEN}`);
  expect(model.calls[0]?.path).toBe("/v1/messages");
  expect(model.calls[0]?.headers["x-api-key"]).toBe(SECRETS.ANTHROPIC_API_KEY);
  expect(JSON.parse(model.calls[0]?.body ?? "")).toMatchObject({ stream: true, model: "claude-sonnet-4-5" });
  expect(model.asked()).toEqual([["user: hello"]]);
});

test("an answered delivery is not answered again, not even after a restart", async () => {
  const { url, environment, model, slack } = await surroundings();
  const first = await startGateway(environment);
  await deliver(url, delivery("Ev1"));
  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ status: 200, answer: { outcome: "repeated" } });

  first.kill("SIGTERM");
  expect(await first.exited).toBe(0);
  await startGateway(environment);

  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ status: 200, answer: { outcome: "repeated" } });
  expect(slack.calls).toHaveLength(1);
  expect(model.calls).toHaveLength(1);
});

test("two deliveries of the same id at the same time run once", async () => {
  const { url, environment, model, slack } = await surroundings();
  await startGateway(environment);
  model.next(modelStream("slow", { delayMs: 300 }));

  const results = await Promise.all([deliver(url, delivery("Ev1")), deliver(url, delivery("Ev1"))]);

  expect(results.map(({ answer }) => answer["outcome"]).sort()).toEqual(["answered", "repeated"]);
  expect(slack.calls).toHaveLength(1);
  expect(model.calls).toHaveLength(1);
});

test("a conversation runs one delivery at a time, others go beside it", async () => {
  const { url, environment, model } = await surroundings();
  await startGateway(environment);
  const { promise: seen, resolve: release } = Promise.withResolvers<void>();
  model.next(modelStream("first", { until: seen }));

  const slow = deliver(url, delivery("Ev1", { text: "<@UBOT> one" }));
  await eventually(() => model.calls.length === 1);
  const same = deliver(url, delivery("Ev2", { text: "<@UBOT> two" }));
  await deliver(url, delivery("Ev3", { channel: "C2", text: "<@UBOT> three" }));
  expect(model.asked()).toEqual([["user: one"], ["user: three"]]);
  release();
  await Promise.all([slow, same]);

  expect(model.asked()[2]).toEqual(["user: one", "assistant: first", "user: two"]);
});

test("a conversation survives a restart, within the history's limit", async () => {
  const { url, home, environment, model } = await surroundings();
  await writeConfig(home, {}, { sessions: { historyLimit: 3 } });
  const first = await startGateway(environment);
  await deliver(url, delivery("Ev1", { text: "<@UBOT> one" }));
  first.kill("SIGTERM");
  await first.exited;
  await startGateway(environment);

  await deliver(url, delivery("Ev2", { text: "<@UBOT> two" }));
  await deliver(url, delivery("Ev3", { text: "<@UBOT> three" }));

  expect(model.asked()[1]).toEqual(["user: one", "assistant: You said: one", "user: two"]);
  expect(model.asked()[2]).toEqual(["user: two", "assistant: You said: two", "user: three"]);
});

test("a killed gateway keeps what it had answered", async () => {
  const { url, environment, slack } = await surroundings();
  const first = await startGateway(environment);
  await deliver(url, delivery("Ev1"));
  first.kill("SIGKILL");
  await first.exited;
  await startGateway(environment);

  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ answer: { outcome: "repeated" } });
  expect(slack.calls).toHaveLength(1);
});

test("a long reply that fails in its middle goes on behind the last message that went out", async () => {
  const { url, home, environment, model, slack } = await surroundings();
  await writeConfig(home, { textChunkLimit: 200 });
  await startGateway(environment);
  const paragraphs = ["a", "b", "c"].map((letter) => letter.repeat(150));
  model.next(modelStream(paragraphs.join("\n\n")));
  slack.next(json(200, { ok: true }), json(503, {}));

  expect(await deliver(url, delivery("Ev1"))).toMatchObject({
    status: 503,
    answer: { code: "channel_failed" },
  });
  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ status: 200, answer: { outcome: "answered" } });

  expect(slack.posts().map(({ text }) => text?.[0])).toEqual(["a", "b", "b", "c"]);
  expect(model.calls).toHaveLength(1);
});

test("an expired Slack token is told by name, in the status and the log, and the event is kept", async () => {
  const { url, environment, slack } = await surroundings();
  const gateway = await startGateway(environment);
  slack.next(json(200, { ok: false, error: "token_expired" }));

  const { status, answer } = await deliver(url, delivery("Ev1"));
  expect(status).toBe(503);
  expect(answer).toMatchObject({ code: "slack_token_expired", fix: expect.stringContaining("Reinstall") });
  const health = await askJson<GatewayStatus>(`${url}/status`);
  expect(health.channels[0]).toMatchObject({ state: "failing", reason: { code: "slack_token_expired" } });
  expect(gateway.stdout()).toContain("Reinstall the app");

  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ status: 200 });
  const mended = await askJson<GatewayStatus>(`${url}/status`);
  expect(mended.channels[0]).toEqual({
    platform: "slack",
    state: "ready",
    lastEventAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

test("Slack's rate limit is handed on with its Retry-After", async () => {
  const { url, environment, slack } = await surroundings();
  await startGateway(environment);
  slack.next(json(429, { ok: false, error: "ratelimited" }, { "retry-after": "30" }));

  const result = await deliver(url, delivery("Ev1"));

  expect(result).toMatchObject({ status: 429, retryAfter: "30", answer: { code: "channel_failed" } });
});

test("an unknown sender of a direct message gets its id and the way in, and is not processed", async () => {
  const { url, home, environment, model, slack } = await surroundings();
  await writeConfig(home, { dmPolicy: "allowlist", allowFrom: ["U2"] });
  await startGateway(environment);

  expect(await deliver(url, directMessage("Ev1"))).toMatchObject({ answer: { outcome: "answered" } });
  expect(model.calls).toHaveLength(0);
  expect(slack.posts()[0]?.text).toContain("Your Slack user id: U1");
  expect(slack.posts()[0]?.text).toContain("channels.slack.allowFrom");

  expect(await deliver(url, directMessage("Ev2", { user: "U2" }))).toMatchObject({
    answer: { outcome: "answered" },
  });
  expect(slack.posts()[1]).toEqual({ channel: "D1", text: "You said: hello", thread: null });
});

test("a stop lets the delivery under way end and takes no new one", async () => {
  const { url, environment, model, slack } = await surroundings();
  const gateway = await startGateway(environment);
  model.next(modelStream("late", { delayMs: 500 }));
  const running = deliver(url, delivery("Ev1"));
  await eventually(() => model.calls.length === 1);

  gateway.kill("SIGTERM");
  await eventually(() => gateway.stdout().includes("gateway stopping"));
  expect(await running).toMatchObject({ status: 200, answer: { outcome: "answered" } });
  expect(await gateway.exited).toBe(0);
  expect(slack.posts()[0]?.text).toBe("late");
});

test("no secret reaches the log or the data directory", async () => {
  const { url, home, environment, model } = await surroundings();
  const gateway = await startGateway({ ...environment, LOG_LEVEL: "debug" });
  model.next((response) => {
    const message = `invalid key ${SECRETS.ANTHROPIC_API_KEY}, not ${SECRETS.SLACK_BOT_TOKEN}`;
    return json(401, { type: "error", error: { type: "authentication_error", message } })(response, {
      path: "",
      headers: {},
      body: "",
    });
  });
  await deliver(url, delivery("Ev1"));
  await eventually(() => gateway.stdout().includes("the model refuses"));

  const config = await readFile(join(home, "steward.json"), "utf8");
  for (const secret of [...Object.values(SECRETS), environment["STEWARD_CONTROL_TOKEN"] ?? ""]) {
    expect(gateway.stdout() + gateway.stderr() + config).not.toContain(secret);
  }
  expect(gateway.stdout()).toContain("[redacted]");
});
