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

/** `id` is the provider's id of the call. */
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

/** A tool message follows the assistant message whose calls it answers. */
export type ModelMessage =
  | { role: "user"; text: Prompt; images?: readonly ModelImage[] }
  | { role: "assistant"; text: Prompt; toolCalls?: readonly ToolCall[] }
  /** `caption` introduces the pictures, for providers whose tool results accept text only. */
  | { role: "tool"; results: readonly ToolResult[]; caption?: Prompt };

/** `inputSchema` is the JSON Schema of an object. */
export interface ToolDefinition {
  name: string;
  description: Prompt;
  inputSchema: Record<string, unknown>;
}

/** A request for one step, with at most one round of tool calls. */
export interface ModelRequest {
  instructions: Prompt;
  /** The variable part of the instructions. It is separate, so that the provider can cache the rest. */
  circumstances?: Prompt;
  /** The first message is a user's. */
  messages: readonly ModelMessage[];
  tools: readonly ToolDefinition[];
  maxOutputTokens: number;
  /** `<provider>/<model id>` to try first. */
  preferred?: string;
  /** The only model to try. It is tried once, even while it rests after a failure. */
  only?: string;
  /** Aborts the request, which then fails as retryable. */
  signal: AbortSignal;
  /** Receives each new piece of text. After a failed attempt, receives `undefined`: discard the previous text. */
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
 * A model, or several in order of preference. `answer` returns only complete answers and rejects for interrupted
 * streams. A RetryableError means that a retry may help, a ModelRefusal that a person must act.
 */
export interface Model {
  answer(request: ModelRequest): Promise<ModelAnswer>;
}

/** A permanent refusal. The chat gets the reason and the fix. */
export class ModelRefusal extends StewardError {
  /** True if the conversation exceeds the model's context, so that a shorter one may be accepted. */
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
