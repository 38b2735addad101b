import { isRecord, parseJson } from "../../shared/json.ts";

/**
 * Converts a non-streamed answer (one document) into stream events; returns `undefined` if the answer is incomplete.
 */
export type ToEvents = (answer: Record<string, unknown>) => object[] | undefined;

/** Error for a response that is not an event stream. `body` is the parsed body if it was JSON. */
export class NoStreamError extends Error {
  readonly body: unknown;

  constructor(message: string, body?: unknown) {
    super(message);
    this.name = "NoStreamError";
    this.body = body;
  }
}

/** Maximum size, in bytes, of one event, or of a complete answer that replaces the stream. */
const LARGEST_BYTES = 8 * 1024 * 1024;
const END = "[DONE]";
const FINISHED = /"finish_reason":\s*"/;

/**
 * Wraps `fetch` for a client that expects an event stream. Converts a JSON answer with `toEvents`. Throws if a
 * successful response is a web page, or JSON that `toEvents` rejects.
 */
export function toStreamingFetch(
  toEvents: ToEvents,
  fetch: typeof globalThis.fetch,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok || response.body === null) return response;
    if (type.includes("html")) {
      await response.body.cancel();
      throw new NoStreamError("the address answers with a web page");
    }
    if (!type.includes("json")) return response;
    const received = await readText(response.body);
    const answer = parseJson(received);
    // Some servers label an event stream as JSON.
    if (answer === undefined) return eventStream(received);
    const events = isRecord(answer) ? toEvents(answer) : undefined;
    if (events === undefined) {
      throw new NoStreamError("the address answers with a document, not with a stream", answer);
    }
    return eventStream(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  };
}

function eventStream(text: string): Response {
  return new Response(text, { status: 200, headers: { "content-type": "text/event-stream" } });
}

/**
 * Adds a finish reason before `[DONE]` if the server omits it. Otherwise, the client would report a truncated answer.
 */
export function withFinishReason(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok || response.body === null) return response;
    const { status, headers } = response;
    const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(addFinishReason());
    return new Response(body.pipeThrough(new TextEncoderStream()), { status, headers });
  };
}

function addFinishReason(): TransformStream<string, string> {
  let line = "";
  let isFinished = false;
  return new TransformStream({
    transform(piece, controller) {
      const lines = `${line}${piece}`.split("\n");
      line = lines.pop() ?? "";
      if (line.length > LARGEST_BYTES) throw new Error("an event of the stream is too large");
      for (const one of lines) {
        isFinished ||= FINISHED.test(one);
        if (!isFinished && one.startsWith("data:") && one.slice(5).trim() === END) {
          controller.enqueue(`data: ${JSON.stringify(chatEvent({}, "stop"))}\n\n`);
        }
        controller.enqueue(`${one}\n`);
      }
    },
    flush(controller) {
      controller.enqueue(line);
    },
  });
}

/**
 * Converts a complete chat completion (https://platform.openai.com/docs/api-reference/chat/object) to stream
 * events.
 */
export function fromChatCompletion({ choices, usage }: Record<string, unknown>): object[] | undefined {
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isRecord(choice) || !isRecord(choice["message"])) return undefined;
  const { tool_calls: calls, ...message } = choice["message"];
  const numbered = Array.isArray(calls)
    ? calls.filter(isRecord).map((call, index) => Object.assign({ index }, call))
    : undefined;
  const reason = typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : "stop";
  return [
    chatEvent({ ...message, ...(numbered && { tool_calls: numbered }) }, null),
    { ...chatEvent({}, reason), ...(isRecord(usage) && { usage }) },
  ];
}

function chatEvent(delta: object, finishReason: string | null): object {
  return { object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

/** Converts a complete Anthropic message (https://docs.claude.com/en/api/messages) to stream events. */
export function fromMessage(message: Record<string, unknown>): object[] | undefined {
  const { content, stop_reason: reason, stop_sequence: sequence = null, usage } = message;
  if (message["type"] !== "message" || !Array.isArray(content)) return undefined;
  const blocks = (content as unknown[]).filter(isRecord).flatMap((block, index) => {
    const isTool = block["type"] === "tool_use";
    const delta = isTool
      ? { type: "input_json_delta", partial_json: JSON.stringify(block["input"] ?? {}) }
      : { type: "text_delta", text: block["text"] ?? "" };
    const begun = isTool ? { ...block, input: {} } : { type: "text", text: "" };
    return [
      { type: "content_block_start", index, content_block: begun },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ];
  });
  return [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    ...blocks,
    {
      type: "message_delta",
      delta: { stop_reason: reason ?? "end_turn", stop_sequence: sequence },
      usage: isRecord(usage) ? usage : { output_tokens: 0 },
    },
    { type: "message_stop" },
  ];
}

/**
 * Reads a body as text.
 *
 * @throws NoStreamError if the body is larger than {@link LARGEST_BYTES}
 */
async function readText(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > LARGEST_BYTES) throw new NoStreamError("the address answers with a large document");
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}
