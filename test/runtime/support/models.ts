import { json, startScripted, words, type Answer, type StreamFault } from "./platforms.ts";

/** A call of a tool as a provider streams it. */
export interface StreamedCall {
  id: string;
  name: string;
  input: object;
}

/**
 * Streams calls of tools in Anthropic's form, behind a text where there is one
 * (https://docs.claude.com/en/docs/build-with-claude/streaming#streaming-request-with-tool-use).
 * `stopReason` "max_tokens" cuts the last call's input in two.
 */
export function toolUseStream(calls: StreamedCall[], text = "", stopReason = "tool_use"): Answer {
  return (response) => {
    const send = (type: string, data: object): void => {
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    };
    const usage = { input_tokens: 472, output_tokens: 2 };
    const message = { id: "msg_2", type: "message", role: "assistant", model: "m", content: [], usage };
    response.writeHead(200, { "content-type": "text/event-stream" });
    send("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } });
    send("ping", {});
    const blocks = text === "" ? 0 : 1;
    if (text !== "") {
      send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
      send("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
      send("content_block_stop", { index: 0 });
    }
    for (const [at, { id, name, input }] of calls.entries()) {
      const index = blocks + at;
      const whole = JSON.stringify(input);
      const written = stopReason === "max_tokens" ? whole.slice(0, -2) : whole;
      send("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } });
      for (const partial_json of ["", written.slice(0, 4), written.slice(4)]) {
        send("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
      }
      send("content_block_stop", { index });
    }
    const delta = { stop_reason: stopReason, stop_sequence: null };
    send("message_delta", { delta, usage: { output_tokens: 89 } });
    send("message_stop", {});
    response.end();
  };
}

/** An error event inside a stream that had begun (https://docs.claude.com/en/docs/build-with-claude/streaming#error-events). */
export function errorInStream(type: string, message: string): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const usage = { input_tokens: 1, output_tokens: 1 };
    const start = { id: "msg_3", type: "message", role: "assistant", model: "m", content: [], usage };
    const events = [
      { type: "message_start", message: { ...start, stop_reason: null, stop_sequence: null } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Half an " } },
      { type: "error", error: { type, message } },
    ];
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  };
}

/** Streams an answer as OpenAI's chat completions do (https://platform.openai.com/docs/api-reference/chat-streaming). */
export function chatStream(text: string, calls: StreamedCall[] = [], fault: StreamFault = {}): Answer {
  return async (response) => {
    const base = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_795_000_000, model: "m" };
    const send = (data: object): void =>
      void response.write(`data: ${JSON.stringify({ ...base, ...data })}\n\n`);
    const choice = (delta: object, finish_reason: string | null = null): void =>
      send({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (fault.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    choice({ role: "assistant", content: "" });
    for (const word of text.split(/(?<= )/).filter((piece) => piece !== "")) choice({ content: word });
    if (fault.cut) return void response.end();
    for (const [index, { id, name, input }] of calls.entries()) {
      const whole = JSON.stringify(input);
      choice({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
      choice({ tool_calls: [{ index, function: { arguments: whole.slice(0, 4) } }] });
      choice({ tool_calls: [{ index, function: { arguments: whole.slice(4) } }] });
    }
    choice({}, fault.stopReason ?? (calls.length > 0 ? "tool_calls" : "stop"));
    send({ choices: [], usage: { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28 } });
    response.end("data: [DONE]\n\n");
  };
}

/** Answers an error in OpenAI's form (https://platform.openai.com/docs/guides/error-codes). */
export function chatError(status: number, code: string | null, message: string, headers = {}): Answer {
  const type = status === 429 ? code : "invalid_request_error";
  return json(status, { error: { message, type, param: null, code } }, headers);
}

interface ChatCall {
  model: string;
  messages: { role: string; content: unknown }[];
}

/** Stands in for a server that speaks OpenAI's chat completions; usually it repeats the last message. */
export async function startChatModel(models: string[] = ["gpt-test"]) {
  const server = await startScripted(async (response, call) => {
    const request = JSON.parse(call.body) as ChatCall;
    const last = request.messages.at(-1)?.content;
    const text = typeof last === "string" ? words(last) : JSON.stringify(last);
    await chatStream(`Chat said: ${text}`)(response, call);
  });
  const data = models.map((id) => ({ id, object: "model", created: 1, owned_by: "test" }));
  server.catalog(json(200, { object: "list", data }));
  /** The questions that it was asked. */
  const questions = (): ChatCall[] => server.calls.map(({ body }) => JSON.parse(body) as ChatCall);
  return { ...server, baseUrl: `${server.url}/v1`, questions };
}
