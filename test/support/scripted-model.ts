import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { listen } from "../../rehearsal/standins/serve.ts";

/** A tool that the model asks for. */
export interface ScriptedCall {
  name: string;
  input: object;
}

/**
 * Stands in for a model that asks for one tool after the other, whatever each came to, and then says "Done.": the
 * stream of https://platform.claude.com/docs/en/build-with-claude/streaming with its tool use. Nothing else is modelled,
 * and any key is taken. What it was sent is kept, body by body.
 */
export async function startScriptedModel(hostname: string, script: readonly ScriptedCall[]) {
  const bodies: string[] = [];
  let next = 0;
  const app = new Hono();
  app.get("/v1/models/:id", (context) => context.json({ type: "model", id: context.req.param("id") }));
  app.post("/v1/messages", async (context) => {
    bodies.push(await context.req.text());
    const call = script[next];
    next += 1;
    return streamSSE(context, async (events) => {
      const send = (type: string, data: object): Promise<void> =>
        events.writeSSE({ event: type, data: JSON.stringify({ type, ...data }) });
      const message = {
        id: `msg_${next}`,
        type: "message",
        role: "assistant",
        model: "scripted",
        content: [],
      };
      const usage = { input_tokens: 10, output_tokens: 1 };
      await send("message_start", { message: { ...message, stop_reason: null, stop_sequence: null, usage } });
      const block = call
        ? { type: "tool_use", id: `toolu_${next}`, name: call.name, input: {} }
        : { type: "text", text: "" };
      await send("content_block_start", { index: 0, content_block: block });
      const delta = call
        ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
        : { type: "text_delta", text: "Done." };
      await send("content_block_delta", { index: 0, delta });
      await send("content_block_stop", { index: 0 });
      const end = { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null };
      await send("message_delta", { delta: end, usage: { output_tokens: 5 } });
      await send("message_stop", {});
    });
  });
  const { url, close } = await listen(app, { hostname, port: 0 });
  return { url, close, bodies };
}
