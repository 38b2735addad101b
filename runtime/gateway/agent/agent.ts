import type { Config } from "../../contract/config.ts";
import { ERRORS, type Reason, StewardError } from "../../contract/errors.ts";
import type { Log } from "../../contract/log.ts";
import { ModelRefusal, type Model, type ModelAnswer } from "../models/model.ts";
import type { UsageStore } from "../models/usage.ts";
import type { Sessions } from "../sessions/store.ts";

/** One message of a person that wants an answer. */
export interface Question {
  conversation: string;
  /** The platform's event id. */
  delivery: string;
  sender: string;
  text: string;
}

/** What an agent works with. */
export interface AgentOptions {
  config: Config;
  model: Model;
  sessions: Sessions;
  usage: UsageStore;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** Answers a question from its conversation's transcript and the model. */
export class Agent {
  /** The provider's id of the model in use. */
  readonly modelId: string;
  readonly #options: AgentOptions;
  #failure: Reason | undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.modelId = options.config.models.primary.replace(/^anthropic\//, "");
  }

  /** Why the model's last answer failed, where it did. */
  get failure(): Reason | undefined {
    return this.#failure;
  }

  /**
   * The text to send. An answer is in the transcript when this returns, so a second attempt to send
   * it does not ask the model again. A refusal is told but not kept: it is not the model's word.
   *
   * @throws RetryableError where another attempt may help.
   */
  async answer(question: Question, signal: AbortSignal): Promise<string> {
    const { sessions, usage, clock, log } = this.#options;
    const { conversation, delivery, sender, text } = question;
    sessions.append({ conversation, delivery, role: "user", sender, text, at: clock() });
    const earlier = sessions.answerTo(conversation, delivery);
    if (earlier !== undefined) return earlier;
    try {
      const answer = await this.#ask(question, signal);
      sessions.append({ conversation, delivery, role: "assistant", text: answer.text, at: clock() });
      usage.add(this.modelId, answer.tokens, clock());
      this.#failure = undefined;
      return answer.text;
    } catch (error) {
      if (error instanceof StewardError) this.#failure = error.reason;
      if (!(error instanceof ModelRefusal)) throw error;
      log.error("the model refuses", { code: error.code, detail: error.message, delivery });
      return refusalText(error);
    }
  }

  /** Halves the history while the provider finds it too long, so that no conversation gets stuck. */
  async #ask({ conversation, delivery }: Question, signal: AbortSignal): Promise<ModelAnswer> {
    const { config, model, sessions, log } = this.#options;
    const { instructions } = config.agent;
    const { maxOutputTokens } = config.models;
    for (let limit = config.sessions.historyLimit; ;) {
      const messages = sessions.history(conversation, delivery, limit);
      try {
        return await model.answer({ model: this.modelId, instructions, messages, maxOutputTokens, signal });
      } catch (error) {
        const canShrink = error instanceof ModelRefusal && error.tooLong && messages.length > 1;
        if (!canShrink) throw error;
        limit = Math.floor(messages.length / 2);
        log.warn("the conversation is too long for the model, older messages are left out", { limit });
      }
    }
  }
}

/** What the person in the chat reads: what is wrong, the provider's word for it, and the fix. */
function refusalText({ code, message, tooLong }: ModelRefusal): string {
  if (tooLong) return "I cannot answer: this message is longer than the model can read. Send a shorter one.";
  const { title, fix } = ERRORS[code];
  return `I cannot answer: ${title} (${message}). ${fix}`;
}
