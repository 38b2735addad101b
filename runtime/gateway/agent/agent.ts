import { isResetDue } from "../sessions/context.ts";
import type { Config } from "../../contract/config/index.ts";
import { LONGEST_TIMER_MS, parseDuration } from "../../contract/duration.ts";
import { ERRORS, fixOf, reason, type Reason } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { rightsOf } from "../admission.ts";
import { instructions } from "./instructions.ts";
import { type Model, ModelRefusal } from "../models/model.ts";
import type { Sessions } from "../sessions/store.ts";
import type { Limits } from "./limits.ts";
import type { AgentAnswer, AnswerOptions, Question } from "./question.ts";
import { AnswerRun } from "./run.ts";
import type { Toolbox } from "./toolbox.ts";
import type { Workspace } from "../workspace/workspace.ts";

export type { AgentAnswer, AnswerOptions, Question, QuestionMessage } from "./question.ts";

interface AgentOptions {
  config: Config;
  model: Model;
  sessions: Sessions;
  workspace: Workspace;
  toolbox: Toolbox;
  limits: Limits;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** Error that stops the model when a usage limit is reached during an answer. */
class LimitReached extends Error {
  readonly reason: Reason;

  constructor(why: Reason) {
    super(why.detail);
    this.reason = why;
  }
}

/** Answers questions with the model and the conversation's transcript. */
export class Agent {
  readonly #options: AgentOptions;
  #active = 0;
  #closing = false;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  /**
   * Answers a question and returns the text to send. Stores the model's answer in the transcript first, so that a
   * retry does not ask the model again.
   *
   * @throws RetryableError if another attempt may help
   */
  async answer(question: Question, options: AnswerOptions): Promise<AgentAnswer> {
    this.#active += 1;
    try {
      return await this.#answer(question, options);
    } finally {
      this.#active -= 1;
      await this.#closeIdle();
    }
  }

  /** Closes the tools' connections once no answer uses them. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#closeIdle();
  }

  async #closeIdle(): Promise<void> {
    if (this.#closing && this.#active === 0) await this.#options.toolbox.close();
  }

  async #answer(question: Question, { signal, onText }: AnswerOptions): Promise<AgentAnswer> {
    const { config, sessions, limits, clock, log } = this.#options;
    const { session, messages, direct } = question;
    const deliveries = messages.map(({ delivery }) => delivery);
    const delivery = deliveries.at(-1) ?? messages[0].delivery;
    const earlier = sessions.answerTo(session, delivery);
    const refused = earlier === undefined ? limits.refusal(question) : undefined;
    if (refused !== undefined) return this.#refused(refused, question, delivery);
    const isNew = !deliveries.some((one) => sessions.knows(session, one));
    if (isNew && isResetDue(config.sessions.reset, sessions.updatedAt(session), clock())) {
      sessions.reset(session, clock());
    }
    sessions.ask({ session, messages, group: !direct, at: clock() });
    if (earlier !== undefined) return earlier;
    const { timeout } = config.agent;
    const ms = parseDuration(timeout);
    const late = new AbortController();
    const timer = ms !== undefined && ms <= LONGEST_TIMER_MS ? setTimeout(() => late.abort(), ms) : undefined;
    try {
      const text = await this.#run(question, AbortSignal.any([signal, late.signal]), onText);
      // Store no remarks about tools, because the model would imitate them.
      sessions.keepAnswer(session, deliveries, text, clock());
      return { text, delivery };
    } catch (error) {
      if (late.signal.aborted && !signal.aborted) {
        log.error("an answer took too long", { delivery, timeout });
        return { text: timeoutText(timeout), delivery, failure: reason("answer_too_slow") };
      }
      if (error instanceof LimitReached) return this.#refused(error.reason, question, delivery);
      if (!(error instanceof ModelRefusal)) throw error;
      log.error("the model refuses", { code: error.code, detail: error.message, delivery });
      return { text: refusalText(error), delivery, failure: error.reason };
    } finally {
      clearTimeout(timer);
    }
  }

  #refused(failure: Reason, { platform, target }: Question, delivery: string): AgentAnswer {
    this.#options.log.warn("a limit is reached", { platform, chat: target.chat, delivery, ...failure });
    return { text: failure.detail, delivery, failure };
  }

  /** Returns the model with a token meter, which throws LimitReached if the day's tokens are used up. */
  #metered(question: Question): Pick<Model, "answer"> {
    const { model, limits } = this.#options;
    return {
      answer: async (request) => {
        const spent = limits.spent(question);
        if (spent !== undefined) throw new LimitReached(spent);
        const answer = await model.answer(request);
        limits.spend(question, answer);
        return answer;
      },
    };
  }

  async #run(question: Question, signal: AbortSignal, onText: AnswerOptions["onText"]): Promise<string> {
    const { toolbox, workspace, ...options } = this.#options;
    const { config, clock } = options;
    const [first, ...others] = question.messages;
    const rights = rightsOf(config, [first.admission, ...others.map(({ admission }) => admission)]);
    const tools = await toolbox.open({ ...rights, platform: question.platform }, signal);
    const prompt = instructions({
      config,
      workspace,
      place: { ...question, ...rights },
      notes: tools.notes,
      now: clock(),
    });
    const model = this.#metered(question);
    return new AnswerRun({ ...options, ...prompt, model, question, rights, tools, signal, onText }).answer();
  }
}

function refusalText({ code, message, tooLong }: ModelRefusal): string {
  if (tooLong) return "I cannot answer: this message is longer than the model can read. Send a shorter one.";
  const { title } = ERRORS[code];
  return `I cannot answer: ${title} (${message}). ${fixOf(code)}`;
}

function timeoutText(timeout: string): string {
  return `I stopped: the answer took longer than ${timeout}. Ask for less in one message, or raise agent.timeout.`;
}
