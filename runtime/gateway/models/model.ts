import { StewardError, type ErrorCode } from "../../contract/errors.ts";
import type { Turn } from "../sessions/store.ts";

/** One question to a model. */
export interface ModelRequest {
  /** The provider's own id of the model. */
  model: string;
  instructions: string;
  messages: readonly Turn[];
  maxOutputTokens: number;
  /** Ends the request early; it then fails as retryable. */
  signal: AbortSignal;
}

/** A whole answer. */
export interface ModelAnswer {
  text: string;
  tokens: { input: number; output: number };
}

/**
 * A model provider. `answer` returns only whole answers: a stream that breaks off is a failure.
 *
 * It rejects with a RetryableError where another attempt may help, and with a ModelRefusal where
 * only a person can.
 */
export interface Model {
  answer(request: ModelRequest): Promise<ModelAnswer>;
}

/** The provider refuses, and would again: the person in the chat is told, with the fix. */
export class ModelRefusal extends StewardError {
  /** The conversation is longer than the model reads; a shorter one may pass. */
  readonly tooLong: boolean;

  constructor(code: ErrorCode, detail: string, options: ErrorOptions & { tooLong?: boolean } = {}) {
    super(code, detail, options);
    this.name = "ModelRefusal";
    this.tooLong = options.tooLong ?? false;
  }
}
