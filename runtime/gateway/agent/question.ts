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

export interface QuestionMessage {
  /** The platform's event id. */
  delivery: string;
  sender: Sender;
  admission: Admission;
  text: string;
  quoted?: readonly Quoted[];
  /** The platform's id of the message. */
  message?: string;
  /** Length of the sender's part of `text`. Remarks on files follow it. */
  words?: number;
  /** Shown to the model with this question only. The transcript keeps the remarks in `text`. */
  images: readonly ModelImage[];
}

/** One message, or several that arrived during the previous answer. */
export interface Question extends Place {
  session: string;
  target: ReplyTarget;
  messages: readonly [QuestionMessage, ...QuestionMessage[]];
}

export interface AnswerOptions {
  /** Aborts the answer, which then fails as retryable. */
  signal: AbortSignal;
  /** Called with the text so far. The text is empty if the answer starts over. */
  onText?(soFar: string): void;
}

/** Answer of the model or a refusal. `delivery` is the question's last one, in this or an earlier attempt. */
export interface AgentAnswer {
  text: string;
  delivery: string;
  /** Reason for a missing answer, which `text` explains to the chat. */
  failure?: Reason;
}
