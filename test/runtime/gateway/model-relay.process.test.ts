import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ModelRelay } from "../../../runtime/gateway/models/relay.ts";
import { ModelTrouble, type Model, type ModelRequest } from "../../../runtime/gateway/models/model.ts";
import { prompt } from "../../../runtime/gateway/prompt/text.ts";
import { UsageStore } from "../../../runtime/gateway/models/usage.ts";
import { openStore } from "../../../runtime/gateway/store.ts";
import { startGateway } from "../support/gateway.ts";
import { chatError } from "../support/models.ts";
import { modelError, modelStream } from "../support/platforms.ts";
import { PRIMARY, FALLBACK, DAY, pair, timed, overloaded } from "../support/model-pair.ts";

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

  expect(texts()[0]).toContain("no credit left");
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
  await timed(environment, { modelTimeout: { totalMs: 5_000, firstChunkMs: 5_000, chunkMs: 5_000 } });
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
    instructions: prompt``,
    messages: [{ role: "user", text: prompt`hello` }],
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
