import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { GatewayStatus } from "../../../runtime/contract/control.ts";
import { askJson, deliver, delivery, startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { chatError, startChatModel } from "../support/models.ts";
import { eventually } from "../support/processes.ts";
import { json, modelError, type Answer } from "../support/platforms.ts";

const ID = "anthropic/claude-sonnet-4-5";

/** Starts a gateway and waits until its log says what the probe found of every model. */
async function probed(around: Awaited<ReturnType<typeof surroundings>>, models = 1) {
  const gateway = await startGateway(around.environment);
  await eventually(() => gateway.stdout().split('"model probed"').length > models);
  const status = await askJson<GatewayStatus>(`${around.url}/status`);
  return { gateway, status };
}

test("the status tells that key and model are right before anyone has asked", async () => {
  const around = await surroundings();

  const { status } = await probed(around);

  expect(status.models).toEqual([{ id: ID, state: "ready" }]);
  expect(around.model.catalogCalls).toMatchObject([
    {
      path: "/v1/models/claude-sonnet-4-5",
      headers: { "x-api-key": around.environment["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01" },
    },
  ]);
  expect(around.model.calls).toHaveLength(0);
});

test("a wrong key is in the status at once; the gateway runs, and a good answer takes it back", async () => {
  const around = await surroundings();
  around.model.catalog(modelError(401, "authentication_error", "invalid x-api-key"));

  const { status } = await probed(around);

  expect(status.models).toMatchObject([{ id: ID, state: "failing", reason: { code: "model_key_invalid" } }]);
  expect(status.model.reason).toMatchObject({ code: "model_key_invalid" });
  expect(await deliver(around.url, delivery("Ev1"))).toMatchObject({ status: 200 });
  expect((await askJson<GatewayStatus>(`${around.url}/status`)).models).toEqual([{ id: ID, state: "ready" }]);
});

test.each<[string, Answer, object]>([
  [
    "a model that the account has not",
    modelError(404, "not_found_error", "model: x"),
    { state: "failing", reason: { code: "model_not_available" } },
  ],
  ["a proxy without the route", json(404, { message: "no route" }), { state: "unknown" }],
  [
    "a server error",
    modelError(500, "api_error", "oops"),
    { state: "failing", reason: { code: "model_overloaded" } },
  ],
])("%s", async (_, answer, expected) => {
  const around = await surroundings();
  around.model.catalog(answer);

  expect((await probed(around)).status.models).toMatchObject([expected]);
});

test("a provider that never answers the probe delays neither the start, nor an answer, nor the end", async () => {
  const around = await surroundings();
  around.model.catalog(() => {});
  const gateway = await startGateway(around.environment);

  await eventually(() => around.model.catalogCalls.length > 0);
  expect(await deliver(around.url, delivery("Ev1"))).toMatchObject({ status: 200 });
  gateway.kill("SIGTERM");

  expect(await gateway.exited).toBe(0);
});

test("compatible servers are asked for their list", async () => {
  const around = await surroundings();
  const [right, wrong, without] = [await startChatModel(), await startChatModel(), await startChatModel()];
  wrong.catalog(chatError(401, "invalid_api_key", "Incorrect API key provided: wrong*****6789."));
  without.catalog(json(404, {}));
  const providers = {
    right: { baseUrl: right.baseUrl },
    wrong: { baseUrl: wrong.baseUrl, apiKey: "wrong-key-0123456789" },
    without: { baseUrl: `${without.baseUrl}/` },
  };
  const fallbacks = ["right/other", "wrong/gpt-test", "without/gpt-test"];
  await writeConfig(around.home, {}, { models: { primary: "right/gpt-test", fallbacks, providers } });

  const { status, gateway } = await probed(around, 4);

  expect(status.models).toMatchObject([
    { id: "right/gpt-test", state: "ready" },
    { id: "right/other", state: "failing", reason: { code: "model_not_available" } },
    { id: "wrong/gpt-test", state: "failing", reason: { code: "model_key_invalid" } },
    { id: "without/gpt-test", state: "unknown" },
  ]);
  expect(right.catalogCalls[0]?.headers.authorization).toBeUndefined();
  expect(gateway.stdout() + JSON.stringify(status)).not.toMatch(/wrong-key|6789/);
});

test("a second provider's key goes into the first config file, by its name alone", async () => {
  const around = await surroundings();
  const chat = await startChatModel();
  Object.assign(around.environment, {
    ANTHROPIC_API_KEY: "",
    OPENAI_API_KEY: "sk-second-0123456789",
    OPENAI_BASE_URL: chat.baseUrl,
  });

  const { status } = await probed(around);
  await deliver(around.url, delivery("Ev1"));

  const text = await readFile(join(around.home, "steward.json"), "utf8");
  expect(JSON.parse(text)).toMatchObject({
    models: { providers: { openai: { baseUrl: chat.baseUrl, apiKey: { env: "OPENAI_API_KEY" } } } },
  });
  expect(text).not.toContain("sk-second");
  expect(status.models[0]?.reason?.detail).toContain("models.primary");
  expect(around.slack.posts()[0]?.text).toContain("name one of its models in models.primary");
});
