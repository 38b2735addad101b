import type { FinishReason } from "ai";
import { RetryableError } from "../failure.ts";
import { readAnthropicError } from "./anthropic-errors.ts";
import { ModelRefusal, type Model, type ModelAnswer, type ModelRequest } from "./model.ts";

const DEFAULT_BASE_URL = "https://api.anthropic.com";
/** A busy model may think for a minute before its first word, and pause as long between two. */
const DEFAULT_TIMEOUT = { totalMs: 240_000, firstChunkMs: 90_000, chunkMs: 60_000 };
const CUT_NOTE = "(The answer was cut at its length limit.)";

/** How to reach Anthropic. */
export interface AnthropicOptions {
  /** Empty where the operator set none: every question is then refused with the fix. */
  apiKey: string;
  /** An origin without `/v1`, as ANTHROPIC_BASE_URL gives it; empty for Anthropic's own. */
  baseUrl: string;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Milliseconds for the whole answer, its first word, and between two words. */
  timeout?: { totalMs: number; firstChunkMs: number; chunkMs: number };
}

/**
 * Anthropic's Messages API, streamed (https://docs.claude.com/en/api/messages-streaming).
 *
 * The client library takes longer to load than the whole gateway, so it is loaded with the first
 * question. It makes one attempt only: waiting and trying again is the edge's, where it survives
 * a restart.
 */
export function createAnthropicModel(options: AnthropicOptions): Model {
  const { apiKey, baseUrl, clock, timeout = DEFAULT_TIMEOUT } = options;
  const origin = (baseUrl || DEFAULT_BASE_URL).replace(/\/+$/, "").replace(/\/v1$/, "");

  const ask = async (request: ModelRequest): Promise<ModelAnswer> => {
    const [{ streamText }, { createAnthropic }] = await Promise.all([
      import("ai"),
      import("@ai-sdk/anthropic"),
    ]);
    const provider = createAnthropic({ apiKey, baseURL: `${origin}/v1` });
    const { fullStream } = streamText({
      model: provider(request.model),
      instructions: request.instructions,
      messages: request.messages.map(({ role, text }) => ({ role, content: text })),
      maxOutputTokens: request.maxOutputTokens,
      maxRetries: 0,
      abortSignal: request.signal,
      timeout,
      // The stream's own error part is read below; the library's default prints it.
      onError: () => {},
    });
    let text = "";
    for await (const part of fullStream) {
      if (part.type === "text-delta") text += part.text;
      if (part.type === "error") throw part.error;
      if (part.type === "abort") throw new RetryableError("model_overloaded", "The model took too long.");
      if (part.type === "finish") {
        const { inputTokens = 0, outputTokens = 0 } = part.totalUsage;
        return { text: whole(text, part.finishReason), tokens: { input: inputTokens, output: outputTokens } };
      }
    }
    throw new RetryableError("model_failed", "The model's answer broke off.");
  };

  return {
    answer: async (request) => {
      if (apiKey === "") throw new ModelRefusal("model_key_invalid", "ANTHROPIC_API_KEY is not set.");
      try {
        return await ask(request);
      } catch (error) {
        throw readAnthropicError(error, request.model, clock());
      }
    },
  };
}

/** The text of an answer that came to its end. A stream that was cut ends here, too, but not well. */
function whole(text: string, finish: FinishReason): string {
  if (finish === "content-filter") throw new ModelRefusal("model_failed", "The model declined to answer.");
  if (finish !== "stop" && finish !== "length") {
    throw new RetryableError("model_failed", `The model's answer broke off (${finish}).`);
  }
  if (text.trim() === "") throw new RetryableError("model_failed", "The model's answer was empty.");
  return finish === "length" ? `${text}\n\n${CUT_NOTE}` : text;
}
