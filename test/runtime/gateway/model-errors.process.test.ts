import { expect, test } from "vitest";
import type { ErrorCode } from "../../../runtime/contract/errors.ts";
import { problem, PROBLEM_TYPE } from "../../../runtime/contract/problem.ts";
import type { Model } from "../../../runtime/gateway/models/model.ts";
import { chatError, chatStream, errorInStream } from "../support/models.ts";
import { json, modelError, modelStream, type Answer } from "../support/platforms.ts";
import { request, anthropic, compatible } from "../support/providers.ts";

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

function fromBroker(code: ErrorCode): Answer {
  const document = problem(code);
  return (response) => {
    response.writeHead(document.status, { "content-type": PROBLEM_TYPE }).end(JSON.stringify(document));
  };
}

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
  ["no answer, told by the broker", fromBroker("broker_no_answer"), { code: "model_no_answer", quick: true }],
  ["a pass of an earlier start", fromBroker("broker_refused"), { code: "model_no_answer", quick: true }],
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

/** Begins a stream and breaks the connection: behind the header, within an event, or behind the first word. */
function brokenBehind(begun: string): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    if (begun !== "") response.write(begun);
    setTimeout(() => response.destroy(), 20);
  };
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function chatEvent(delta: object, finish: string | null = null): string {
  return event({ id: "c", created: 1, choices: [{ index: 0, delta, finish_reason: finish }] });
}

/** Streams these events as they stand. */
function events(...lines: string[]): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(lines.join(""));
  };
}

const PAGE: Answer = (response) => {
  response.writeHead(200, { "content-type": "text/html" }).end("<html><h1>Please log in</h1></html>");
};
const BAD_GATEWAY: Answer = (response) => {
  response.writeHead(502, { "content-type": "text/html" }).end("<html><h1>502 Bad Gateway</h1></html>");
};
const END = "data: [DONE]\n\n";
const BROKEN = { name: "ModelTrouble", code: "model_broke_off", quick: true };
const NOT_STREAMED = { name: "ModelTrouble", code: "model_not_streamed", quick: true };
const LOADING = { error: { message: "the model is loading", code: 503 } };

/** Answers of any provider that are none. */
const NO_ANSWERS: [string, Answer, object][] = [
  [
    "a connection that breaks before the header",
    (response) => void response.destroy(),
    { code: "model_no_answer" },
  ],
  ["a connection that breaks behind the header", brokenBehind(""), BROKEN],
  ["a connection that breaks within an event", brokenBehind('data: {"id'), BROKEN],
  ["a stream without an event", events(), BROKEN],
  ["an event that is no JSON", events('data: {"a":\n\n'), BROKEN],
  ["a web page", PAGE, NOT_STREAMED],
  ["a document that is no answer", json(200, { status: "ok" }), NOT_STREAMED],
  ["an error with the status 200", json(200, LOADING), { code: "model_overloaded", quick: true }],
  ["a page with the status 502", BAD_GATEWAY, { code: "model_overloaded", quick: true }],
];

test("Anthropic: a stream that ends behind a word, without a reason, is no answer", async () => {
  const { model, server } = await anthropic();

  expect(await failure(model, server, modelStream("half an ans", { cut: true }))).toMatchObject(BROKEN);
});

test.each(NO_ANSWERS)("Anthropic: %s is worth another attempt", async (_, answer, expected) => {
  const { model, server } = await anthropic();

  const error = await failure(model, server, answer);

  expect(error).toMatchObject(expected);
  expect(error.message).not.toMatch(/<|normalized|process successful/);
});

test.each([
  ...NO_ANSWERS,
  ["a connection that breaks behind a word", brokenBehind(chatEvent({ content: "half of " })), BROKEN],
  [
    "an error behind a word",
    events(chatEvent({ content: "half of " }), event({ error: { code: 502, message: "disconnected" } }), END),
    { code: "model_overloaded", quick: true },
  ],
  [
    "a refused key behind a word",
    events(chatEvent({ content: "half of " }), event({ error: { code: 401, message: "no such key" } }), END),
    { name: "ModelRefusal", code: "model_key_invalid" },
  ],
  ["an empty text", chatStream(""), { code: "model_empty", quick: true }],
  ["invisible characters", chatStream("\u200b\u2060\ufeff\u00ad\u2800"), { code: "model_empty" }],
] satisfies [string, Answer, object][])(
  "a compatible server: %s is no answer",
  async (_, answer, expected) => {
    const { model, server } = await compatible();

    const error = await failure(model, server, answer);

    expect(error).toMatchObject(expected);
    expect(error.message).not.toMatch(/<|finish reason|process successful/);
  },
);

const WHOLE = { index: 0, message: { role: "assistant", content: "fine" }, finish_reason: "stop" };
const CALL = { id: "c1", type: "function", function: { name: "list_files", arguments: '{"below":"a"}' } };

test.each([
  ["without a finish reason", events(chatEvent({ content: "fine" }), END)],
  ["with an empty finish reason", events(chatEvent({ content: "fine" }), chatEvent({}, ""), END)],
  [
    "with a finish reason that nobody knows",
    events(chatEvent({ content: "fine" }), chatEvent({}, "eos"), END),
  ],
  ["behind comments", events(": busy\n\n", chatEvent({ content: "fine" }), chatEvent({}, "stop"), END)],
  [
    "whose events are labelled as JSON",
    (response) => {
      const stream = [chatEvent({ content: "fine" }), chatEvent({}, "stop"), END].join("");
      response.writeHead(200, { "content-type": "application/json" }).end(stream);
    },
  ],
  ["in one piece, although a stream was asked for", json(200, { choices: [WHOLE], usage: {} })],
  ["that refuses in its own words", events(chatEvent({ refusal: "fine" }), chatEvent({}, "stop"), END)],
] satisfies [string, Answer][])("a compatible server's answer %s is one", async (_, answer) => {
  const { model, server } = await compatible();
  server.next(answer);

  await expect(model.answer(request())).resolves.toMatchObject({ text: "fine", toolCalls: [] });
});

test("calls of tools are taken from an answer in one piece, of either provider", async () => {
  const openai = await compatible();
  const claude = await anthropic();
  const message = { role: "assistant", content: null, tool_calls: [CALL] };
  openai.server.next(json(200, { choices: [{ message, finish_reason: "tool_calls" }] }));
  const use = { type: "tool_use", id: "c1", name: "list_files", input: { below: "a" } };
  const content = [{ type: "text", text: "Let me look." }, use];
  const usage = { input_tokens: 3, output_tokens: 4 };
  claude.server.next(
    json(200, {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content,
      stop_reason: "tool_use",
      usage,
    }),
  );
  const toolCalls = [{ id: "c1", name: "list_files", input: { below: "a" } }];

  await expect(openai.model.answer(request())).resolves.toMatchObject({ toolCalls });
  await expect(claude.model.answer(request())).resolves.toMatchObject({
    text: "Let me look.",
    toolCalls,
    tokens: { input: 3, output: 4 },
  });
});

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
