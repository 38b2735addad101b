import type { Config } from "../../contract/config/index.ts";
import type { Log } from "../../shared/log.ts";
import { RetryableError } from "../failure.ts";
import {
  ModelRefusal,
  type Model,
  type ModelAnswer,
  type ModelMessage,
  type ModelRequest,
} from "../models/model.ts";
import { conversationMessages, INTERRUPTED } from "../prompt/conversation.ts";
import type { Prompt } from "../prompt/text.ts";
import type { History, Sessions } from "../sessions/store.ts";
import type { Step } from "../sessions/steps.ts";
import type { Question } from "./question.ts";
import type { Rights } from "../admission.ts";
import { splitForSummary, requestTokens, summarise, tokenRatio } from "./summary.ts";
import type { OpenTools } from "./toolbox.ts";

const FULL_SHARE = 0.8;
/** Sent if the model returns no text after using tools. */
const NOTHING_TO_ADD = "Done.";
const NO_CONCLUSION = "I could not finish this: it took more steps than agent.maxSteps allows.";

export interface AnswerRunOptions {
  question: Question;
  rights: Rights;
  config: Config;
  model: Model;
  sessions: Sessions;
  tools: OpenTools;
  instructions: Prompt;
  circumstances: Prompt;
  signal: AbortSignal;
  onText?: ((soFar: string) => void) | undefined;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * Asks the model and runs the tools that it calls, until it answers without a call. Stores each step before the next
 * one, so that a retry continues after the last step.
 */
export class AnswerRun {
  readonly #options: AnswerRunOptions;
  readonly #deliveries: string[];
  readonly #steps = new Map<string, Step[]>();
  #limit: number;
  #skipBefore = 0;
  #short = false;
  #shown = false;
  #withheld = false;

  constructor(options: AnswerRunOptions) {
    const { question, sessions, config } = options;
    this.#options = options;
    this.#deliveries = question.messages.map(({ delivery }) => delivery);
    this.#limit = config.sessions.historyLimit;
    for (const delivery of this.#deliveries) {
      this.#steps.set(delivery, sessions.steps.of(question.session, delivery));
    }
  }

  async answer(): Promise<string> {
    const { config, question, sessions, tools, clock } = this.#options;
    for (const step of this.#allSteps()) await this.#finish(step);
    while (this.#allSteps().length < config.agent.maxSteps) {
      const { text, toolCalls } = await this.#ask(tools.definitions);
      if (toolCalls.length === 0) return text.trim() === "" ? NOTHING_TO_ADD : text;
      // Stop before the next step: the abort may come from an edit that has changed the question.
      if (this.#options.signal.aborted) throw stopped();
      const last = this.#deliveries.at(-1) ?? question.messages[0].delivery;
      const step = sessions.steps.add(question.session, last, text, toolCalls, clock());
      this.#steps.get(last)?.push(step);
      await this.#finish(step);
    }
    const { text } = await this.#ask([]);
    return text.trim() === "" ? NO_CONCLUSION : text;
  }

  #allSteps(): Step[] {
    return [...this.#steps.values()].flat();
  }

  /** Runs the step's calls that have not been started yet. Marks calls that a crash interrupted as failed. */
  async #finish(step: Step): Promise<void> {
    const { question, rights, sessions, tools, signal } = this.#options;
    const { session, platform, target, direct } = question;
    const [first, ...others] = question.messages;
    const { sender, delivery } = others.at(-1) ?? first;
    for (const call of step.calls) {
      if (call.state === "begun") sessions.steps.mark(step, call, "failed", INTERRUPTED);
      if (call.state !== "waiting") continue;
      if (signal.aborted) throw stopped();
      sessions.steps.mark(step, call, "begun");
      const result = await tools
        .run(call, {
          session,
          delivery,
          platform,
          target,
          direct,
          asker: sender.id,
          ...rights,
          signal,
        })
        .catch((error: unknown) => {
          throw signal.aborted ? stopped() : error;
        });
      if (result.images !== undefined) call.images = result.images;
      sessions.steps.mark(step, call, result.failed ? "failed" : "done", result.output);
    }
  }

  /**
   * Sends one request to the model. Retries with half of the history if the request is too long, and without files if
   * the provider rejects them.
   */
  async #ask(tools: ModelRequest["tools"]): Promise<ModelAnswer> {
    const { question, model, sessions, config, instructions, circumstances, signal, onText, log } =
      this.#options;
    const { session } = question;
    for (;;) {
      const { history, messages } = await this.#messages(tools);
      let soFar = "";
      const preferred = sessions.modelOf(session);
      // Remove text that an earlier attempt has shown in the chat.
      if (this.#shown) onText?.("");
      this.#shown = false;
      try {
        const answer = await model.answer({
          instructions,
          circumstances,
          messages,
          tools,
          maxOutputTokens: config.models.maxOutputTokens,
          ...(preferred !== undefined && { preferred }),
          signal,
          onText: (delta) => {
            soFar = delta === undefined ? "" : soFar + delta;
            this.#shown = soFar !== "";
            onText?.(soFar);
          },
        });
        const ratio = tokenRatio(
          requestTokens({ instructions, circumstances, messages, tools }),
          answer.tokens.input,
        );
        if (ratio !== undefined) sessions.setTokenRatio(session, ratio);
        return answer;
      } catch (error) {
        if (!(error instanceof ModelRefusal)) throw error;
        if (error.tooLong && this.#shrink(history)) {
          log.warn("the conversation is too long for the model, older messages are left out", {
            limit: this.#limit,
          });
        } else if (this.#withhold(error)) {
          log.warn("the model rejected a question with files, which are now left out", {
            detail: error.message,
          });
        } else {
          throw error;
        }
      }
    }
  }

  /**
   * Omits the files from the request. Returns false if there are none, if they cannot have caused the refusal, or if
   * they were already omitted.
   */
  #withhold({ code, tooLong }: ModelRefusal): boolean {
    if (this.#withheld || (code !== "model_failed" && !tooLong)) return false;
    const calls = this.#allSteps().flatMap((step) => step.calls);
    this.#withheld = [...this.#options.question.messages, ...calls].some(
      ({ images = [] }) => images.length > 0,
    );
    return this.#withheld;
  }

  /** Shortens the request. Returns false if nothing more can be left out. */
  #shrink({ turns, question, summary }: History): boolean {
    if (turns.length > 0 || summary !== undefined) {
      this.#limit = Math.floor((turns.length + question.length) / 2);
      if (turns.length === 0) this.#skipBefore = Number.POSITIVE_INFINITY;
      return true;
    }
    const canShorten = !this.#short && this.#allSteps().length > 0;
    this.#short = true;
    return canShorten;
  }

  async #messages(tools: ModelRequest["tools"]): Promise<{ history: History; messages: ModelMessage[] }> {
    const { config, question, sessions, instructions, circumstances } = this.#options;
    const ratio = sessions.tokenRatio(question.session) ?? 1;
    const most = config.models.contextTokens;
    let history = this.#history();
    let messages = this.#compose(history, tools);
    if (
      requestTokens({ instructions, circumstances, messages, tools }) * ratio > most * FULL_SHARE &&
      history.turns.length > 0
    ) {
      history = await this.#summarise(history, most / ratio);
      messages = this.#compose(history, tools);
    }
    return { history, messages };
  }

  #history(): History {
    const { question, sessions } = this.#options;
    const { summary, ...history } = sessions.history(question.session, this.#deliveries, this.#limit);
    const turns = history.turns.filter(({ seq }) => seq > this.#skipBefore);
    return {
      ...history,
      turns,
      ...(summary !== undefined && this.#skipBefore !== Number.POSITIVE_INFINITY && { summary }),
    };
  }

  /** Replaces older turns with a summary, or drops them if no summary can be made. */
  async #summarise(history: History, tokens: number): Promise<History> {
    const { question, sessions, model, signal, log } = this.#options;
    const { session } = question;
    const { older } = splitForSummary(history.turns, tokens);
    const last = older.at(-1);
    if (last === undefined) return history;
    const preferred = sessions.modelOf(session);
    try {
      const request = { signal, ...(preferred !== undefined && { preferred }) };
      const answer = await summarise(model, { summary: history.summary, older }, tokens, request);
      if (answer.text.trim() === "") throw new ModelRefusal("model_failed", "The summary was empty.");
      sessions.summarise(session, answer.text, last.seq);
      log.info("older messages were summarised", { conversation: session, messages: older.length });
    } catch (error) {
      if (signal.aborted) throw error;
      const detail = error instanceof Error ? error.message : "unknown error";
      log.warn("no summary could be generated, so older messages are left out", {
        messages: older.length,
        detail,
      });
      this.#skipBefore = last.seq;
    }
    return this.#history();
  }

  #compose(history: History, tools: ModelRequest["tools"]): ModelMessage[] {
    const images = new Map(
      this.#options.question.messages.map((message) => [message.delivery, message.images]),
    );
    return conversationMessages({
      summary: history.summary,
      turns: history.turns,
      question: history.question.map(({ said, delivery }) => ({
        said,
        images: images.get(delivery) ?? [],
        steps: this.#steps.get(delivery) ?? [],
      })),
      conclude: tools.length === 0,
      short: this.#short,
      withheld: this.#withheld,
    });
  }
}

function stopped(): RetryableError {
  return new RetryableError("gateway_unavailable", "The answer was stopped.");
}
