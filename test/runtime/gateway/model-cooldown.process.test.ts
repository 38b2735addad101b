import { expect, test } from "vitest";
import { startGateway } from "../support/gateway.ts";
import { chatError } from "../support/models.ts";
import { modelError, modelStream } from "../support/platforms.ts";
import { PRIMARY, pair, timed, overloaded } from "../support/model-pair.ts";

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
  expect(texts()).toEqual([expect.stringContaining("rate limit is reached"), "At last."]);
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
  pass(50_000);
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
