import type { Admission, ReplyTarget, Sender } from "../../contract/message.ts";
import type { Reason } from "../../contract/errors.ts";
import type { Quoted } from "../prompt/speaker.ts";
import type { ModelImage } from "../models/model.ts";

/** The chat in which the question was asked. */
export interface Place {
  /** `slack`, `telegram`, `discord`, or `web` for the web chat. */
  platform: string;
  target: { chat: string };
  /** False for groups and schedules. Affects only the prompt's wording and grants nothing. */
  direct: boolean;
}

/** One message of a person. */
export interface QuestionMessage {
  /** The platform's event id. */
  delivery: string;
  sender: Sender;
  /** The reason for which the sender was admitted. */
  admission: Admission;
  text: string;
  /** Messages that it refers to, in order. */
  quoted?: readonly Quoted[];
  /** The platform's id of the message. */
  message?: string;
  /** Length of the part of `text` that the sender wrote; remarks on files follow it. */
  words?: number;
  /** Shown to the model with this question only; the transcript keeps just the remarks in `text`. */
  images: readonly ModelImage[];
}

/** A question to answer: one message, or several that arrived during the previous answer. */
export interface Question extends Place {
  session: string;
  target: ReplyTarget;
  /** At least one, in order. */
  messages: readonly [QuestionMessage, ...QuestionMessage[]];
}

/** Options of an answer. */
export interface AnswerOptions {
  /** Aborts the work; the question then fails as retryable. */
  signal: AbortSignal;
  /** Called with the answer's text so far as it grows, and with an empty text if it starts over. */
  onText?(soFar: string): void;
}

/** An answer, and the delivery it is stored under: the last one of the question, in this or an earlier attempt. */
export interface AgentAnswer {
  text: string;
  delivery: string;
  /** Why there is no answer; `text` then explains this to the chat. */
  failure?: Reason;
}
