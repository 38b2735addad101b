import type { DeliveryOutcome } from "../../contract/delivery.ts";
import { RetryableError } from "../failure.ts";

/** Does something when all before it in a conversation has ended, and before all behind it. */
export type InTurn = <T>(session: string, work: () => Promise<T>) => Promise<T>;

/** Dependencies of answering a conversation's messages. */
export interface ChatQueuesOptions<Message> {
  /** Answers messages together, and gives each one's outcome in their order. */
  answer(messages: readonly [Message, ...Message[]], signal: AbortSignal): Promise<DeliveryOutcome[]>;
  /** Tells whether two that wait one behind the other may be answered together. */
  together(first: Message, second: Message): boolean;
  /** Milliseconds for which a message is not answered yet, since more of it is about to come. */
  holdMs?(message: Message): number;
}

interface Waiting<Message> {
  /** A message, or something else that keeps its place among them. */
  what: { message: Message } | { work: () => Promise<DeliveryOutcome> };
  settled: PromiseWithResolvers<DeliveryOutcome>;
}

interface ChatQueue<Message> {
  waiting: Waiting<Message>[];
  /** `entries` are those that the run will settle: none after it was told to start over. */
  run: { entries: Waiting<Message>[]; abort: AbortController } | undefined;
}

/** Messages of a conversation that have not ended, in order. */
export interface OpenMessages<Message> {
  running: readonly Message[];
  waiting: readonly Message[];
  /** Something else waits for its turn among them. */
  interrupted: boolean;
}

/** A run that was stopped ends soon; the conversation does not wait longer than this for it. */
const HEED_MS = 5_000;
const DONE: DeliveryOutcome = { outcome: "answered" };
const STOPPED: DeliveryOutcome = { outcome: "ignored", note: "stopped" };

/**
 * One run at a time in a conversation, and conversations side by side. What arrives during a run waits
 * for its end and is then answered together. A run that fails takes with it what waits behind, so that
 * no message overtakes one that is tried again.
 */
export class ChatQueues<Message> {
  readonly #options: ChatQueuesOptions<Message>;
  readonly #queues = new Map<string, ChatQueue<Message>>();

  constructor(options: ChatQueuesOptions<Message>) {
    this.#options = options;
  }

  /** Answers a message: at once in an idle conversation. */
  ask(session: string, message: Message): Promise<DeliveryOutcome> {
    return this.#add(session, { message });
  }

  /** Does something when all before it has ended, and before all behind it. */
  async inTurn<T>(session: string, work: () => Promise<T>): Promise<T> {
    const result: T[] = [];
    await this.#add(session, {
      work: async () => {
        result.push(await work());
        return DONE;
      },
    });
    const [value] = result;
    return value as T;
  }

  /**
   * Ends the run under way and every message that waits, as answered. `settle` keeps that for good,
   * before anything ends. Gives how many messages it were. What waits beside messages stays.
   */
  stop(session: string, settle: (messages: readonly Message[]) => void): number {
    const state = this.#queues.get(session);
    if (state === undefined) return 0;
    const running = state.run?.abort.signal.aborted === false ? state.run.entries : [];
    const stopped = [...running, ...state.waiting].filter(({ what }) => "message" in what);
    settle(stopped.flatMap(({ what }) => ("message" in what ? [what.message] : [])));
    for (const { settled } of stopped) settled.resolve(STOPPED);
    state.waiting = state.waiting.filter(({ what }) => "work" in what);
    if (running.some(({ what }) => "message" in what)) state.run?.abort.abort();
    return stopped.length;
  }

  /** Returns the message that waits last, `undefined` where that is none. */
  last(session: string): Message | undefined {
    const what = this.#queues.get(session)?.waiting.at(-1)?.what;
    return what !== undefined && "message" in what ? what.message : undefined;
  }

  /** Returns the messages of a conversation that have not ended. */
  open(session: string): OpenMessages<Message> {
    const { run, waiting = [] } = this.#queues.get(session) ?? {};
    const messages = (entries: Waiting<Message>[] = []): Message[] =>
      entries.flatMap(({ what }) => ("message" in what ? [what.message] : []));
    const interrupted = waiting.some(({ what }) => "work" in what);
    return { running: messages(run?.entries), waiting: messages(waiting), interrupted };
  }

  /** Puts `instead` in the place of a message that has not ended. A run that has begun does not see it. */
  replace(session: string, message: Message, instead: Message): void {
    const entry = this.#entry(session, message);
    if (entry !== undefined) entry.what = { message: instead };
  }

  /** Resolves with the end of a message that has not ended, or rejects with its failure. */
  async ending(session: string, message: Message): Promise<DeliveryOutcome | undefined> {
    return this.#entry(session, message)?.settled.promise;
  }

  /** Ends a message that has not ended. A run that answers it starts over with the others, if there are any. */
  remove(session: string, message: Message, outcome: DeliveryOutcome): void {
    const state = this.#queues.get(session);
    const entry = this.#entry(session, message);
    if (state === undefined || entry === undefined) return;
    entry.settled.resolve(outcome);
    state.waiting = state.waiting.filter((one) => one !== entry);
    if (state.run?.entries.includes(entry) !== true) return;
    state.run.entries = state.run.entries.filter((one) => one !== entry);
    this.restart(session);
  }

  /** Ends the run under way and answers its messages again, together with what waits by now. */
  restart(session: string): void {
    const state = this.#queues.get(session);
    if (state?.run === undefined) return;
    state.waiting.unshift(...state.run.entries);
    state.run.entries = [];
    state.run.abort.abort();
  }

  #entry(session: string, message: Message): Waiting<Message> | undefined {
    const { run, waiting = [] } = this.#queues.get(session) ?? {};
    return [...(run?.entries ?? []), ...waiting].find(
      ({ what }) => "message" in what && what.message === message,
    );
  }

  /** Fails all that waits; runs in progress continue. */
  dismissWaiting(reason: Error): void {
    for (const state of this.#queues.values()) rejectAll(state.waiting.splice(0), reason);
  }

  #add(session: string, what: Waiting<Message>["what"]): Promise<DeliveryOutcome> {
    const settled = Promise.withResolvers<DeliveryOutcome>();
    const known = this.#queues.get(session);
    const state = known ?? { waiting: [], run: undefined };
    state.waiting.push({ what, settled });
    if (known === undefined) {
      this.#queues.set(session, state);
      void this.#work(session, state);
    }
    return settled.promise;
  }

  /** Never rejects: a failure belongs to the messages that it failed. */
  async #work(session: string, state: ChatQueue<Message>): Promise<void> {
    // What was handed over together takes its places first.
    await Promise.resolve();
    for (;;) {
      for (let ms = this.#holdMs(state); ms > 0; ms = this.#holdMs(state)) await pause(ms);
      if (state.waiting.length === 0) break;
      const abort = new AbortController();
      const run: ChatQueue<Message>["run"] = { entries: [], abort };
      try {
        run.entries = this.#next(state);
        state.run = run;
        const ended = this.#carryOut(run.entries, abort.signal);
        const outcomes = await Promise.race([ended, abandoned(abort.signal)]);
        for (const [index, outcome] of outcomes.entries()) run.entries[index]?.settled.resolve(outcome);
      } catch (error) {
        // One that was stopped has failed because of that, and nothing waits for its end any more.
        if (!abort.signal.aborted) {
          rejectAll(run.entries, error);
          rejectAll(state.waiting.splice(0), asRetryable(error));
        }
      }
      state.run = undefined;
    }
    // Without a pause behind the last look: who comes now finds either the work going on or none.
    this.#queues.delete(session);
  }

  async #carryOut(entries: Waiting<Message>[], signal: AbortSignal): Promise<DeliveryOutcome[]> {
    const [first, ...rest] = entries.map(({ what }) => what);
    if (first === undefined) return [];
    if ("work" in first) return [await first.work()];
    const behind = rest.flatMap((what) => ("message" in what ? [what.message] : []));
    return this.#options.answer([first.message, ...behind], signal);
  }

  /** Milliseconds for which one of those that are next to be answered waits for more. */
  #holdMs({ waiting }: ChatQueue<Message>): number {
    const { holdMs } = this.#options;
    const isWork = waiting.findIndex(({ what }) => "work" in what);
    const next = isWork === -1 ? waiting : waiting.slice(0, isWork);
    return Math.max(0, ...next.map(({ what }) => ("message" in what && holdMs?.(what.message)) || 0));
  }

  /** Takes the messages off that are answered together, or one piece of work. */
  #next({ waiting }: ChatQueue<Message>): Waiting<Message>[] {
    let count = 1;
    while (count < waiting.length && this.#belong(waiting[count - 1], waiting[count])) count += 1;
    return waiting.splice(0, count);
  }

  #belong(first: Waiting<Message> | undefined, second: Waiting<Message> | undefined): boolean {
    if (first === undefined || second === undefined) return false;
    if (!("message" in first.what) || !("message" in second.what)) return false;
    return this.#options.together(first.what.message, second.what.message);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Rejects some time after a stop, for a run that does not heed it. */
function abandoned(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => reject(new Error("a stopped run does not end"));
    signal.addEventListener("abort", () => void setTimeout(giveUp, HEED_MS).unref(), { once: true });
  });
}

/** Returns an error that lets a message come again: it fails only because of what was before it. */
function asRetryable(error: unknown): RetryableError {
  if (error instanceof RetryableError) return error;
  return new RetryableError("internal", "What was before it in the conversation failed.", { cause: error });
}

function rejectAll<Message>(entries: readonly Waiting<Message>[], reason: unknown): void {
  for (const { settled } of entries) settled.reject(reason);
}
