import type { InboundMessage } from "../../contract/message.ts";
import type { Delivery, Platform } from "../../contract/delivery.ts";
import { sessionOf } from "../channels/channel.ts";
import type { Sessions } from "../sessions/store.ts";
import type { OpenMessages } from "./chat-queues.ts";
import type { DeliveryRecords } from "./records.ts";
import type { Asked } from "./replies.ts";

/** Time in which the rest of what was cut comes: the pictures of an album, the end of a long text. */
const HOLD_MS = 800;
/** Age of a question up to which what its sender adds belongs to it: people then still write. */
const FOLLOW_UP_MS = 5_000;
/** Messages of a question that follow-ups make: each is another request to the model. */
const MOST_JOINED = 5;

/** A message in its conversation. */
export interface Waiting extends Asked {
  platform: Platform;
  receivedAt: number;
}

/** Dependencies of {@link Bursts}. */
interface BurstsOptions {
  records: Pick<DeliveryRecords, "of">;
  sessions: Pick<Sessions, "answerTo" | "steps">;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** Decides which messages are one question. */
export class Bursts {
  readonly #options: BurstsOptions;
  readonly #begun = new WeakSet<Waiting>();

  constructor(options: BurstsOptions) {
    this.#options = options;
  }

  /**
   * Returns true if two messages may be answered together. A question of a thread is answered there, and not with others.
   * Those of an earlier attempt are answered with the ones that they were with then: under the same owner, and by the
   * same answer if one was made.
   */
  belong(first: Waiting, second: Waiting): boolean {
    const { records, sessions } = this.#options;
    const answerOf = ({ id, platform, target }: Waiting): string | undefined =>
      sessions.answerTo(sessionOf(platform, target), id)?.delivery;
    if (!isOnePlace(first, second)) return false;
    return records.of(first).owner === records.of(second).owner && answerOf(first) === answerOf(second);
  }

  /** Returns true if a message is the rest of the one that waits before it: of an album, or of a text that the app cut. */
  isRest(
    first: Waiting | undefined,
    { receivedAt }: Delivery,
    { sender, target, continues }: InboundMessage,
  ): boolean {
    if (first?.continues === undefined || first.sender.id !== sender.id) return false;
    if (first.target.thread !== target.thread || receivedAt - first.receivedAt > HOLD_MS) return false;
    return first.continues === "text" || first.continues === continues;
  }

  /**
   * Milliseconds for which a message with more behind it waits for that: from when it came, so that one which is late
   * waits for nothing.
   */
  holdMs({ continues, receivedAt }: Waiting): number {
    if (continues === undefined) return 0;
    return Math.min(receivedAt + HOLD_MS - this.#options.clock(), HOLD_MS);
  }

  /**
   * Returns true if a message that has just come belongs to the question that is being answered: its sender asked that a
   * moment ago, and there is neither a word of the answer nor a tool's result. No message waits for such a follow-up.
   */
  isFollowUp(message: Waiting, { running, waiting, interrupted }: OpenMessages<Waiting>): boolean {
    const [first] = running;
    if (first === undefined || waiting.length !== 1 || interrupted) return false;
    // A ticket's request shows that it is being answered, and has an answer of its own.
    if (running.length >= MOST_JOINED || first.target.ticket !== undefined) return false;
    if (this.#options.clock() - first.receivedAt >= FOLLOW_UP_MS) return false;
    return running.every(
      (one) =>
        one.sender.id === message.sender.id &&
        isOnePlace(one, message) &&
        this.progress(one, running) === "none",
    );
  }

  /** There is a first word of the answer to these messages. */
  begin(messages: readonly Waiting[]): void {
    for (const message of messages) this.#begun.add(message);
  }

  /**
   * Returns how far the answer to a message has come, now or at an earlier attempt. `worked`: tools have run for it. `out`:
   * there are words of it, which are out or about to be.
   */
  progress(message: Waiting, running: readonly Waiting[]): "none" | "worked" | "out" {
    const { records, sessions } = this.#options;
    const { id, platform, target } = message;
    const together = running.includes(message) ? running : [message];
    const { owner = id, answered } = records.of(message);
    const { draft, sent } = records.of({ platform, id: owner });
    const session = sessionOf(platform, target);
    const isMade = answered || sessions.answerTo(session, id) !== undefined;
    if (isMade || draft !== undefined || sent > 0 || together.some((one) => this.#begun.has(one)))
      return "out";
    const owners = new Set([owner, ...together.map((one) => one.id)]);
    return [...owners].some((one) => sessions.steps.of(session, one).length > 0) ? "worked" : "none";
  }
}

function isOnePlace(first: Waiting, second: Waiting): boolean {
  const isThreads = first.inThread === true || second.inThread === true;
  return !isThreads || first.target.thread === second.target.thread;
}
