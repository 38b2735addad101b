import { expect, test } from "vitest";
import type { ModelRequest } from "../../../runtime/gateway/models/model.ts";
import { prompt } from "../../../runtime/gateway/prompt/text.ts";
import { chatStream, toolUseStream } from "../support/models.ts";
import { modelStream } from "../support/platforms.ts";
import { request, anthropic, compatible } from "../support/providers.ts";

const WEATHER = {
  name: "weather",
  description: prompt`The weather of a place.`,
  inputSchema: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
};

const CALL = { id: "call_1", name: "weather", input: { place: "Ulm" } };

const PNG = { mediaType: "image/png", data: new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]) };

/** A whole round of tools: what was asked, the calls, their results. */
const ROUND: Partial<ModelRequest> = {
  tools: [WEATHER],
  messages: [
    { role: "user", text: prompt`What is this, and the weather?`, images: [PNG] },
    {
      role: "assistant",
      text: prompt`I look.`,
      toolCalls: [CALL, { ...CALL, id: "call_2", input: "{broken" }],
    },
    {
      role: "tool",
      results: [
        { id: "call_1", name: "weather", output: prompt`Rain`, failed: false },
        { id: "call_2", name: "weather", output: prompt`The input is not valid.`, failed: true },
      ],
    },
  ],
};

test("Anthropic gets a PDF as a document", async () => {
  const { model, sent } = await anthropic();
  const pdf = { mediaType: "application/pdf", data: Buffer.from("%PDF-1.7"), pages: 1 };

  await model.answer(request({ messages: [{ role: "user", text: prompt`Sum?`, images: [pdf] }] }));

  expect(sent()["messages"]).toMatchObject([
    {
      content: [
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjc=" },
        },
        { type: "text", text: "Sum?" },
      ],
    },
  ]);
});

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
          { type: "text", text: prompt`What is this, and the weather?` },
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

/** A round whose tool gives two pictures. */
const PICTURES: Partial<ModelRequest> = {
  messages: [
    { role: "user", text: prompt`Draw.` },
    { role: "assistant", text: prompt``, toolCalls: [CALL] },
    {
      role: "tool",
      results: [
        { id: "call_1", name: "weather", output: prompt`Two.`, images: [PNG, PNG], failed: false },
        { id: "call_2", name: "weather", output: prompt`None.`, failed: false },
      ],
      caption: prompt`[#gateway]: The pictures.`,
    },
  ],
};

test("a tool's pictures are part of its result at Anthropic", async () => {
  const { model, sent } = await anthropic();
  await model.answer(request(PICTURES));
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
  const content = [{ type: "text", text: "Two." }, image, image];
  expect(sent()["messages"]).toMatchObject([
    {},
    {},
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_1", content },
        { type: "tool_result", tool_use_id: "call_2", content: "None." },
      ],
    },
  ]);
});

test("a tool's pictures follow all results where these take text only", async () => {
  const { model, sent } = await compatible();
  await model.answer(request(PICTURES));
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  expect(sent()["messages"]).toMatchObject([
    { role: "system" },
    { role: "user", content: "Draw." },
    { role: "assistant" },
    { role: "tool", tool_call_id: "call_1", content: "Two." },
    { role: "tool", tool_call_id: "call_2", content: "None." },
    { role: "user", content: [image, image, { type: "text", text: "[#gateway]: The pictures." }] },
  ]);
});

test("what differs from question to question comes behind what the provider keeps", async () => {
  const circumstances = prompt`It is noon.`;
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
          { type: "text", text: prompt`What is this, and the weather?` },
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

test("reasoning is looked for in the text of servers that may send it there, and not of Anthropic", async () => {
  const text = "<think>\nfirst\n</think>\nAsk so.";
  const [first, second] = [await anthropic(), await compatible()];
  first.server.next(modelStream(text));
  second.server.next(chatStream(text));
  expect((await first.model.answer(request())).text).toBe(text);
  expect((await second.model.answer(request())).text).toBe("Ask so.");
});

test("a first answer that may be reasoning is shown when it is whole, and the next as it comes", async () => {
  const { model, server } = await compatible();
  const shown: (string | undefined)[] = [];
  const ask = () => model.answer(request({ onText: (delta) => shown.push(delta) }));
  server.next(chatStream("One two."), chatStream("One two."));
  await ask();
  expect(shown).toEqual(["One two."]);
  await ask();
  expect(shown.slice(1).join("")).toBe("One two.");
  expect(shown.length).toBeGreaterThan(2);
});
