import { expect, test } from "vitest";
import { createAnthropicModel } from "../../../runtime/gateway/models/anthropic.ts";
import type { Model, ModelRequest } from "../../../runtime/gateway/models/model.ts";
import { createOpenAiCompatibleModel } from "../../../runtime/gateway/models/openai-compatible.ts";
import { chatError, chatStream, errorInStream, startChatModel, toolUseStream } from "../support/models.ts";
import { modelError, startModel, type Answer } from "../support/platforms.ts";

const OPTIONS = { apiKey: "sk-test-key", redact: (text: string) => text, clock: () => 0 };
const WEATHER = {
  name: "weather",
  description: "The weather of a place.",
  inputSchema: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
};
const CALL = { id: "call_1", name: "weather", input: { place: "Ulm" } };
const PNG = { mediaType: "image/png", data: new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]) };

function request(extra: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: "Be brief.",
    messages: [{ role: "user", text: "hello" }],
    tools: [],
    maxOutputTokens: 100,
    signal: new AbortController().signal,
    ...extra,
  };
}

async function anthropic() {
  const server = await startModel();
  const model = createAnthropicModel({ ...OPTIONS, modelId: "claude-test", baseUrl: server.url });
  return {
    server,
    model,
    sent: () => JSON.parse(server.calls.at(-1)?.body ?? "") as Record<string, unknown>,
  };
}

async function compatible() {
  const server = await startChatModel();
  const model = createOpenAiCompatibleModel({
    ...OPTIONS,
    provider: "acme",
    modelId: "org/gpt-test",
    baseUrl: server.baseUrl,
  });
  return {
    server,
    model,
    sent: () => JSON.parse(server.calls.at(-1)?.body ?? "") as Record<string, unknown>,
  };
}

/** A whole round of tools: what was asked, the calls, their results. */
const ROUND: Partial<ModelRequest> = {
  tools: [WEATHER],
  messages: [
    { role: "user", text: "What is this, and the weather?", images: [PNG] },
    { role: "assistant", text: "I look.", toolCalls: [CALL, { ...CALL, id: "call_2", input: "{broken" }] },
    {
      role: "tool",
      results: [
        { id: "call_1", name: "weather", output: "Rain", failed: false },
        { id: "call_2", name: "weather", output: "The input is not valid.", failed: true },
      ],
    },
  ],
};

test("Anthropic gets tools, images, calls and results in its form", async () => {
  const { model, sent, server } = await anthropic();

  await model.answer(request(ROUND));

  expect(server.calls[0]?.path).toBe("/v1/messages");
  expect(sent()).toMatchObject({
    model: "claude-test",
    max_tokens: 100,
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    tools: [{ name: "weather", description: WEATHER.description, input_schema: WEATHER.inputSchema }],
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
          { type: "text", text: "What is this, and the weather?" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "call_1", name: "weather", input: { place: "Ulm" } },
          { type: "tool_use", id: "call_2", name: "weather", input: { input: "{broken" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: "Rain" },
          { type: "tool_result", tool_use_id: "call_2", content: "The input is not valid.", is_error: true },
        ],
      },
    ],
  });
});

test("what differs from question to question comes behind what the provider keeps", async () => {
  const circumstances = "It is noon.";
  const claude = await anthropic();
  await claude.model.answer(request({ circumstances }));
  expect(claude.sent()["system"]).toEqual([
    { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
    { type: "text", text: circumstances },
  ]);

  const other = await compatible();
  await other.model.answer(request({ circumstances }));
  expect(other.sent()["messages"]).toMatchObject([
    { role: "system", content: "Be brief.\n\nIt is noon." },
    { role: "user" },
  ]);
});

test("a compatible server gets tools, images, calls and results in OpenAI's form", async () => {
  const { model, sent, server } = await compatible();

  await model.answer(request(ROUND));

  expect(server.calls[0]).toMatchObject({
    path: "/v1/chat/completions",
    headers: { authorization: "Bearer sk-test-key" },
  });
  const call = (id: string, input: string) => ({
    id,
    type: "function",
    function: { name: "weather", arguments: input },
  });
  expect(sent()).toMatchObject({
    model: "org/gpt-test",
    max_tokens: 100,
    stream: true,
    tools: [{ type: "function", function: { name: "weather", parameters: WEATHER.inputSchema } }],
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
          { type: "text", text: "What is this, and the weather?" },
        ],
      },
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [call("call_1", '{"place":"Ulm"}'), call("call_2", '{"input":"{broken"}')],
      },
      { role: "tool", tool_call_id: "call_1", content: "Rain" },
      { role: "tool", tool_call_id: "call_2", content: "The input is not valid." },
    ],
  });
});

test("calls of tools come back with the text before them, its pieces, and the tokens", async () => {
  const first = await anthropic();
  const second = await compatible();
  first.server.next(toolUseStream([CALL, { ...CALL, id: "call_2", input: {} }], "I look."));
  second.server.next(chatStream("I look.", [CALL, { ...CALL, id: "call_2", input: {} }]));
  const toolCalls = [CALL, { ...CALL, id: "call_2", input: {} }];

  for (const { model, expected } of [
    { model: first.model, expected: { model: "anthropic/claude-test", tokens: { input: 472, output: 89 } } },
    { model: second.model, expected: { model: "acme/org/gpt-test", tokens: { input: 21, output: 7 } } },
  ]) {
    let pieces = "";
    const onText = (delta: string | undefined): void => void (pieces += delta);
    const answer = await model.answer(request({ tools: [WEATHER], onText }));
    expect(answer).toEqual({ text: "I look.", toolCalls, ...expected });
    expect(pieces).toBe("I look.");
  }
});

test("a call that the length limit cut in two is not handed on", async () => {
  const { model, server } = await anthropic();
  server.next(toolUseStream([CALL], "I look.", "max_tokens"), toolUseStream([CALL], "", "max_tokens"));

  const answer = await model.answer(request({ tools: [WEATHER] }));

  expect(answer).toMatchObject({ text: expect.stringContaining("cut at its length limit"), toolCalls: [] });
  await expect(model.answer(request({ tools: [WEATHER] }))).rejects.toMatchObject({
    name: "ModelRefusal",
    message: expect.stringContaining("models.maxOutputTokens"),
  });
});

test("a call that the length limit cut before its input is not handed on with an empty one", async () => {
  const { model, server } = await anthropic();
  const begun = { ...CALL, id: "call_2", input: {} };
  server.next(toolUseStream([begun], "I look.", "max_tokens"));

  const answer = await model.answer(request({ tools: [WEATHER] }));

  expect(answer).toMatchObject({ text: expect.stringContaining("cut at its length limit"), toolCalls: [] });
});

test("a compatible server's cut stream is a failure", async () => {
  const { model, server } = await compatible();
  server.next(chatStream("half an ans", [], { cut: true }));

  await expect(model.answer(request())).rejects.toMatchObject({ name: "ModelTrouble", quick: true });
});

test("a question that is ended early fails as retryable", async () => {
  const { model, server } = await anthropic();
  const controller = new AbortController();
  server.next(() => controller.abort());

  await expect(model.answer(request({ signal: controller.signal }))).rejects.toMatchObject({
    name: "ModelTrouble",
    code: "model_no_answer",
  });
});

const ANTHROPIC_ERRORS: [string, Answer, object][] = [
  ["401", modelError(401, "authentication_error", "invalid x-api-key"), { code: "model_key_invalid" }],
  ["403", modelError(403, "permission_error", "not allowed"), { code: "model_key_invalid" }],
  ["404", modelError(404, "not_found_error", "model: claude-test"), { code: "model_not_available" }],
  [
    "413",
    modelError(413, "request_too_large", "too large"),
    { code: "model_context_exceeded", tooLong: true },
  ],
  [
    "no credit",
    modelError(400, "invalid_request_error", "Your credit balance is too low"),
    { code: "model_quota_exhausted" },
  ],
  [
    "too long",
    modelError(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    { code: "model_context_exceeded", tooLong: true },
  ],
  [
    "400",
    modelError(400, "invalid_request_error", "no such field"),
    { code: "model_failed", tooLong: false },
  ],
  [
    "429",
    modelError(429, "rate_limit_error", "slow down", { "retry-after": "120" }),
    { code: "model_rate_limited", status: 429, retryAfterMs: 120_000, quick: false },
  ],
  ["500", modelError(500, "api_error", "oops"), { code: "model_overloaded", quick: true }],
  ["529", modelError(529, "overloaded_error", "Overloaded"), { code: "model_overloaded", quick: true }],
  [
    "529 inside a stream",
    errorInStream("overloaded_error", "Overloaded"),
    { code: "model_overloaded", quick: true },
  ],
  [
    "429 inside a stream",
    errorInStream("rate_limit_error", "slow"),
    { code: "model_rate_limited", status: 429 },
  ],
];

const COMPATIBLE_ERRORS: [string, Answer, object][] = [
  [
    "401",
    chatError(401, "invalid_api_key", "Incorrect API key provided: sk-te*****-key."),
    { code: "model_key_invalid" },
  ],
  ["404", chatError(404, "model_not_found", "The model does not exist"), { code: "model_not_available" }],
  [
    "429",
    chatError(429, "rate_limit_exceeded", "Rate limit reached", { "retry-after": "20" }),
    { code: "model_rate_limited", status: 429, retryAfterMs: 20_000 },
  ],
  [
    "no credit",
    chatError(429, "insufficient_quota", "You exceeded your current quota"),
    { name: "ModelRefusal", code: "model_quota_exhausted" },
  ],
  [
    "too long",
    chatError(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens."),
    { code: "model_context_exceeded", tooLong: true },
  ],
  ["500", chatError(500, null, "The server had an error"), { code: "model_overloaded", quick: true }],
];

async function failure(model: Model, server: { next(answer: Answer): void }, answer: Answer): Promise<Error> {
  server.next(answer);
  return model.answer(request()).then(
    () => expect.fail("answered"),
    (error: Error) => error,
  );
}

test.each(ANTHROPIC_ERRORS)("Anthropic's error is read: %s", async (_, answer, expected) => {
  const { model, server } = await anthropic();

  expect(await failure(model, server, answer)).toMatchObject(expected);
});

test.each(COMPATIBLE_ERRORS)("a compatible server's error is read: %s", async (_, answer, expected) => {
  const { model, server } = await compatible();

  const error = await failure(model, server, answer);

  expect(error).toMatchObject(expected);
  expect(error.message).toMatch(/^acme\/org\/gpt-test: /);
});

test("a provider's words are short and quote no key, not even a part of it", async () => {
  const { model, server } = await compatible();

  const quoted = await failure(
    model,
    server,
    chatError(401, "invalid_api_key", "Incorrect API key provided: sk-te*****t-key. Find yours."),
  );
  const whole = await failure(
    model,
    server,
    chatError(401, "invalid_api_key", "Incorrect API key provided: gsk_1234. Find yours."),
  );
  const long = await failure(model, server, chatError(400, null, "word ".repeat(500)));

  expect(quoted.message).not.toMatch(/sk-te|t-key/);
  expect(whole.message).not.toContain("gsk_1234");
  expect(quoted.message).toContain("Find yours.");
  expect(long.message.length).toBeLessThan(340);
});
