import type { Delivery, DeliveryOutcome, Platform } from "../../contract/delivery.ts";
import type { Log } from "../../contract/log.ts";
import type { Agent } from "../agent/agent.ts";
import { type Channel, conversationOf, type InboundMessage, type ReplyTarget } from "../channels/channel.ts";
import { type Command, type Commands, keepsItsPlace, readCommand } from "../commands.ts";
import { RetryableError } from "../failure.ts";
import type { PairingDesk } from "../pairing/desk.ts";
import type { Components } from "../components.ts";
import type { Sessions } from "../sessions/store.ts";
import { textWith } from "./attachments.ts";
import { Conversations } from "./conversations.ts";
import type { DeliveryRecords } from "./records.ts";
import { type Asked, dismiss, Replies } from "./replies.ts";

/** Dependencies of taking up events. */
export interface EventsOptions {
  /** Asked for each event and each run, which then stays with what it got. */
  parts(): Pick<Components, "config" | "channels"> & { agent: Pick<Agent, "answer"> };
  pairing: PairingDesk;
  commands: Commands;
  sessions: Pick<Sessions, "noteContext" | "answerTo" | "steps">;
  records: DeliveryRecords;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
  /** Ends all runs. */
  signal: AbortSignal;
}

/** A message in its conversation. */
interface Waiting extends Asked {
  platform: Platform;
}

/**
 * Fate of an event: a message takes its place in its conversation, a command only where it has
 * to; what is said to strangers waits for nothing.
 */
export class Events {
  readonly #options: EventsOptions;
  readonly #replies: Replies;
  readonly #conversations: Conversations<Waiting>;
  readonly #last = new Map<Platform, number>();

  constructor(options: EventsOptions) {
    this.#options = options;
    this.#replies = new Replies(options);
    this.#conversations = new Conversations({
      answer: (messages, signal) => this.#answer(messages, signal),
      together: (first, second) => this.#belong(first, second),
      lacks: (first, behind) => this.#isTorn(first, behind),
    });
  }

  /** Returns when an event of a platform was last taken up, in milliseconds since the epoch. */
  lastAt(platform: Platform): number | undefined {
    return this.#last.get(platform);
  }

  /** Does something in turn with a conversation's messages. */
  inTurn<T>(conversation: string, work: () => Promise<T>): Promise<T> {
    return this.#conversations.inTurn(conversation, work);
  }

  /** Fails whatever waits for its run. */
  dismissWaiting(reason: Error): void {
    this.#conversations.dismissWaiting(reason);
  }

  /** Returns when the event's reply is out. It has its place in its conversation as soon as this is called. */
  async takeUp(delivery: Delivery): Promise<DeliveryOutcome> {
    const { parts, records, pairing, clock, log } = this.#options;
    const { id, platform } = delivery;
    if (records.of(delivery).answered) return { outcome: "repeated" };
    const channel = parts().channels.get(platform);
    if (channel === undefined) {
      const detail = `The config file has no channel that is served here for ${platform}.`;
      throw new RetryableError("channel_not_configured", detail);
    }
    this.#last.set(platform, clock());
    const inbound = channel.receive(delivery.payload);
    switch (inbound.kind) {
      case "ignored":
        log.debug("event ignored", { id, platform, note: inbound.note });
        if (inbound.target !== undefined && inbound.text !== undefined)
          await this.#say(delivery, channel, inbound.target, inbound.text);
        else if (inbound.target !== undefined) await dismiss(channel, inbound.target);
        return {
          outcome: "ignored",
          note: inbound.note,
          ...(inbound.unlisted !== undefined && { group: inbound.unlisted }),
        };
      case "context":
        return this.#keepContext(delivery, inbound);
      case "refused":
        return this.#say(delivery, channel, inbound.target, inbound.text);
      case "unpaired": {
        const { sender, target, meta } = inbound;
        const text = pairing.ask({ platform, sender, target, ...(meta && { meta }) });
        if (text !== undefined) return this.#say(delivery, channel, target, text);
        await dismiss(channel, target);
        return { outcome: "ignored", note: "as many as allowed wait for approval" };
      }
      case "message": {
        const conversation = conversationOf(platform, inbound.target);
        const command = readCommand(inbound.text);
        if (command === undefined) return this.#conversations.ask(conversation, { ...inbound, id, platform });
        const work = (): Promise<DeliveryOutcome> => this.#command(delivery, channel, inbound, command);
        return keepsItsPlace(command) ? this.#conversations.inTurn(conversation, work) : work();
      }
    }
  }

  /**
   * Tells whether two may be answered together. A question of a thread is answered there, and not with others. Those of an earlier
   * attempt are answered with the ones that they were with then: under the same owner, and where an answer
   * was made, by the same one.
   */
  #belong(first: Waiting, second: Waiting): boolean {
    const { records, sessions } = this.#options;
    const apart = first.inThread === true || second.inThread === true;
    if (apart && first.target.thread !== second.target.thread) return false;
    const answerOf = ({ id, platform, target }: Waiting): string | undefined =>
      sessions.answerTo(conversationOf(platform, target), id)?.delivery;
    return records.of(first).owner === records.of(second).owner && answerOf(first) === answerOf(second);
  }

  /**
   * Tells whether a burst of an earlier attempt has lost its last. The outcomes of tools are kept under the last of its burst. Alone, another one of them
   * would be answered without that, and would run them again.
   */
  #isTorn(first: Waiting, behind: readonly Waiting[]): boolean {
    const { records, sessions } = this.#options;
    const { platform, target } = first;
    const { owner } = records.of(first);
    if (owner === undefined || owner === first.id || behind.some(({ id }) => id === owner)) return false;
    return sessions.steps.of(conversationOf(platform, target), owner).length > 0;
  }

  async #answer(messages: readonly [Waiting, ...Waiting[]], signal: AbortSignal): Promise<DeliveryOutcome[]> {
    const { parts } = this.#options;
    const { channels } = parts();
    // Asked for when the files are there: the agent of a config before is closed meanwhile.
    const agent: Pick<Agent, "answer"> = {
      answer: (question, options) => parts().agent.answer(question, options),
    };
    const { platform } = messages[0];
    const channel = channels.get(platform);
    if (channel === undefined) throw new RetryableError("channel_not_configured", "The channel was removed.");
    const either = AbortSignal.any([signal, this.#options.signal]);
    return this.#replies.answer(messages, { platform, channel, agent, signal: either });
  }

  /** Kept for the bot's next answer in that group. */
  #keepContext({ id, platform }: Delivery, inbound: InboundMessage): DeliveryOutcome {
    const { parts, sessions, clock } = this.#options;
    const keep = parts().config.channels[platform]?.historyLimit ?? 0;
    const text = textWith(inbound);
    if (keep > 0 && text !== "") {
      const message = { delivery: id, sender: inbound.sender, text, at: clock() };
      sessions.noteContext(conversationOf(platform, inbound.target), message, keep);
    }
    return { outcome: "ignored", note: "not for the bot, kept as context" };
  }

  async #command(
    delivery: Delivery,
    channel: Channel,
    { target, sender, direct }: InboundMessage,
    command: Command,
  ): Promise<DeliveryOutcome> {
    const { commands, records, clock } = this.#options;
    const { platform } = delivery;
    const conversation = conversationOf(platform, target);
    let text = records.of(delivery).said;
    if (text === undefined) {
      const stop = (): number => this.#stop(platform, channel, conversation);
      text = commands.run(command, { conversation, platform, sender, direct, stop });
      records.say(delivery, text, clock());
    }
    return this.#say(delivery, channel, target, text);
  }

  #stop(platform: Platform, channel: Channel, conversation: string): number {
    const { records, clock } = this.#options;
    return this.#conversations.stop(conversation, (messages) => {
      const ids = messages.map(({ id }) => id);
      if (ids.length > 0) records.answer(platform, ids, clock());
      for (const { target } of messages) void dismiss(channel, target);
    });
  }

  async #say(
    delivery: Delivery,
    channel: Channel,
    target: ReplyTarget,
    text: string,
  ): Promise<DeliveryOutcome> {
    const { id, platform } = delivery;
    const note = await this.#replies.say(delivery, channel, target, text);
    this.#options.log.info("event answered", { id, platform, kind: "notice", ...(note && { note }) });
    return { outcome: "answered", ...(note !== undefined && { note }) };
  }
}
