import { expect, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { createAnthropicModel } from "../../../runtime/gateway/models/providers.ts";
import { prompt } from "../../../runtime/gateway/prompt/text.ts";
import { modelError, modelStream, startModel } from "../support/platforms.ts";
import { askJson, deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";

async function running(extra: Record<string, string> = {}, channel: object = {}) {
  const around = await surroundings();
  await writeConfig(around.home, channel);
  await startGateway({ ...around.environment, ...extra });
  return around;
}

test("a wrong key is told in the chat, with the fix, and in the status", async () => {
  const { url, model, slack } = await running();
  model.next(modelError(401, "authentication_error", "invalid x-api-key"));

  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ status: 200, answer: { outcome: "failed" } });

  expect(slack.posts()[0]?.text).toContain("Invalid API key provided");
  expect(slack.posts()[0]?.text).toContain("Correct ANTHROPIC_API_KEY");
  const status = await askJson<GatewayStatus>(`${url}/status`);
  expect(status.model.reason).toMatchObject({ code: "model_key_invalid" });
  expect(await deliver(url, delivery("Ev2"))).toMatchObject({ status: 200 });
  expect((await askJson<GatewayStatus>(`${url}/status`)).model.reason).toBeUndefined();
});

test("a key that is not set is told without asking the provider", async () => {
  const { url, model, slack } = await running({ ANTHROPIC_API_KEY: "" });

  await deliver(url, delivery("Ev1"));

  expect(slack.posts()[0]?.text).toContain("ANTHROPIC_API_KEY is not set");
  expect(model.calls).toHaveLength(0);
});

test("a model that is not available is told in the chat", async () => {
  const { url, model, slack } = await running();
  model.next(modelError(404, "not_found_error", "model: claude-sonnet-4-5"));

  await deliver(url, delivery("Ev1"));

  expect(slack.posts()[0]?.text).toContain("Model not available (anthropic/claude-sonnet-4-5");
});

test("a short rate limit is waited for", async () => {
  const { url, model, slack } = await running();
  model.next(modelError(429, "rate_limit_error", "slow down", { "retry-after": "2" }));
  const before = Date.now();

  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ status: 200, answer: { outcome: "answered" } });

  expect(Date.now() - before).toBeGreaterThan(1_900);
  expect(slack.posts().map(({ text }) => text)).toEqual(["You said: hello"]);
});

test("a long rate limit is not waited for: the event is kept until then, the provider is left alone", async () => {
  const { url, model, slack } = await running();
  model.next(modelError(429, "rate_limit_error", "slow down", { "retry-after": "120" }));

  const first = await deliver(url, delivery("Ev1"));
  const second = await deliver(url, delivery("Ev2", { channel: "C2" }));

  expect(first).toMatchObject({ status: 429, retryAfter: "120", answer: { code: "model_rate_limited" } });
  expect(second).toMatchObject({ status: 429, answer: { code: "model_rate_limited" } });
  expect(Number(second.retryAfter)).toBeGreaterThan(90);
  expect(model.calls).toHaveLength(1);
  // Each of the two people is told once.
  expect(
    slack.posts().map(({ channel, text }) => [channel, text?.includes("rate limit is reached")]),
  ).toEqual([
    ["C1", true],
    ["C2", true],
  ]);
  expect((await askJson<GatewayStatus>(`${url}/status`)).models).toMatchObject([
    { id: "anthropic/claude-sonnet-4-5", state: "cooling", until: expect.any(String) },
  ]);
});

test.each([
  ["a server error", modelError(500, "api_error", "oops"), "model_overloaded"],
  ["an overload", modelError(529, "overloaded_error", "Overloaded"), "model_overloaded"],
  ["a stream that breaks off", modelStream("half an ans", { cut: true }), "model_broke_off"],
  ["an empty answer", modelStream(""), "model_empty"],
])("%s is tried again: at once, then by the edge; the chat is told once", async (_, answer, code) => {
  const { url, model, slack } = await running({}, { streamMode: "off" });
  model.next(answer, answer, answer);

  expect(await deliver(url, delivery("Ev1"))).toMatchObject({
    status: 503,
    answer: { code },
    retryAfter: null,
  });
  expect(model.calls).toHaveLength(3);
  const notice = slack.posts().map(({ text }) => text);
  expect(notice).toEqual([expect.stringContaining("I cannot answer yet")]);
  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ status: 200 });
  expect(model.asked()[3]).toEqual(["user: hello"]);

  model.next(answer, answer);
  expect(await deliver(url, delivery("Ev2"))).toMatchObject({ status: 200 });
  expect(slack.posts().map(({ text }) => text)).toEqual([...notice, "You said: hello", "You said: hello"]);
});

test("a provider out of reach is tried again", async () => {
  const { url } = await running({ ANTHROPIC_BASE_URL: "http://127.0.0.1:9" });

  expect(await deliver(url, delivery("Ev1"))).toMatchObject({
    status: 503,
    answer: { code: "model_no_answer" },
  });
});

test("an answer cut at its length limit is sent, and says so", async () => {
  const { url, model, slack } = await running();
  model.next(modelStream("a long story", { stopReason: "max_tokens" }));

  await deliver(url, delivery("Ev1"));

  expect(slack.posts()[0]?.text).toBe("a long story\n\n(The answer was cut at its length limit.)");
});

test("a conversation that is too long is shortened until the provider takes it", async () => {
  const { url, model, slack } = await running();
  for (const id of ["Ev1", "Ev2", "Ev3"]) await deliver(url, delivery(id, { text: `<@UBOT> ${id}` }));
  const tooLong = modelError(
    400,
    "invalid_request_error",
    "prompt is too long: 210000 tokens > 200000 maximum",
  );
  model.next(tooLong, tooLong);

  expect(await deliver(url, delivery("Ev4", { text: "<@UBOT> Ev4" }))).toMatchObject({ status: 200 });

  expect(
    model
      .asked()
      .slice(3)
      .map(({ length }) => length),
  ).toEqual([7, 3, 1]);
  expect(slack.posts()[3]?.text).toBe("You said: Ev4");
});

test("a single message that is too long is told in the chat", async () => {
  const { url, model, slack } = await running();
  model.next(modelError(413, "request_too_large", "Request exceeds the maximum size"));

  expect(await deliver(url, delivery("Ev1"))).toMatchObject({ status: 200 });

  expect(slack.posts()[0]?.text).toContain("longer than the model can read");
});

test("a refused request is told in the chat with the provider's words", async () => {
  const { url, model, slack } = await running();
  model.next(modelError(400, "invalid_request_error", "Your credit balance is too low"));

  await deliver(url, delivery("Ev1"));

  expect(slack.posts()[0]?.text).toContain("Your credit balance is too low");
});

test("a model that hangs is given up after its time", async () => {
  const server = await startModel();
  const options = {
    modelId: "claude-test",
    apiKey: "sk-ant-test",
    baseUrl: `${server.url}/v1`,
    redact: (text: string) => text,
    report: () => {},
    clock: Date.now,
  };
  const request = {
    instructions: prompt``,
    tools: [],
    messages: [{ role: "user", text: prompt`hello` }] as const,
    maxOutputTokens: 10,
    signal: new AbortController().signal,
  };

  // The first answer loads what a request needs, so that the time below is the provider's alone.
  await createAnthropicModel(options).answer(request);
  const timeout = { totalMs: 3_000, firstChunkMs: 3_000, chunkMs: 3_000 };
  const model = createAnthropicModel({ ...options, timeout });
  server.next(modelStream("too late", { delayMs: 60_000 }));

  await expect(model.answer(request)).rejects.toMatchObject({ code: "model_no_answer", status: 503 });
  expect(server.calls.map(({ path }) => path)).toEqual(["/v1/messages", "/v1/messages"]);
});
