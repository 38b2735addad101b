import type { Answer } from "./platforms.ts";

/**
 * Streams a call of a tool in Anthropic's form
 * (https://docs.claude.com/en/api/messages-streaming#streaming-request-with-tool-use).
 */
export function modelToolUse(id: string, name: string, input: object): Answer {
  return (response) => {
    const send = (type: string, data: object): void => {
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const usage = { input_tokens: 12, output_tokens: 1 };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
    send("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } });
    send("content_block_start", { index: 0, content_block: { type: "tool_use", id, name, input: {} } });
    const text = JSON.stringify(input);
    for (const piece of [text.slice(0, 5), text.slice(5)]) {
      send("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: piece } });
    }
    send("content_block_stop", { index: 0 });
    send("message_delta", {
      delta: { stop_reason: "tool_use", stop_sequence: null },
      usage: { output_tokens: 34 },
    });
    send("message_stop", {});
    response.end();
  };
}
