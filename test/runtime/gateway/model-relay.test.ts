import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { startGateway as startInProcess, type GatewayOptions } from "../../../runtime/gateway/start.ts";
import { ModelRelay } from "../../../runtime/gateway/models/relay.ts";
import { ModelTrouble, type Model, type ModelRequest } from "../../../runtime/gateway/models/model.ts";
import { UsageStore } from "../../../runtime/gateway/models/usage.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { askJson, deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { chatError, startChatModel } from "../support/models.ts";
import { modelError, modelStream } from "../support/platforms.ts";

const PRIMARY = "anthropic/claude-sonnet-4-5";
const FALLBACK = "acme/gpt-test";
const DAY = Date.UTC(2026, 10, 20, 12);

/** Surroundings with a second model behind the first. */
async function pair(models: object = {}) {
  const around = await surroundings();
  const chat = await startChatModel();
  const acme = { baseUrl: chat.baseUrl, apiKey: "acme-key-0123456789" };
  await writeConfig(around.home, {}, { models: { fallbacks: [FALLBACK], providers: { acme }, ...models } });
  const texts = (): (string | null)[] => around.slack.posts().map(({ text }) => text);
  const status = () => askJson<GatewayStatus>(`${around.url}/status`);
  let events = 0;
  /** Asks in a chat of its own. */
  const say = () => {
    events += 1;
    const at = `C${events}`;
    return deliver(around.url, {
      ...delivery(`Ev${events}`, { channel: at }),
      conversation: `slack:T1:${at}`,
    });
  };
  return { ...around, chat, texts, status, say };
}

/** A gateway in this process, whose clock the test moves. */
async function timed(environment: Record<string, string>, extra: Partial<GatewayOptions> = {}) {
  const time = { now: DAY };
  const lines: string[] = [];
  const gateway = await startInProcess({
    environment,
    clock: () => time.now,
    write: (line) => void lines.push(line),
    ...extra,
  });
  onTestFinished(() => gateway.close());
  return { pass: (ms: number) => void (time.now += ms), lines };
}

const overloaded = modelError(529, "overloaded_error", "Overloaded");

test("the next model answers when the first fails, and each is counted by day", async () => {
  const { environment, model, chat, texts, status, say } = await pair();
  await startGateway(environment);
  await say();
  model.next(overloaded, overloaded, overloaded);

  expect(await say()).toMatchObject({ status: 200 });

  expect(texts()).toEqual(["You said: hello", "Chat said: hello"]);
  expect(model.calls).toHaveLength(4);
  expect(chat.calls[0]?.headers.authorization).toBe("Bearer acme-key-0123456789");
  const { models, usage, model: first } = await status();
  expect(first).toMatchObject({ id: PRIMARY, reason: { code: "model_overloaded" } });
  expect(models).toMatchObject([
    { id: PRIMARY, state: "cooling", until: expect.any(String), reason: { code: "model_overloaded" } },
    { id: FALLBACK, state: "ready" },
  ]);
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  expect(usage).toEqual([
    { day, model: FALLBACK, requests: 1, inputTokens: 21, outputTokens: 7 },
    { day, model: PRIMARY, requests: 1, inputTokens: 12, outputTokens: 34 },
  ]);
});

test("a model that failed is left alone for its cooldown, then asked again", async () => {
  const { environment, model, texts, status, say } = await pair({ cooldown: "5m" });
  const { pass } = await timed(environment);
  model.next(overloaded, overloaded, overloaded);

  await say();
  pass(299_000);
  await say();
  expect(model.calls).toHaveLength(3);
  pass(2_000);
  await say();

  expect(texts()).toEqual(["Chat said: hello", "Chat said: hello", "You said: hello"]);
  expect((await status()).models[0]).toEqual({ id: PRIMARY, state: "ready" });
});

test("a Retry-After of any length is kept to", async () => {
  const { environment, model, texts, say } = await pair();
  const { pass } = await timed(environment);
  model.next(modelError(429, "rate_limit_error", "slow down", { "retry-after": "3600" }));

  await say();
  pass(3_599_000);
  await say();
  expect(model.calls).toHaveLength(1);
  pass(2_000);
  await say();

  expect(texts()).toEqual(["Chat said: hello", "Chat said: hello", "You said: hello"]);
});

test("where every model asked for patience, the edge is told the shortest wait, and none is asked", async () => {
  const { environment, model, chat, say } = await pair();
  const { pass } = await timed(environment);
  model.next(modelError(429, "rate_limit_error", "slow down", { "retry-after": "120" }));
  chat.next(chatError(429, "rate_limit_exceeded", "Rate limit reached", { "retry-after": "40" }));

  expect(await say()).toMatchObject({
    status: 429,
    retryAfter: "40",
    answer: { code: "model_rate_limited" },
  });
  pass(10_000);
  expect(await say()).toMatchObject({ status: 429, retryAfter: "30" });
  expect([model.calls.length, chat.calls.length]).toEqual([1, 1]);
});

test("a long rate limit of one chat does not hold up another that is under way", async () => {
  const { environment, model, texts, say } = await pair({ fallbacks: [] });
  await startGateway(environment);
  let goOn = (): void => {};
  const held = new Promise<void>((resolve) => (goOn = resolve));
  model.next(
    async (response, call) => {
      await held;
      await modelStream("At last.")(response, call);
    },
    modelError(429, "rate_limit_error", "slow down", { "retry-after": "120" }),
  );

  const slow = say();
  await expect.poll(() => model.calls.length, { timeout: 20_000 }).toBe(1);
  expect(await say()).toMatchObject({ status: 429, retryAfter: "120" });
  goOn();

  expect(await slow).toMatchObject({ status: 200 });
  expect(texts()).toEqual(["At last."]);
  // An answer that began before the limit says nothing against it.
  expect(await say()).toMatchObject({ status: 429 });
  expect(model.calls).toHaveLength(2);
});

test("a wrong key sends the question on, and is asked again once it may be mended", async () => {
  const { environment, model, texts, status, say } = await pair();
  const { pass } = await timed(environment);
  model.next(modelError(401, "authentication_error", "invalid x-api-key"));

  await say();
  expect((await status()).models[0]).toMatchObject({
    state: "failing",
    reason: { code: "model_key_invalid" },
  });
  pass(590_000);
  await say();
  expect(model.calls).toHaveLength(1);
  pass(11_000);
  await say();

  expect(texts()).toEqual(["Chat said: hello", "Chat said: hello", "You said: hello"]);
});

test("a model that was refused is asked again at once where it is the only one: it may be mended", async () => {
  const { environment, model, texts, status, say } = await pair({ fallbacks: [] });
  await timed(environment);
  model.next(modelError(403, "permission_error", "not allowed"));

  await say();
  await say();

  expect(texts()).toEqual([expect.stringContaining("Invalid API key provided"), "You said: hello"]);
  expect((await status()).models).toEqual([{ id: PRIMARY, state: "ready" }]);
});

test("refused by all, the chat is told what the first one said", async () => {
  const { environment, model, chat, texts, say } = await pair();
  await startGateway(environment);
  model.next(modelError(404, "not_found_error", "model: claude-sonnet-4-5"));
  chat.next(chatError(401, "invalid_api_key", "Incorrect API key provided: acme-*****6789."));

  expect(await say()).toMatchObject({ status: 200 });

  expect(texts()[0]).toContain(`Model not available (${PRIMARY}`);
  expect(texts()[0]).not.toContain("6789");
});

test("no credit left is told in the chat, with the fix", async () => {
  const { environment, chat, texts, say } = await pair({ primary: FALLBACK, fallbacks: [] });
  await startGateway(environment);
  chat.next(chatError(429, "insufficient_quota", "You exceeded your current quota"));

  await say();

  expect(texts()[0]).toContain("used up");
  expect(texts()[0]).toContain("Add credit");
});

test("what is wrong with the question is not asked elsewhere", async () => {
  const { environment, model, chat, texts, say } = await pair();
  await startGateway(environment);
  model.next(
    modelError(400, "invalid_request_error", "no such field"),
    modelStream("", { stopReason: "refusal" }),
  );

  await say();
  await say();

  expect(chat.calls).toHaveLength(0);
  expect(texts()).toEqual([expect.stringContaining("no such field"), expect.stringContaining("declined")]);
});

test("a question that is too long for the first model is put to the next", async () => {
  const { environment, model, texts, status, say } = await pair();
  await startGateway(environment);
  model.next(modelError(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"));

  await say();

  expect(texts()).toEqual(["Chat said: hello"]);
  expect((await status()).models[0]?.reason).toBeUndefined();
});

test("a model that never answers is given up, and the next one asked", async () => {
  const { environment, model, texts, status, say } = await pair();
  await timed(environment, { modelTimeout: { totalMs: 500, firstChunkMs: 500, chunkMs: 500 } });
  model.next(() => {});

  expect(await say()).toMatchObject({ status: 200 });

  expect(model.calls).toHaveLength(1);
  expect(texts()).toEqual(["Chat said: hello"]);
  expect((await status()).models[0]?.reason).toMatchObject({ code: "model_no_answer" });
});

/** A relay alone, over models that a test scripts. */
function relay(scripts: Record<string, (request: ModelRequest) => Promise<string>>) {
  const pauses: number[] = [];
  const models = Object.entries(scripts).map(([id, script]): { id: string; model: Model } => ({
    id,
    model: {
      answer: async (request) => {
        const text = await script(request);
        return { text, toolCalls: [], model: id, tokens: { input: 1, output: 1 } };
      },
    },
  }));
  const [first, ...others] = models;
  if (first === undefined) throw new Error("no model");
  const silent = () => {};
  const subject = new ModelRelay({
    models: [first, ...others],
    cooldownMs: 60_000,
    usage: new UsageStore(openStore(join(mkdtempSync(join(tmpdir(), "steward-test-")), "state.db"))),
    clock: () => DAY,
    sleep: async (ms) => void pauses.push(ms),
    random: () => 0.5,
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  return { subject, pauses };
}

function question(extra: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: "",
    messages: [{ role: "user", text: "hello" }],
    tools: [],
    maxOutputTokens: 10,
    signal: new AbortController().signal,
    ...extra,
  };
}

const broken = () => new ModelTrouble("model_failed", "broke off", { quick: true });

test("an attempt that starts over says so, and waits a little longer each time", async () => {
  let attempts = 0;
  const { subject, pauses } = relay({
    "a/one": async ({ onText }) => {
      attempts += 1;
      onText?.(`try ${attempts}`);
      throw broken();
    },
    "b/two": async ({ onText }) => {
      onText?.("done");
      return "done";
    },
  });
  const heard: (string | undefined)[] = [];

  const answer = await subject.answer(question({ onText: (delta) => void heard.push(delta) }));

  expect(answer.text).toBe("done");
  expect(heard).toEqual(["try 1", undefined, "try 2", undefined, "try 3", undefined, "done"]);
  expect(pauses).toEqual([650, 1_300]);
});

test("the model that a conversation chose is asked first, and one that is not configured is not", async () => {
  const { subject } = relay({ "a/one": async () => "one", "b/two": async () => "two" });

  expect(await subject.answer(question({ preferred: "b/two" }))).toMatchObject({ model: "b/two" });
  expect(await subject.answer(question({ preferred: "c/three" }))).toMatchObject({ model: "a/one" });
});

test("a question that is ended is not asked again, nor elsewhere, and nothing is held against the model", async () => {
  const controller = new AbortController();
  let asked = 0;
  const script = async (): Promise<string> => {
    asked += 1;
    controller.abort();
    throw broken();
  };
  const { subject } = relay({ "a/one": script, "b/two": script });

  await expect(subject.answer(question({ signal: controller.signal }))).rejects.toThrow("broke off");

  expect(asked).toBe(1);
  expect(subject.health()).toEqual([
    { id: "a/one", state: "unknown" },
    { id: "b/two", state: "unknown" },
  ]);
});
