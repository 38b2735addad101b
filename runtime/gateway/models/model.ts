import { StewardError, type ErrorCode } from "../../contract/errors.ts";
import { RetryableError, type RetryOptions } from "../failure.ts";
import type { Prompt } from "../prompt/text.ts";

/** A picture for the model, or a document that the model sees page by page. */
export interface ModelImage {
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`; `application/pdf` only if all models accept it. */
  mediaType: string;
  /** Number of pages of a document. */
  pages?: number;
  data: Uint8Array;
}

/** A tool call by the model. `id` is the provider's id of this call. */
export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
}

/** Result of a tool call, worded for the model. */
export interface ToolResult {
  id: string;
  name: string;
  output: Prompt;
  /** Shown with the output. Failed calls have none. */
  images?: readonly ModelImage[];
  failed: boolean;
}

/** One message of a request. A tool message follows the assistant message whose calls it answers. */
export type ModelMessage =
  | { role: "user"; text: Prompt; images?: readonly ModelImage[] }
  | { role: "assistant"; text: Prompt; toolCalls?: readonly ToolCall[] }
  /** `caption` precedes the pictures, for providers whose tool results accept text only. */
  | { role: "tool"; results: readonly ToolResult[]; caption?: Prompt };

/** A tool as the model sees it. `inputSchema` is a JSON Schema of an object. */
export interface ToolDefinition {
  name: string;
  description: Prompt;
  inputSchema: Record<string, unknown>;
}

/** One request to a model: one step, so it returns at most one round of tool calls. */
export interface ModelRequest {
  instructions: Prompt;
  /** Follows the instructions and differs between questions. Kept separate so that the provider can cache the rest. */
  circumstances?: Prompt;
  /** Starts with a user's message. */
  messages: readonly ModelMessage[];
  tools: readonly ToolDefinition[];
  maxOutputTokens: number;
  /** `<provider>/<model id>` to try first, if the conversation chose one. */
  preferred?: string;
  /** The only model to try, once, even if it is cooling down after a failure. */
  only?: string;
  /** Aborts the request, which then fails as retryable. */
  signal: AbortSignal;
  /**
   * Called with each new piece of the answer's text. After a failed attempt, called with `undefined`: discard the
   * previous text, since the answer starts over.
   */
  onText?(delta: string | undefined): void;
}

/** A complete answer: a text, or tool calls with an optional text before them. */
export interface ModelAnswer {
  text: string;
  toolCalls: readonly ToolCall[];
  /** `<provider>/<model id>` of the model that answered. */
  model: string;
  tokens: { input: number; output: number };
}

/**
 * A model provider, or several in order of preference. `answer` returns only complete answers: an interrupted stream is
 * a failure. It rejects with a RetryableError if another attempt may help, and with a ModelRefusal if only a person can
 * help.
 */
export interface Model {
  answer(request: ModelRequest): Promise<ModelAnswer>;
}

/** The provider refuses the request permanently: the chat gets the reason and the fix. */
export class ModelRefusal extends StewardError {
  /** The conversation exceeds the model's context; a shorter one may be accepted. */
  readonly tooLong: boolean;

  constructor(code: ErrorCode, detail: string, options: ErrorOptions & { tooLong?: boolean } = {}) {
    super(code, detail, options);
    this.name = "ModelRefusal";
    this.tooLong = options.tooLong ?? false;
  }
}

/** The provider could not answer now, but may later. */
export class ModelTrouble extends RetryableError {
  /** A retry within seconds may help: an overload, a lost connection, an interrupted answer. */
  readonly quick: boolean;

  constructor(code: ErrorCode, detail: string, options: RetryOptions & { quick?: boolean } = {}) {
    super(code, detail, options);
    this.name = "ModelTrouble";
    this.quick = options.quick ?? false;
  }
}
