import type { DeliveryOutcome } from "../../contract/delivery.ts";
import { RetryableError } from "../failure.ts";

/** Runs work in the conversation's queue, after earlier and before later entries. */
export type InTurn = <T>(session: string, work: () => Promise<T>) => Promise<T>;

export interface ChatQueuesOptions<Message> {
  /** Answers the messages in one run. Returns the outcomes in the order of `messages`. */
  answer(messages: readonly [Message, ...Message[]], signal: AbortSignal): Promise<DeliveryOutcome[]>;
  together(first: Message, second: Message): boolean;
  /** Returns the milliseconds to wait for further parts of a split message. */
  holdMs?(message: Message): number;
}

interface Waiting<Message> {
  what: { message: Message } | { work: () => Promise<DeliveryOutcome> };
  settled: PromiseWithResolvers<DeliveryOutcome>;
}

interface ChatQueue<Message> {
  waiting: Waiting<Message>[];
  /** Current run. `restart` moves its `entries` back to `waiting`. */
  run: { entries: Waiting<Message>[]; abort: AbortController } | undefined;
}

export interface OpenMessages<Message> {
  running: readonly Message[];
  waiting: readonly Message[];
  /** True if the queue contains work other than messages, such as a command. */
  interrupted: boolean;
}

/** Time for an aborted run to end, in milliseconds. Afterwards, the queue continues without it. */
const HEED_MS = 5_000;
const DONE: DeliveryOutcome = { outcome: "answered" };
const STOPPED: DeliveryOutcome = { outcome: "ignored", note: "stopped" };

/**
 * Runs conversations in parallel, with one run at a time in each. Messages that arrive during a run are answered
 * together afterwards.
 *
 * If a run fails, the waiting messages of its conversation fail as well, so that none is answered before the failed
 * message is retried.
 */
export class ChatQueues<Message> {
  readonly #options: ChatQueuesOptions<Message>;
  readonly #queues = new Map<string, ChatQueue<Message>>();

  constructor(options: ChatQueuesOptions<Message>) {
    this.#options = options;
  }

  ask(session: string, message: Message): Promise<DeliveryOutcome> {
    return this.#add(session, { message });
  }

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
   * Stops all running and queued messages of a conversation and returns their number. `settle` stores the messages'
   * outcome before their promises resolve.
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

  last(session: string): Message | undefined {
    const what = this.#queues.get(session)?.waiting.at(-1)?.what;
    return what !== undefined && "message" in what ? what.message : undefined;
  }

  open(session: string): OpenMessages<Message> {
    const { run, waiting = [] } = this.#queues.get(session) ?? {};
    const messages = (entries: Waiting<Message>[] = []): Message[] =>
      entries.flatMap(({ what }) => ("message" in what ? [what.message] : []));
    const interrupted = waiting.some(({ what }) => "work" in what);
    return { running: messages(run?.entries), waiting: messages(waiting), interrupted };
  }

  /** Replaces an unsettled message. A run that has already started does not see the replacement. */
  replace(session: string, message: Message, instead: Message): void {
    const entry = this.#entry(session, message);
    if (entry !== undefined) entry.what = { message: instead };
  }

  /**
   * Resolves to a message's outcome; to `undefined` if the message is neither queued nor being answered. Rejects if
   * the answer fails.
   */
  async ending(session: string, message: Message): Promise<DeliveryOutcome | undefined> {
    return this.#entry(session, message)?.settled.promise;
  }

  /** Settles a message. A run that includes it restarts with the other messages, if any. */
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

  /** Aborts the current run and answers its messages again, together with those queued since. */
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

  /** Rejects all queued entries. Runs in progress continue. */
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

  /**
   * Works through a conversation's queue until it is empty. Never rejects: failures are reported through the entries.
   */
  async #work(session: string, state: ChatQueue<Message>): Promise<void> {
    // Wait until the messages of the same tick have joined the queue.
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
        // The entries of an aborted run are already settled or queued again.
        if (!abort.signal.aborted) {
          rejectAll(run.entries, error);
          rejectAll(state.waiting.splice(0), asRetryable(error));
        }
      }
      state.run = undefined;
    }
    // No `await` since the last check, so no message can have joined this queue.
    this.#queues.delete(session);
  }

  async #carryOut(entries: Waiting<Message>[], signal: AbortSignal): Promise<DeliveryOutcome[]> {
    const [first, ...rest] = entries.map(({ what }) => what);
    if (first === undefined) return [];
    if ("work" in first) return [await first.work()];
    const behind = rest.flatMap((what) => ("message" in what ? [what.message] : []));
    return this.#options.answer([first.message, ...behind], signal);
  }

  #holdMs({ waiting }: ChatQueue<Message>): number {
    const { holdMs } = this.#options;
    const isWork = waiting.findIndex(({ what }) => "work" in what);
    const next = isWork === -1 ? waiting : waiting.slice(0, isWork);
    return Math.max(0, ...next.map(({ what }) => ("message" in what && holdMs?.(what.message)) || 0));
  }

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

/** Rejects if a run does not end within HEED_MS of its abort. */
function abandoned(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => reject(new Error("a stopped run did not end in time"));
    signal.addEventListener("abort", () => void setTimeout(giveUp, HEED_MS).unref(), { once: true });
  });
}

function asRetryable(error: unknown): RetryableError {
  if (error instanceof RetryableError) return error;
  return new RetryableError("internal", "An earlier message of the conversation failed.", { cause: error });
}

function rejectAll<Message>(entries: readonly Waiting<Message>[], reason: unknown): void {
  for (const { settled } of entries) settled.reject(reason);
}
