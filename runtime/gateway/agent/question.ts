import type { Admission, ReplyTarget, Sender } from "../../contract/message.ts";
import type { Reason } from "../../contract/errors.ts";
import type { Quoted } from "../prompt/speaker.ts";
import type { Image } from "../models/model.ts";

/** The chat that is asked in. */
export interface Place {
  /** `slack`, `telegram`, `discord`, or `web` for the web chat. */
  platform: string;
  target: { chat: string };
  /** Not a group, and nothing that a schedule asks. It words the prompt, and grants nothing. */
  direct: boolean;
}

/** One message of a person. */
export interface QuestionMessage {
  /** The platform's event id. */
  delivery: string;
  sender: Sender;
  /** The way in which the sender came in. */
  admission: Admission;
  text: string;
  /** Messages that it is about, in order. */
  quoted?: readonly Quoted[];
  /** The platform's id of the message. */
  message?: string;
  /** Characters at the beginning of `text` that the sender wrote; lines on files follow. */
  words?: number;
  /** Shown to the model with this question; the transcript keeps only what `text` says of them. */
  images: readonly Image[];
}

/** Question that wants an answer: a message, or several that came while the answer before was made. */
export interface Question extends Place {
  session: string;
  target: ReplyTarget;
  /** At least one, in order. */
  messages: readonly [QuestionMessage, ...QuestionMessage[]];
}

/** Options of an answer. */
export interface AnswerOptions {
  /** Ends the work; the question then fails as retryable. */
  signal: AbortSignal;
  /** Called with the answer's text so far, as it grows, and with an empty one where it starts over. */
  onText?(soFar: string): void;
}

/** An answer, and the delivery that it is kept under: the last of the question's, now or at an earlier attempt. */
export interface AgentAnswer {
  text: string;
  delivery: string;
  /** Why there is no answer: the text then tells the chat of it. */
  failure?: Reason;
}
