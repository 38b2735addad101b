import { expect, test } from "vitest";
import type { ErrorCode } from "../../../runtime/contract/errors.ts";
import { problem, PROBLEM_TYPE } from "../../../runtime/contract/problem.ts";
import type { Model } from "../../../runtime/gateway/models/model.ts";
import { chatError, chatStream, errorInStream } from "../support/models.ts";
import { modelError, type Answer } from "../support/platforms.ts";
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
