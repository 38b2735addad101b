import type { InboundMessage } from "../../contract/message.ts";
import type { Delivery, Platform } from "../../contract/delivery.ts";
import { sessionOf } from "../channels/channel.ts";
import type { Sessions } from "../sessions/store.ts";
import type { OpenMessages } from "./chat-queues.ts";
import type { DeliveryRecords } from "./records.ts";
import type { UnansweredMessage } from "./replies.ts";

/** Milliseconds to wait for the rest of an album, or of a long text that Telegram's app split. */
const HOLD_MS = 800;
/** Milliseconds after a question's first message during which the sender can add messages. */
const FOLLOW_UP_MS = 5_000;
/**
 * Limit for follow-ups: a message that arrives while a question is being answered is added to the question only if
 * the question contains fewer messages than this limit.
 */
const MAX_JOINED = 5;

export interface Waiting extends UnansweredMessage {
  platform: Platform;
  receivedAt: number;
}

interface BurstsOptions {
  records: Pick<DeliveryRecords, "of">;
  sessions: Pick<Sessions, "answerTo" | "steps">;
  /** Milliseconds since the epoch. */
  clock(): number;
}

export class Bursts {
  readonly #options: BurstsOptions;
  readonly #begun = new WeakSet<Waiting>();

  constructor(options: BurstsOptions) {
    this.#options = options;
  }

  /**
   * Returns true if two messages may be answered together. Each thread is answered separately, and a retry keeps the
   * earlier attempt's grouping.
   */
  belong(first: Waiting, second: Waiting): boolean {
    const { records, sessions } = this.#options;
    const answerOf = ({ id, platform, target }: Waiting): string | undefined =>
      sessions.answerTo(sessionOf(platform, target), id)?.delivery;
    if (!isOnePlace(first, second)) return false;
    return records.of(first).owner === records.of(second).owner && answerOf(first) === answerOf(second);
  }

  /**
   * Returns true if a message and the one queued before it belong to one album, or to a long text that Telegram's app
   * split.
   */
  isContinuation(
    first: Waiting | undefined,
    { receivedAt }: Delivery,
    { sender, target, continues }: InboundMessage,
  ): boolean {
    if (first?.continues === undefined || first.sender.id !== sender.id) return false;
    if (first.target.thread !== target.thread || receivedAt - first.receivedAt > HOLD_MS) return false;
    return first.continues === "text" || first.continues === continues;
  }

  /** Returns the milliseconds left to wait for later parts of an album or a long text. */
  holdMs({ continues, receivedAt }: Waiting): number {
    if (continues === undefined) return 0;
    return Math.min(receivedAt + HOLD_MS - this.#options.clock(), HOLD_MS);
  }

  /**
   * Returns true if a new message belongs to the question in progress: its sender asked that question moments ago,
   * and no text has been sent and no tool called since.
   */
  isFollowUp(message: Waiting, { running, waiting, interrupted }: OpenMessages<Waiting>): boolean {
    const [first] = running;
    if (first === undefined || waiting.length !== 1 || interrupted) return false;
    // A message with a ticket comes from a Discord interaction, which shows as pending until it gets its own answer.
    if (running.length >= MAX_JOINED || first.target.ticket !== undefined) return false;
    if (this.#options.clock() - first.receivedAt >= FOLLOW_UP_MS) return false;
    return running.every(
      (one) =>
        one.sender.id === message.sender.id &&
        isOnePlace(one, message) &&
        this.progress(one, running) === "none",
    );
  }

  /** Records that the answer to these messages is about to be sent. */
  begin(messages: readonly Waiting[]): void {
    for (const message of messages) this.#begun.add(message);
  }

  /**
   * Returns the progress of a message's answer, including earlier attempts. `worked`: tools were called. `out`: text
   * was sent or is about to be.
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
