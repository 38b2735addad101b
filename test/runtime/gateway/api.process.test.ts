import { expect, test } from "vitest";
import { startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { json, modelError, modelStream } from "../support/platforms.ts";

const TOKEN = "gateway-token-of-the-tests-0123";

async function started(others: object = { gateway: { token: { env: "GATEWAY_TOKEN" } } }) {
  const around = await surroundings();
  await writeConfig(around.home, {}, others);
  const gateway = await startGateway({ ...around.environment, GATEWAY_TOKEN: TOKEN });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${around.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}`, ...headers },
      body: JSON.stringify(body),
    });
  return { ...around, gateway, post };
}

const USER = { role: "user", content: "hello" };

test("without the gateway token, or one in the config, every route is closed in its own form", async () => {
  const closed = await started({});
  const open = await started();
  for (const [{ post, url }, authorization] of [
    [closed, `Bearer ${TOKEN}`],
    [closed, "Bearer "],
    [open, "Bearer wrong"],
  ] as const) {
    const completion = await post(
      "/v1/chat/completions",
      { model: "steward", messages: [USER] },
      { authorization },
    );
    expect(completion.status).toBe(401);
    expect(await completion.json()).toMatchObject({ error: { code: "invalid_api_key" } });
    expect((await fetch(`${url}/v1/models`, { headers: { authorization } })).status).toBe(401);
    const hook = await post("/hooks/agent", { message: "hello" }, { authorization });
    expect(hook.status).toBe(401);
    expect(await hook.json()).toMatchObject({ code: "gateway_token_refused" });
  }
  expect(open.model.calls).toEqual([]);
});

test("a completion is relayed whole, with the caller's own messages and instructions", async () => {
  const { post, model, url } = await started();
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "one" },
    { role: "assistant", content: "two" },
    { role: "user", content: [{ type: "text", text: "three" }] },
  ];
  const response = await post("/v1/chat/completions", { model: "steward", messages, temperature: 0 });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    object: "chat.completion",
    choices: [
      { index: 0, message: { role: "assistant", content: "You said: three" }, finish_reason: "stop" },
    ],
    usage: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 },
  });
  expect(model.asked()).toEqual([["user: one", "assistant: two", "user: three"]]);
  expect(model.calls[0]?.body).toContain("Be brief.");
  const models = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const { data } = (await models.json()) as { data: { id: string }[] };
  expect(data[0]?.id).toBe("steward");
  expect(data[1]?.id).toMatch(/^anthropic\//);
});

test("a completion is streamed piece by piece", async () => {
  const { post, model } = await started();
  model.next(modelStream("one two three"));
  const options = { stream: true, stream_options: { include_usage: true } };
  const response = await post("/v1/chat/completions", { model: "steward", messages: [USER], ...options });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const lines = (await response.text()).split("\n\n").filter((line) => line !== "");
  expect(lines.at(-1)).toBe("data: [DONE]");
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.replace("data: ", "")));
  const deltas = chunks.flatMap(({ choices }) =>
    choices.map((one: { delta: { content?: string } }) => one.delta),
  );
  expect(deltas[0]).toEqual({ role: "assistant", content: "one " });
  expect(deltas.map(({ content }) => content ?? "").join("")).toBe("one two three");
  expect(chunks.at(-2).choices[0].finish_reason).toBe("stop");
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 46 } });
});

test("what goes wrong is told in OpenAI's form, before the first piece with its own status", async () => {
  const { post, model } = await started();
  const ask = (body: object) => post("/v1/chat/completions", { model: "steward", messages: [USER], ...body });
  expect((await ask({ model: "unknown/model" })).status).toBe(404);
  expect((await ask({ messages: [] })).status).toBe(400);
  expect((await ask({ messages: [{ role: "assistant", content: "me first" }] })).status).toBe(400);
  const tools = await ask({ tools: [{ type: "function" }] });
  expect(tools.status).toBe(400);
  expect(((await tools.json()) as { error: { message: string } }).error.message).toContain("not supported");
  expect(model.calls).toEqual([]);

  model.next(modelError(401, "authentication_error", "invalid x-api-key"));
  const refused = await ask({ stream: true });
  expect(refused.status).toBe(502);
  expect(await refused.json()).toMatchObject({ error: { type: "server_error" } });
});

test("a hook runs the agent and gives the text, once for a key that comes again", async () => {
  const { post, model } = await started();
  const key = { "idempotency-key": "job-1" };
  const first = await post("/hooks/agent", { message: "how is it?", name: "monitor" }, key);
  expect(await first.json()).toEqual({ id: "hook-job-1", text: "You said: how is it?", delivered: false });
  expect((await post("/hooks/agent", { message: "how is it?", name: "monitor" }, key)).status).toBe(200);
  expect(model.calls).toHaveLength(1);
  const wrong = await post("/hooks/agent", { message: "x", nonsense: 1 });
  expect(wrong.status).toBe(400);
  expect(wrong.headers.get("content-type")).toBe("application/problem+json");
});

test("a hook that the model refuses ends with the error, and says nothing in the chat", async () => {
  const { post, model, slack } = await started();
  model.next(modelError(401, "authentication_error", "invalid x-api-key"));

  const refused = await post("/hooks/agent", {
    message: "how is it?",
    to: { platform: "slack", chat: "C1" },
  });

  expect(refused.status).toBeGreaterThanOrEqual(500);
  expect(await refused.json()).toMatchObject({ code: "model_key_invalid" });
  expect(slack.posts()).toEqual([]);
});

test("a hook whose key comes again speaks once, and goes on where Slack took no more", async () => {
  const { post, slack, model } = await started();
  const call = { message: `tell ${"word ".repeat(1_200)}`, to: { platform: "slack", chat: "C7" } };
  const ask = (key: string) => post("/hooks/agent", call, { "idempotency-key": key });

  expect(await (await ask("job-1")).json()).toMatchObject({ delivered: true });
  const parts = slack.posts().length;
  expect(parts).toBeGreaterThan(1);
  expect(await (await ask("job-1")).json()).toMatchObject({ delivered: true });
  expect(slack.posts()).toHaveLength(parts);

  slack.next(json(200, { ok: true, ts: "1.2" }), json(503, {}));
  expect((await ask("job-2")).status).toBe(503);
  expect((await ask("job-2")).status).toBe(200);
  expect(slack.posts()).toHaveLength(2 * parts + 1);
  expect(model.calls).toHaveLength(2);
});

test("a hook speaks in the chat that it names, a wake where the heartbeat goes", async () => {
  const heartbeat = { every: "24h", to: { platform: "slack", chat: "CHEART" } };
  const { post, slack } = await started({ gateway: { token: TOKEN }, agent: { heartbeat } });
  const to = { platform: "slack", chat: "C7" };
  const answer = await post("/hooks/agent", { message: "deployed", to });
  expect(await answer.json()).toMatchObject({ delivered: true });
  expect((await post("/hooks/wake", { message: "look" })).status).toBe(200);
  expect(slack.posts()).toMatchObject([
    { channel: "C7", text: "You said: deployed" },
    { channel: "CHEART", text: "You said: look" },
  ]);
  expect((await post("/hooks/agent", { message: "x", to: { ...to, platform: "telegram" } })).status).toBe(
    403,
  );
});
