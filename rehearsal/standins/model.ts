import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import * as z from "zod";
import { listen, type Listening, type ListenOptions } from "./serve.ts";

/** Maximum base64 length of one image: https://docs.claude.com/en/docs/build-with-claude/vision */
const MAX_IMAGE = 5 * 1024 * 1024;

const source = z.looseObject({ data: z.string().optional() });
const content = z.union([
  z.string(),
  z.array(z.looseObject({ type: z.string(), text: z.string().optional(), source: source.optional() })),
]);
const requestSchema = z.looseObject({
  model: z.string(),
  max_tokens: z.number().int().positive(),
  stream: z.boolean().optional(),
  messages: z.array(z.looseObject({ role: z.enum(["user", "assistant"]), content })).min(1),
});

const LISTED = "claude-sonnet-4-5";

/** Milliseconds between words at a readable pace. */
export const READABLE_WORD_MS = 60;

export interface ModelOptions extends ListenOptions {
  apiKey: string;
  /** Milliseconds before a reply begins. Default: none. */
  delayMs?(): number;
  /**
   * Milliseconds between words of a streamed reply. Default: 0. If above 0, replies contain additional text for
   * demonstrations.
   */
  wordMs?: number;
}

/** Maximum number of characters that a reply quotes: enough for all messages of a batch. */
const QUOTED = 3_000;

/** Returns a reply that names the stand-in and quotes the text. */
function standInReply(text: string): string {
  return `The stand-in model read ${text.length} characters: “${text.slice(0, QUOTED)}”`;
}

/** Appended to a slowly written reply. */
const MORE = `

A real model would answer here: set ANTHROPIC_API_KEY before npm start to ask one. This text only has to be long enough
that you can watch it grow. The gateway edits its message about once a second while the words arrive, as it does on the
real platforms, and the last edit holds the whole answer.`.replaceAll(/(?<=.)\n(?=.)/g, " ");

/**
 * Starts a stand-in for Anthropic's Messages API (https://platform.claude.com/docs/en/build-with-claude/streaming)
 * and models API (https://docs.claude.com/en/api/models). Every model id exists. Not modelled: tools, image content,
 * caching, most limits, real token counts.
 */
export async function startModel(options: ModelOptions): Promise<Listening> {
  const app = new Hono();
  app.get("/", (context) => context.text("Stand-in for the model provider (rehearsal only)."));
  app.use("/v1/*", async (context, next) => {
    if (context.req.header("x-api-key") === options.apiKey) return next();
    return context.json(failure("authentication_error", "invalid x-api-key"), 401);
  });
  app.get("/v1/models", (context) =>
    context.json({ data: [modelInfo(LISTED)], has_more: false, first_id: LISTED, last_id: LISTED }),
  );
  app.get("/v1/models/:id", (context) => context.json(modelInfo(context.req.param("id"))));
  app.post("/v1/messages", async (context) => {
    const parsed = requestSchema.safeParse(await context.req.json().catch(() => undefined));
    if (!parsed.success)
      return context.json(failure("invalid_request_error", z.prettifyError(parsed.error)), 400);
    const { model, messages, stream } = parsed.data;
    const large = messages.flatMap(imageSizes).find((size) => size > MAX_IMAGE);
    if (large !== undefined) {
      const message = `image exceeds 5 MB maximum: ${large} bytes > ${MAX_IMAGE} bytes`;
      return context.json(failure("invalid_request_error", message), 400);
    }
    const delayMs = options.delayMs?.() ?? 0;
    if (delayMs > 0) await sleep(delayMs);
    const last = messages.findLast((message) => message.role === "user");
    const { wordMs = 0 } = options;
    const reply = standInReply(words(textOf(last?.content ?? ""))) + (wordMs > 0 ? MORE : "");
    const usage = { input_tokens: tokens(JSON.stringify(messages)), output_tokens: tokens(reply) };
    const message = { id: `msg_${crypto.randomUUID()}`, type: "message", role: "assistant", model };
    if (stream !== true) {
      const whole = {
        content: [{ type: "text", text: reply }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage,
      };
      return context.json({ ...message, ...whole });
    }
    return streamSSE(context, async (events) => {
      const send = (type: string, data: object): Promise<void> =>
        events.writeSSE({ event: type, data: JSON.stringify({ type, ...data }) });
      const start = {
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usage, output_tokens: 1 },
      };
      await send("message_start", { message: { ...message, ...start } });
      await send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
      for (const text of reply.match(/\S+\s*/g) ?? []) {
        await send("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
        if (wordMs > 0) await sleep(wordMs);
      }
      await send("content_block_stop", { index: 0 });
      const delta = { stop_reason: "end_turn", stop_sequence: null };
      await send("message_delta", { delta, usage: { output_tokens: usage.output_tokens } });
      await send("message_stop", {});
    });
  });
  return listen(app, options);
}

function modelInfo(id: string): object {
  return { type: "model", id, display_name: `${id} (stand-in)`, created_at: "2026-01-01T00:00:00Z" };
}

function failure(type: string, message: string): object {
  return { type: "error", error: { type, message } };
}

function imageSizes({ content: parts }: { content: z.infer<typeof content> }): number[] {
  if (typeof parts === "string") return [];
  return parts.flatMap(({ type, source: given }) => (type === "image" ? (given?.data?.length ?? 0) : []));
}

function textOf(value: z.infer<typeof content>): string {
  return typeof value === "string" ? value : value.map(({ text = "" }) => text).join("\n");
}

/** Removes the speaker's name, with which the gateway prefixes messages in groups. */
function words(text: string): string {
  return text.replace(/^\[[^\]\n]+\]: /gm, "");
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}
