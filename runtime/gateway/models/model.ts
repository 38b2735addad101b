import { StewardError, type ErrorCode } from "../../contract/errors.ts";
import { RetryableError, type RetryOptions } from "../failure.ts";
import type { Prompt } from "../prompt/text.ts";

/** A picture, or a document that the model sees page by page. */
export interface ModelImage {
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`; `application/pdf` only if all models accept it. */
  mediaType: string;
  pages?: number;
  data: Uint8Array;
}

/** A tool call by the model. `id` comes from the provider. */
export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
}

export interface ToolResult {
  id: string;
  name: string;
  output: Prompt;
  /** Failed calls have none. */
  images?: readonly ModelImage[];
  failed: boolean;
}

/** A message of the conversation. A tool message follows the assistant message that contains its calls. */
export type ModelMessage =
  | { role: "user"; text: Prompt; images?: readonly ModelImage[] }
  | { role: "assistant"; text: Prompt; toolCalls?: readonly ToolCall[] }
  /** `caption` introduces the pictures in a separate message, for providers that accept only text in tool results. */
  | { role: "tool"; results: readonly ToolResult[]; caption?: Prompt };

/** A tool that the model may call. `inputSchema` is the JSON Schema of an object. */
export interface ToolDefinition {
  name: string;
  description: Prompt;
  inputSchema: Record<string, unknown>;
}

/** A request for one response from the model: text, tool calls or both. */
export interface ModelRequest {
  instructions: Prompt;
  /** Varying part of the instructions, separate so that the provider can cache the rest. */
  circumstances?: Prompt;
  /** The first message is a user's. */
  messages: readonly ModelMessage[];
  tools: readonly ToolDefinition[];
  maxOutputTokens: number;
  /** `<provider>/<model id>` to try first. */
  preferred?: string;
  /** The only model to use. It gets one attempt, even if recent failures would otherwise exclude it. */
  only?: string;
  /** Aborts the request, which then fails with a retryable error. */
  signal: AbortSignal;
  /** Receives each new piece of text, or `undefined` if the attempt failed and its pieces must be discarded. */
  onText?(delta: string | undefined): void;
}

/** Text, or tool calls with optional text before them. */
export interface ModelAnswer {
  text: string;
  toolCalls: readonly ToolCall[];
  /** `<provider>/<model id>` of the model that answered. */
  model: string;
  tokens: { input: number; output: number };
}

/**
 * One model, or several in order of preference. `answer` returns only complete answers. It rejects with a
 * RetryableError if a retry may help, and with a ModelRefusal if a person must act.
 */
export interface Model {
  answer(request: ModelRequest): Promise<ModelAnswer>;
}

/** A permanent refusal by a model. The chat gets the reason and the fix. */
export class ModelRefusal extends StewardError {
  /** True if the conversation exceeds the model's context. */
  readonly tooLong: boolean;

  constructor(code: ErrorCode, detail: string, options: ErrorOptions & { tooLong?: boolean } = {}) {
    super(code, detail, options);
    this.name = "ModelRefusal";
    this.tooLong = options.tooLong ?? false;
  }
}

export class ModelTrouble extends RetryableError {
  /** True if a retry within seconds may help, such as after an overload or a lost connection. */
  readonly quick: boolean;

  constructor(code: ErrorCode, detail: string, options: RetryOptions & { quick?: boolean } = {}) {
    super(code, detail, options);
    this.name = "ModelTrouble";
    this.quick = options.quick ?? false;
  }
}
