import type { FinishReason, LanguageModel } from "ai";
import type { Redactor } from "../../contract/redact.ts";
import {
  ModelRefusal,
  ModelTrouble,
  type Model,
  type ModelAnswer,
  type ModelRequest,
  type ToolCall,
} from "./model.ts";
import { toInstructions, toMessages, toTools } from "./prompt.ts";
import { readProviderError } from "./provider-errors.ts";

/** Milliseconds for the whole answer, its first word, and between two words. */
export interface ModelTimeout {
  totalMs: number;
  firstChunkMs: number;
  chunkMs: number;
}

/** A busy model may think for a minute before its first word, and pause as long between two. */
const DEFAULT_TIMEOUT: ModelTimeout = { totalMs: 240_000, firstChunkMs: 90_000, chunkMs: 60_000 };
const CUT_NOTE = "(The answer was cut at its length limit.)";

/** What every provider is made with. */
export interface ProviderOptions {
  /** The provider's own id of the model. */
  modelId: string;
  /** Empty where none is set. */
  apiKey: string;
  /** Where the provider is; empty for its usual address, where it has one. */
  baseUrl: string;
  /** Takes secrets out of what a provider says. */
  redact: Redactor;
  /** Milliseconds since the epoch. */
  clock(): number;
  timeout?: ModelTimeout;
}

/** What differs between two providers. */
export interface StreamedOptions extends Pick<ProviderOptions, "redact" | "clock" | "timeout"> {
  /** `<provider>/<model id>` */
  reference: string;
  /** Loads the provider's library. Called with each question. */
  load(): Promise<LanguageModel>;
}

/**
 * A model behind the `ai` library, streamed. The library takes longer to load than the whole gateway,
 * so it is loaded with the first question. It makes one attempt and one step only: trying again is the
 * relay's and the edge's, running tools the agent's.
 */
export function createStreamedModel(options: StreamedOptions): Model {
  const { reference, load, clock, redact } = options;
  return {
    answer: async (request) => {
      try {
        return await stream(request, options, await Promise.all([import("ai"), load()]));
      } catch (error) {
        throw readProviderError(error, { reference, now: clock(), redact });
      }
    },
  };
}

async function stream(
  request: ModelRequest,
  { reference, timeout = DEFAULT_TIMEOUT }: StreamedOptions,
  [ai, model]: [typeof import("ai"), LanguageModel],
): Promise<ModelAnswer> {
  // The library writes its warnings to the console, which belongs to the log.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const instructions = toInstructions(request, { marks: reference.startsWith("anthropic/") });
  const { fullStream } = ai.streamText({
    model,
    ...(instructions && { instructions }),
    messages: toMessages(request.messages),
    ...(request.tools.length > 0 && { tools: toTools(request.tools, ai) }),
    maxOutputTokens: request.maxOutputTokens,
    maxRetries: 0,
    abortSignal: request.signal,
    timeout,
    // The stream's own error part is read below; the library's default prints it.
    onError: () => {},
  });
  let text = "";
  const calls: (ToolCall & { whole: boolean })[] = [];
  for await (const part of fullStream) {
    switch (part.type) {
      case "text-delta":
        text += part.text;
        request.onText?.(part.text);
        break;
      case "tool-call":
        calls.push({
          id: part.toolCallId,
          name: part.toolName,
          input: part.input,
          whole: part.invalid !== true,
        });
        break;
      case "error":
        throw part.error;
      case "abort":
        throw new ModelTrouble("model_no_answer", `${reference}: ${abortDetail(request.signal)}`);
      case "finish": {
        const { inputTokens = 0, outputTokens = 0 } = part.totalUsage;
        const tokens = { input: inputTokens, output: outputTokens };
        // Behind its tools a model may have nothing to add.
        const mayBeEmpty = request.messages.at(-1)?.role === "tool";
        const answer = whole({ text, calls, finish: part.finishReason, mayBeEmpty }, reference);
        return { ...answer, model: reference, tokens };
      }
    }
  }
  throw brokeOff(reference);
}

function abortDetail(signal: AbortSignal): string {
  return signal.aborted ? "the answer was stopped." : "the model took too long.";
}

function brokeOff(reference: string, how?: string): ModelTrouble {
  const detail = `${reference}: the model's answer broke off${how === undefined ? "" : ` (${how})`}.`;
  return new ModelTrouble("model_failed", detail, { quick: true });
}

/** What came in until the stream's end. */
interface Received {
  text: string;
  calls: readonly (ToolCall & { whole: boolean })[];
  finish: FinishReason;
  mayBeEmpty: boolean;
}

/** An answer that came to its end. A stream that was cut ends here, too, but not well. */
function whole(
  { text, calls, finish, mayBeEmpty }: Received,
  reference: string,
): Pick<ModelAnswer, "text" | "toolCalls"> {
  if (finish === "content-filter") {
    throw new ModelRefusal("model_failed", `${reference}: the model declined to answer.`);
  }
  const cut = finish === "length";
  if (!cut && finish !== "stop" && finish !== "tool-calls") throw brokeOff(reference, finish);
  // A call that the limit cut in two would run with half of its input.
  const kept = calls.filter((call) => call.whole || !cut);
  const toolCalls = kept.map(({ id, name, input }) => ({ id, name, input }));
  if (toolCalls.length > 0) return { text, toolCalls };
  if (text.trim() !== "") return { text: cut ? `${text}\n\n${CUT_NOTE}` : text, toolCalls };
  if (cut) {
    const detail = `${reference}: the answer needs more tokens than models.maxOutputTokens allows.`;
    throw new ModelRefusal("model_failed", detail);
  }
  if (mayBeEmpty) return { text: "", toolCalls };
  throw new ModelTrouble("model_failed", `${reference}: the model's answer was empty.`, { quick: true });
}
