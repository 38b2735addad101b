import type { LanguageModelV4, LanguageModelV4FinishReason } from "@ai-sdk/provider";
import type { Redactor } from "../../shared/redact.ts";
import {
  ModelRefusal,
  ModelTrouble,
  type Model,
  type ModelAnswer,
  type ModelRequest,
  type ToolCall,
} from "./model.ts";
import type { Report } from "../contract-report.ts";
import { toInstructions, toMessages, toTools } from "./prompt.ts";
import { answerInterruptedError, readProviderError } from "./provider-errors.ts";
import { type Added, createReasoningFilter, type ReasoningFilter } from "./reasoning.ts";

type FinishReason = LanguageModelV4FinishReason["unified"];

const CUT_NOTE = "(The answer was cut at its length limit.)";

export interface ProviderOptions {
  modelId: string;
  /** Empty if none is set. */
  apiKey: string;
  /** The provider's URL; empty for its default. */
  baseUrl: string;
  redact: Redactor;
  report: Report;
  clock(): number;
  timeout?: ModelTimeout;
}

export interface StreamedOptions extends Pick<ProviderOptions, "redact" | "report" | "clock" | "timeout"> {
  /** `<provider>/<model id>` */
  reference: string;
  /** True if the provider may include reasoning in the text. */
  reasonsInText: boolean;
  /** Loads the provider's client library. Called again only if loading failed. */
  load(): Promise<LanguageModelV4>;
}

/**
 * Creates a model that streams through its provider's client library, loaded with the first request. Never retries:
 * the relay and the edge do.
 */
export function createStreamedModel(options: StreamedOptions): Model {
  const { reference, reasonsInText, load, clock, redact, report } = options;
  // True once it is known that the model's text contains no reasoning. With `reasonsInText`, this starts as false:
  // reasoning may begin without an opening tag, so only a complete answer can be known to contain none.
  let isPlain = !reasonsInText;
  let loading: Promise<LanguageModelV4> | undefined;
  const client = (): Promise<LanguageModelV4> => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    answer: async (request) => {
      const patience = new ModelDeadline(request.signal, options.timeout);
      try {
        const reasoning = reasonsInText ? createReasoningFilter() : undefined;
        const answer = await stream(
          { request, reference, patience, reasoning, isPlain, report },
          await client(),
        );
        isPlain ||= reasoning?.hasEnded === false;
        return answer;
      } catch (error) {
        if (patience.signal.aborted) throw noAnswer(request.signal, reference);
        throw readProviderError(error, { reference, now: clock(), redact });
      } finally {
        patience.end();
      }
    },
  };
}

interface Streaming {
  request: ModelRequest;
  reference: string;
  patience: ModelDeadline;
  /** Filter that removes reasoning from the text. Absent if the provider sends reasoning separately. */
  reasoning: ReasoningFilter | undefined;
  /** True if text may be shown immediately, without waiting for reasoning to end. */
  isPlain: boolean;
  report: Report;
}

async function stream(
  { request, reference, patience, reasoning, isPlain, report }: Streaming,
  model: LanguageModelV4,
): Promise<ModelAnswer> {
  const isAnthropics = reference.startsWith("anthropic/");
  const { stream: parts } = await model.doStream({
    prompt: [
      ...toInstructions(request, { marks: isAnthropics }),
      ...toMessages(request.messages, { picturesInResults: isAnthropics }),
    ],
    ...(request.tools.length > 0 && { tools: toTools(request.tools), toolChoice: { type: "auto" } }),
    maxOutputTokens: request.maxOutputTokens,
    abortSignal: patience.signal,
  });
  let text = "";
  const calls: ReceivedCall[] = [];
  let held = "";
  const add = ({ text: added, startsOver }: Added, mayShow: boolean): void => {
    if (startsOver) {
      [text, held] = ["", ""];
      request.onText?.(undefined);
    }
    text += added;
    held += added;
    if (held === "" || !mayShow) return;
    request.onText?.(held);
    held = "";
  };
  for await (const part of parts) {
    // Do not renew the time limit for these two parts: client libraries emit them before the server responds.
    if (part.type !== "stream-start" && part.type !== "response-metadata") patience.renew();
    switch (part.type) {
      case "text-delta":
        if (reasoning === undefined) add({ text: part.delta, startsOver: false }, true);
        else add(reasoning.push(part.delta), isPlain || reasoning.hasEnded);
        break;
      case "tool-call":
        calls.push({ id: part.toolCallId, name: part.toolName, ...readInput(part.input) });
        break;
      case "error":
        throw part.error;
      case "finish": {
        if (reasoning !== undefined) add(reasoning.end(), true);
        const { inputTokens, outputTokens } = part.usage;
        const tokens = { input: inputTokens.total ?? 0, output: outputTokens.total ?? 0 };
        // After tool calls, a model may have nothing to add.
        const mayBeEmpty = request.messages.at(-1)?.role === "tool";
        const { unified, raw } = part.finishReason;
        // An unknown finish reason counts as an end, since some servers invent reasons. A missing reason means a
        // truncated answer.
        const finish = unified === "other" && raw !== undefined ? "stop" : unified;
        if (unified === "other") report("stream", `${reference}: finish reason ${raw ?? "none"}`);
        const answer = requireComplete({ text, calls, finish, mayBeEmpty }, reference);
        return { ...answer, model: reference, tokens };
      }
    }
  }
  throw answerInterruptedError(reference);
}

/** `whole` is true if the input is complete JSON. */
type ReceivedCall = ToolCall & { whole: boolean };

function readInput(text: string): Pick<ReceivedCall, "input" | "whole"> {
  try {
    return { input: text.trim() === "" ? {} : (JSON.parse(text) as unknown), whole: true };
  } catch {
    return { input: text, whole: false };
  }
}

/** Returns true if a call's input is not empty. Client libraries replace a missing input with an empty object. */
function hasInput({ input }: ToolCall): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length > 0;
}

function noAnswer(signal: AbortSignal, reference: string): ModelTrouble {
  const how = signal.aborted ? "the answer was stopped." : "the model took too long.";
  return new ModelTrouble("model_no_answer", `${reference}: ${how}`);
}

/** Returns true if the text has a visible character. Platforms refuse messages without one. */
function isVisible(text: string): boolean {
  return /[^\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

interface Received {
  text: string;
  calls: readonly ReceivedCall[];
  finish: FinishReason;
  mayBeEmpty: boolean;
}

/**
 * Checks that an answer is complete.
 *
 * @throws if the answer was cut off or is unusable.
 */
function requireComplete(
  { text, calls, finish, mayBeEmpty }: Received,
  reference: string,
): Pick<ModelAnswer, "text" | "toolCalls"> {
  if (finish === "content-filter" && !isVisible(text)) {
    throw new ModelRefusal("model_failed", `${reference}: the model declined to answer.`);
  }
  const cut = finish === "length";
  const isEnd = cut || finish === "stop" || finish === "tool-calls" || finish === "content-filter";
  if (!isEnd) throw answerInterruptedError(reference, { how: finish });
  // Drop a call that the token limit cut off, because its input is incomplete or missing.
  const kept = calls.filter((call, at) => !cut || (call.whole && (at < calls.length - 1 || hasInput(call))));
  const toolCalls = kept.map(({ id, name, input }) => ({ id, name, input }));
  if (toolCalls.length > 0) return { text, toolCalls };
  if (isVisible(text)) return { text: cut ? `${text}\n\n${CUT_NOTE}` : text, toolCalls };
  if (cut) {
    const detail = `${reference}: the answer needs more tokens than models.maxOutputTokens allows.`;
    throw new ModelRefusal("model_failed", detail);
  }
  if (mayBeEmpty) return { text: "", toolCalls };
  throw new ModelTrouble("model_empty", `${reference}: the model's answer was empty.`, { quick: true });
}

/** Time limits for an answer, in milliseconds: in total, until the first chunk, and between chunks. */
export interface ModelTimeout {
  totalMs: number;
  firstChunkMs: number;
  chunkMs: number;
}

/** Returns limits that allow one minute between chunks of an answer, and 150 s for all chunks after the first. */
export function timeoutWith(firstChunkMs: number): ModelTimeout {
  return { totalMs: firstChunkMs + 150_000, firstChunkMs, chunkMs: 60_000 };
}

/** Time limits if the config sets none. A busy model may take more than a minute to begin its answer. */
const DEFAULT_TIMEOUT = timeoutWith(90_000);

/** Enforces the time limits of one request. Its signal also aborts when the request is cancelled. */
export class ModelDeadline {
  readonly signal: AbortSignal;
  readonly #chunkMs: number;
  readonly #late = new AbortController();
  readonly #total: NodeJS.Timeout;
  #chunk: NodeJS.Timeout;
  #begun = false;

  constructor(asked: AbortSignal, { totalMs, firstChunkMs, chunkMs }: ModelTimeout = DEFAULT_TIMEOUT) {
    const end = (): void => this.#late.abort();
    this.#chunkMs = chunkMs;
    this.#total = setTimeout(end, totalMs);
    this.#chunk = setTimeout(end, firstChunkMs);
    this.signal = AbortSignal.any([asked, this.#late.signal]);
  }

  renew(): void {
    if (this.#begun) {
      this.#chunk.refresh();
      return;
    }
    this.#begun = true;
    clearTimeout(this.#chunk);
    this.#chunk = setTimeout(() => this.#late.abort(), this.#chunkMs);
  }

  end(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#chunk);
  }
}
