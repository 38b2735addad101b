import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as z from "zod/mini";
import type { Config } from "../../contract/config/index.ts";
import { textUpTo } from "../../contract/config/values.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { RetryableError } from "../failure.ts";
import type { ModelImage, Model, ModelAnswer, ModelMessage, ModelRequest } from "../models/model.ts";
import { callerText } from "../prompt/caller.ts";
import { type GatewayTokenOptions, requireGatewayToken } from "./gateway-token.ts";

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const imagePart = z.object({
  type: z.literal("image_url"),
  image_url: z.object({
    url: z
      .string()
      .check(
        z.regex(
          /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/,
          "must be a data: URL of an image",
        ),
      ),
  }),
});
const texts = z.union([z.string(), z.array(textPart)]);
const message = z.discriminatedUnion("role", [
  z.object({ role: z.enum(["system", "developer"]), content: texts }),
  z.object({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(z.union([textPart, imagePart]))]),
  }),
  z.object({ role: z.literal("assistant"), content: texts }),
]);

/**
 * Supported fields of a chat completion request (https://platform.openai.com/docs/api-reference/chat/create).
 * Requests with tools are refused, because ignoring the tools would change the answer.
 */
const completionSchema = z.object({
  model: textUpTo(200),
  messages: z.array(message).check(z.minLength(1), z.maxLength(1_000)),
  stream: z.nullish(z.boolean()),
  stream_options: z.nullish(z.object({ include_usage: z.nullish(z.boolean()) })),
  max_tokens: z.nullish(z.int().check(z.minimum(1))),
  max_completion_tokens: z.nullish(z.int().check(z.minimum(1))),
  n: z.nullish(z.literal(1, "must be 1")),
  tools: z.nullish(z.array(z.unknown()).check(z.maxLength(0, "tools of the caller are not supported"))),
});

/** Maximum size of a request body in bytes, including images in base64. */
const LONGEST_BODY = 20 * 1024 * 1024;
/** Model name that callers use to try the configured models in order. */
const DEFAULT_MODEL = "steward";

export interface CompletionsOptions extends GatewayTokenOptions {
  parts(): { config: Config; models: Model };
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * Creates the `/v1` routes, compatible with OpenAI (https://platform.openai.com/docs/api-reference/chat). They relay
 * requests to the configured models and fallbacks, store nothing and use no tools or workspace. A request without
 * instructions uses the agent's instructions.
 */
export function completions(options: CompletionsOptions): Hono {
  const { parts, clock, log } = options;
  const app = new Hono();
  app.use(
    "*",
    requireGatewayToken(options, () => refusal(401, "The gateway token is not valid.", "invalid_api_key")),
  );

  app.get("/models", (context) => {
    const data = [DEFAULT_MODEL, ...configured(parts().config)].map((id) => ({
      id,
      object: "model",
      created: 0,
      owned_by: id.includes("/") ? id.slice(0, id.indexOf("/")) : DEFAULT_MODEL,
    }));
    return context.json({ object: "list", data });
  });

  app.post(
    "/chat/completions",
    bodyLimit({ maxSize: LONGEST_BODY, onError: () => refusal(413, "The body is larger than 20 MiB.") }),
    async (context) => {
      const body: unknown = await context.req.json().catch(() => undefined);
      const parsed = completionSchema.safeParse(body);
      if (!parsed.success) return refusal(400, z.prettifyError(parsed.error));
      const { config, models } = parts();
      const wanted = parsed.data.model;
      if (wanted !== DEFAULT_MODEL && !configured(config).includes(wanted)) {
        return refusal(404, `The model ${wanted} is not configured.`, "model_not_found");
      }
      const { instructions, messages } = readMessages(parsed.data);
      if (messages[0]?.role !== "user") return refusal(400, "messages must begin with a user's message.");
      const most = parsed.data.max_completion_tokens ?? parsed.data.max_tokens ?? Infinity;
      const request: Omit<ModelRequest, "signal"> = {
        instructions: callerText(instructions || config.agent.instructions),
        messages,
        tools: [],
        maxOutputTokens: Math.min(most, config.models.maxOutputTokens),
        ...(wanted !== DEFAULT_MODEL && { preferred: wanted }),
      };
      const head = {
        id: `chatcmpl-${crypto.randomUUID()}`,
        created: Math.floor(clock() / 1_000),
        model: wanted,
      };
      const { signal } = context.req.raw;
      if (parsed.data.stream) return stream(models, { ...request, signal }, head, parsed.data, log);
      const answer = await models.answer({ ...request, signal });
      const message = { role: "assistant", content: answer.text, refusal: null };
      return context.json({
        ...head,
        model: answer.model,
        object: "chat.completion",
        choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
        usage: usageOf(answer),
      });
    },
  );

  app.notFound(() => refusal(404, "No route has this address."));
  app.onError((error) => errorResponse(error, log));
  return app;
}

/** Streams an answer. Rejects if the model fails before producing any text. */
async function stream(
  models: Model,
  request: ModelRequest,
  head: { id: string; created: number; model: string },
  { stream_options }: Completion,
  log: Log,
): Promise<Response> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  const gone = new AbortController();
  const begun = Promise.withResolvers<void>();
  writer.closed.catch(() => gone.abort());
  let sent = "";
  const write = (data: object | string): void => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    writer.write(encoder.encode(`data: ${text}\n\n`)).catch(() => gone.abort());
  };
  const chunk = (delta: object, finish: string | null): void =>
    write({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    });
  const piece = (text: string): void => {
    if (text === "") return;
    chunk(sent === "" ? { role: "assistant", content: text } : { content: text }, null);
    sent += text;
    begun.resolve();
  };
  const restarted = new RetryableError("model_failed", "The model's answer broke off and started over.");
  const onText = (delta: string | undefined): void => {
    if (delta !== undefined) piece(delta);
    // Sent text cannot be retracted, so abort if the answer starts over.
    else if (sent !== "") gone.abort(restarted);
  };
  const signal = AbortSignal.any([request.signal, gone.signal]);
  const run = async (): Promise<void> => {
    try {
      const answer = await models.answer({ ...request, signal, onText });
      // Send the rest of the answer, such as the note that it was cut.
      if (answer.text.startsWith(sent)) piece(answer.text.slice(sent.length));
      chunk({}, "stop");
      if (stream_options?.include_usage) {
        write({ ...head, object: "chat.completion.chunk", choices: [], usage: usageOf(answer) });
      }
      write("[DONE]");
    } catch (error) {
      if (sent === "") throw error;
      const { message, status } = readError(gone.signal.aborted ? restarted : error, log);
      write(errorObject(status, message));
    }
    await writer.close().catch(() => undefined);
  };
  const finished = run();
  await Promise.race([begun.promise, finished]);
  return new Response(readable, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  });
}

function configured({ models }: Config): string[] {
  return [...new Set([models.primary, ...models.fallbacks])];
}

function usageOf({ tokens: { input, output } }: ModelAnswer): object {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function readError(error: unknown, log: Log): { status: number; message: string; retryAfterMs?: number } {
  if (error instanceof RetryableError) {
    const { status, message, retryAfterMs } = error;
    return { status, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
  // Not 401 or 403, which would suggest that the caller's own token is wrong.
  if (error instanceof StewardError) return { status: 502, message: `${error.message} ${error.reason.fix}` };
  log.error("request failed", { error: String(error) });
  return { status: 500, message: "Internal error." };
}

function errorResponse(error: unknown, log: Log): Response {
  const { status, message, retryAfterMs } = readError(error, log);
  const headers =
    retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) };
  return refusal(status, message, undefined, headers);
}

/** OpenAI's error object: https://platform.openai.com/docs/guides/error-codes */
function errorObject(status: number, message: string, code: string | null = null): object {
  const type = status === 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message, type, param: null, code } };
}

function refusal(
  status: number,
  message: string,
  code?: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json(errorObject(status, message, code ?? null), { status, headers });
}

type Completion = z.infer<typeof completionSchema>;

/** `instructions` may be empty. */
interface CallerPrompt {
  instructions: string;
  messages: ModelMessage[];
}

function readMessages({ messages }: Completion): CallerPrompt {
  const instructions: string[] = [];
  const said: ModelMessage[] = [];
  for (const { role, content } of messages) {
    const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    const images = parts.flatMap((part) =>
      part.type === "image_url" ? [readImage(part.image_url.url)] : [],
    );
    if (role === "user") said.push({ role, text: callerText(text), ...(images.length > 0 && { images }) });
    else if (role === "assistant") said.push({ role, text: callerText(text) });
    else instructions.push(text);
  }
  return { instructions: instructions.join("\n\n"), messages: said };
}

function readImage(url: string): ModelImage {
  const comma = url.indexOf(",");
  const mediaType = url.slice("data:".length, url.indexOf(";"));
  return { mediaType, data: Buffer.from(url.slice(comma + 1), "base64") };
}
