import type { Admission, ReplyTarget, Sender } from "../../contract/message.ts";
import type { Reason } from "../../contract/errors.ts";
import type { Quoted } from "../prompt/speaker.ts";
import type { ModelImage } from "../models/model.ts";

/** The chat in which the question was asked. */
export interface Place {
  /** `slack`, `telegram`, `discord`, or `web` for the web chat. */
  platform: string;
  target: { chat: string };
  /** False for groups and schedules. Affects only the prompt's wording, not rights. */
  direct: boolean;
}

export interface QuestionMessage {
  /** The platform's event id. */
  delivery: string;
  sender: Sender;
  admission: Admission;
  text: string;
  quoted?: readonly Quoted[];
  /** The platform's id of the message. */
  message?: string;
  /** Length, in characters, of the sender's own words at the beginning of `text`. */
  words?: number;
  /**
   * Pictures, sent to the model only with this question. The transcript stores only `text`, with remarks about the
   * pictures.
   */
  images: readonly ModelImage[];
}

/** One message, or several that are answered together. */
export interface Question extends Place {
  session: string;
  target: ReplyTarget;
  messages: readonly [QuestionMessage, ...QuestionMessage[]];
}

export interface AnswerOptions {
  /** Aborts the answer, which then fails with a retryable error. */
  signal: AbortSignal;
  /** Called with the text so far. The text is empty if the answer starts over. */
  onText?(soFar: string): void;
}

/** The model's answer, or a refusal. `delivery` is the id of the last answered event. */
export interface AgentAnswer {
  text: string;
  delivery: string;
  /** Reason why there is no answer. `text` explains it to the chat. */
  failure?: Reason;
}
