import { StewardError, type ErrorCode } from "../../contract/errors.ts";
import { RetryableError, type RetryOptions } from "../failure.ts";
import type { Prompt } from "../prompt/text.ts";

/** A picture as the model sees it, or a document that it sees page by page. */
export interface Image {
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`; `application/pdf` only if all models take it. */
  mediaType: string;
  /** Of a document. */
  pages?: number;
  data: Uint8Array;
}

/** A tool that the model asks for. `id` is the provider's name for this one call. */
export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
}

/** Outcome of a tool, in words for the model. */
export interface ToolResult {
  id: string;
  name: string;
  output: Prompt;
  /** Shown with the output. A failed call has none. */
  images?: readonly Image[];
  failed: boolean;
}

/** One message of a question. A tool message follows the assistant's message whose calls it answers. */
export type ModelMessage =
  | { role: "user"; text: Prompt; images?: readonly Image[] }
  | { role: "assistant"; text: Prompt; toolCalls?: readonly ToolCall[] }
  /** `caption` stands before the pictures where a provider's results take text only. */
  | { role: "tool"; results: readonly ToolResult[]; caption?: Prompt };

/** A tool as the model sees it. `inputSchema` is a JSON Schema of an object. */
export interface ToolDefinition {
  name: string;
  description: Prompt;
  inputSchema: Record<string, unknown>;
}

/** One question to a model: one step, so at most one round of tool calls comes back. */
export interface ModelRequest {
  instructions: Prompt;
  /** Follows them: what differs from question to question. Kept apart, so that a provider can keep the rest. */
  circumstances?: Prompt;
  /** Starts with a user's message. */
  messages: readonly ModelMessage[];
  tools: readonly ToolDefinition[];
  maxOutputTokens: number;
  /** `<provider>/<model id>` to ask first, where the conversation chose one. */
  preferred?: string;
  /** The one model to ask, also while it is left alone after a failure; once. */
  only?: string;
  /** Ends the request early; it then fails as retryable. */
  signal: AbortSignal;
  /**
   * Called with every piece of the answer's text. An attempt that fails starts over, and says so with
   * `undefined`: what came before no longer counts.
   */
  onText?(delta: string | undefined): void;
}

/** A whole answer: a text, or calls of tools (perhaps with a text that comes before them). */
export interface ModelAnswer {
  text: string;
  toolCalls: readonly ToolCall[];
  /** `<provider>/<model id>` that answered. */
  model: string;
  tokens: { input: number; output: number };
}

/**
 * A model provider, or several behind one. `answer` returns only whole answers: a stream that breaks
 * off is a failure.
 *
 * It rejects with a RetryableError where another attempt may help, and with a ModelRefusal where
 * only a person can.
 */
export interface Model {
  answer(request: ModelRequest): Promise<ModelAnswer>;
}

/** The provider refuses, and would again: the person in the chat gets the reason, with the fix. */
export class ModelRefusal extends StewardError {
  /** The conversation is longer than the model reads; a shorter one may pass. */
  readonly tooLong: boolean;

  constructor(code: ErrorCode, detail: string, options: ErrorOptions & { tooLong?: boolean } = {}) {
    super(code, detail, options);
    this.name = "ModelRefusal";
    this.tooLong = options.tooLong ?? false;
  }
}

/** The provider could not answer now, and may later. */
export class ModelTrouble extends RetryableError {
  /** Worth another attempt within seconds: an overload, a lost connection, an answer that broke off. */
  readonly quick: boolean;

  constructor(code: ErrorCode, detail: string, options: RetryOptions & { quick?: boolean } = {}) {
    super(code, detail, options);
    this.name = "ModelTrouble";
    this.quick = options.quick ?? false;
  }
}
