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
import { brokeOff, readProviderError } from "./provider-errors.ts";
import { Patience, type ModelTimeout } from "./patience.ts";
import { type Added, createReasoningFilter, type ReasoningFilter } from "./reasoning.ts";

type FinishReason = LanguageModelV4FinishReason["unified"];

const CUT_NOTE = "(The answer was cut at its length limit.)";

/** Dependencies of every provider. */
export interface ProviderOptions {
  /** The provider's own id of the model. */
  modelId: string;
  /** Empty if none is set. */
  apiKey: string;
  /** Place where the provider is; empty for its usual address, where it has one. */
  baseUrl: string;
  /** Takes secrets out of what a provider says. */
  redact: Redactor;
  report: Report;
  /** Milliseconds since the epoch. */
  clock(): number;
  timeout?: ModelTimeout;
}

/** Differences between providers. */
export interface StreamedOptions extends Pick<ProviderOptions, "redact" | "report" | "clock" | "timeout"> {
  /** `<provider>/<model id>` */
  reference: string;
  /** The provider may send a model's reasoning within the text. */
  reasonsInText: boolean;
  /** Loads the provider's client. Called with each question. */
  load(): Promise<LanguageModelV4>;
}

/**
 * A model behind its provider's client, streamed. The client is loaded with the first question: the start
 * does not wait for it. One question is one request: trying again is the relay's and the edge's, running
 * tools the agent's.
 */
export function createStreamedModel(options: StreamedOptions): Model {
  const { reference, reasonsInText, load, clock, redact, report } = options;
  // Reasoning may begin without a mark. Only a whole answer shows that this model does not do that.
  let isPlain = !reasonsInText;
  return {
    answer: async (request) => {
      const patience = new Patience(request.signal, options.timeout);
      try {
        const reasoning = reasonsInText ? createReasoningFilter() : undefined;
        const answer = await stream(
          { request, reference, patience, reasoning, isPlain, report },
          await load(),
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

/** An answer under way. */
interface Streaming {
  request: ModelRequest;
  reference: string;
  patience: Patience;
  /** Absent where the text holds no reasoning. */
  reasoning: ReasoningFilter | undefined;
  /** The text is shown before it is known whether all of it is the answer. */
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
    // Clients tell of an answer's beginning before its server has said a word.
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
        // Behind its tools a model may have nothing to add.
        const mayBeEmpty = request.messages.at(-1)?.role === "tool";
        const { unified, raw } = part.finishReason;
        // A server may give a reason of its own; without any the answer was cut off.
        const finish = unified === "other" && raw !== undefined ? "stop" : unified;
        if (unified === "other") report("stream", `${reference}: finish reason ${raw ?? "none"}`);
        const answer = whole({ text, calls, finish, mayBeEmpty }, reference);
        return { ...answer, model: reference, tokens };
      }
    }
  }
  throw brokeOff(reference);
}

/** A call as it came in. `whole`: its input is JSON to its end. */
type ReceivedCall = ToolCall & { whole: boolean };

function readInput(text: string): Pick<ReceivedCall, "input" | "whole"> {
  try {
    return { input: text.trim() === "" ? {} : (JSON.parse(text) as unknown), whole: true };
  } catch {
    return { input: text, whole: false };
  }
}

/** Clients make an empty object of an input that never began. */
function hasInput({ input }: ToolCall): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length > 0;
}

function noAnswer(signal: AbortSignal, reference: string): ModelTrouble {
  const how = signal.aborted ? "the answer was stopped." : "the model took too long.";
  return new ModelTrouble("model_no_answer", `${reference}: ${how}`);
}

/** Tells whether a text has anything that a person sees: platforms refuse one of blanks and invisible characters. */
function isVisible(text: string): boolean {
  return /[^\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

/** Content of a stream until its end. */
interface Received {
  text: string;
  calls: readonly ReceivedCall[];
  finish: FinishReason;
  mayBeEmpty: boolean;
}

/** An answer that came to its end. A stream that was cut ends here, too, but not well. */
function whole(
  { text, calls, finish, mayBeEmpty }: Received,
  reference: string,
): Pick<ModelAnswer, "text" | "toolCalls"> {
  if (finish === "content-filter" && !isVisible(text)) {
    throw new ModelRefusal("model_failed", `${reference}: the model declined to answer.`);
  }
  const cut = finish === "length";
  const isEnd = cut || finish === "stop" || finish === "tool-calls" || finish === "content-filter";
  if (!isEnd) throw brokeOff(reference, { how: finish });
  // A call that the limit cut in two would run with half of its input, or with none.
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
