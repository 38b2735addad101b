import type { Inbound, InboundMessage, ReplyTarget } from "../../contract/message.ts";
import type { Delivery, DeliveryOutcome, Platform } from "../../contract/delivery.ts";
import type { Log } from "../../shared/log.ts";
import type { Actions, PressResult } from "../actions.ts";
import { rightsOf } from "../admission.ts";
import type { Agent } from "../agent/agent.ts";
import { type Channel, sessionOf } from "../channels/channel.ts";
import { type Command, type Commands, waitsForEarlierMessages, readCommand } from "../commands.ts";
import type { Report } from "../contract-report.ts";
import { RetryableError } from "../failure.ts";
import type { AdmissionQuestions } from "../pairing/question.ts";
import type { PairingDesk } from "../pairing/desk.ts";
import type { Components } from "../components.ts";
import type { Sessions } from "../sessions/store.ts";
import { contextText } from "./attachments.ts";
import { Bursts, type Waiting } from "./bursts.ts";
import { Changes } from "./changes.ts";
import { ChatQueues } from "./chat-queues.ts";
import { Delays } from "./delays.ts";
import { ANSWER_GONE_TEXT, PRESS_WORDS } from "./notices.ts";
import { type DeliveryRecords, recordName } from "./records.ts";
import { dismiss, type Replies } from "./replies.ts";
import { sendWhole } from "./outgoing.ts";

/**
 * Number of successful events that are remembered. The edge refers to an event only while it is in progress, so a few
 * suffice.
 */
const MOST_ENDED = 1_000;

/** Dependencies of the inbox. */
export interface InboxOptions {
  /** Read for each event and each run, which then keeps using the result. */
  parts(): Pick<Components, "config" | "channels"> & { agent: Pick<Agent, "answer"> };
  pairing: PairingDesk;
  admissions: Pick<AdmissionQuestions, "ask" | "settle">;
  actions: Pick<Actions, "take">;
  commands: Commands;
  sessions: Pick<
    Sessions,
    "noteContext" | "changeContext" | "answerTo" | "steps" | "versionOf" | "knows" | "retract"
  >;
  records: DeliveryRecords;
  report: Report;
  replies: Pick<Replies, "answer" | "say" | "tell" | "tellDelay" | "expect">;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * Accepts events from the edge and processes each one until its reply is sent. Messages are answered in order within
 * their conversation; commands only wait if they have to, and notices to strangers never do.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #bursts: Bursts;
  readonly #queues: ChatQueues<Waiting>;
  readonly #changes: Changes;
  readonly #running = new Map<string, Promise<DeliveryOutcome>>();
  /** Events that succeeded, oldest first. */
  readonly #ended = new Set<string>();
  readonly #last = new Map<Platform, number>();
  readonly #delays: Delays;
  readonly #end = new AbortController();
  #draining = false;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#bursts = new Bursts(options);
    this.#delays = new Delays({ ...options, isStopping: () => this.#draining });
    this.#queues = new ChatQueues({
      answer: (messages, signal) => this.#answer(messages, signal),
      together: (first, second) => this.#bursts.belong(first, second),
      holdMs: (message) => this.#bursts.holdMs(message),
    });
    this.#changes = new Changes({
      ...options,
      bursts: this.#bursts,
      queues: this.#queues,
      historyLimit: (platform) => this.#historyLimit(platform),
    });
  }

  /** Number of deliveries in progress. */
  get active(): number {
    return this.#running.size;
  }

  /** Returns when an event of a platform was last accepted, in milliseconds since the epoch. */
  lastEventAt(platform: Platform): number | undefined {
    return this.#last.get(platform);
  }

  /**
   * Accepts events of one chat, in order: all are queued when this returns. Each promise resolves once the event's
   * reply is sent. An event that is already in progress is awaited and reported as repeated; one that was answered is
   * not processed again. If an event is rejected, all later ones are too. All are rejected if `after`, the id of the
   * previous event, is neither in progress nor successful.
   *
   * A rejection is a RetryableError if the edge should retry.
   */
  take(deliveries: readonly Delivery[], after?: string): Promise<DeliveryOutcome>[] {
    let failure: { error: unknown } | undefined;
    const isBehind = deliveries.every(
      ({ platform }) => after === undefined || this.#isPlaced(platform, after),
    );
    if (!isBehind) failure = { error: overtaking() };
    return deliveries.map(async (delivery) => {
      try {
        if (failure !== undefined) throw failure.error;
        return this.#takeUp(delivery);
      } catch (error) {
        failure ??= { error };
        throw error;
      }
    });
  }

  /** Returns true for an event that is in progress or has succeeded. */
  #isPlaced(platform: Platform, id: string): boolean {
    const key = recordName({ platform, id });
    return (
      this.#running.has(key) || this.#ended.has(key) || this.#options.records.of({ platform, id }).answered
    );
  }

  /** Accepts one event, or sends its delay notice. See {@link take}. */
  async deliver(delivery: Delivery): Promise<DeliveryOutcome> {
    const { notice, after } = delivery;
    this.#refuseWhileStopping();
    if (notice !== undefined) return this.#delays.tellOfWaiting(delivery, notice);
    const [end] = this.take([delivery], after);
    return end ?? { outcome: "repeated" };
  }

  /** Runs work between the earlier and the later messages of a conversation. */
  inTurn<T>(session: string, work: () => Promise<T>): Promise<T> {
    return this.#queues.inTurn(session, work);
  }

  /**
   * Waits up to `graceMs` for deliveries in progress, then aborts them; the edge retries them later. Queued deliveries
   * fail at once.
   */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    this.#queues.dismissWaiting(stopping());
    const late = setTimeout(() => this.#end.abort(), graceMs);
    await Promise.allSettled(this.#running.values());
    clearTimeout(late);
    this.#end.abort();
  }

  #refuseWhileStopping(): void {
    if (this.#draining) throw stopping();
  }

  /**
   * Resolves once the event's reply is sent. The event is queued as soon as this returns.
   *
   * @throws the reason, synchronously, if the event cannot be accepted.
   */
  #takeUp(delivery: Delivery): Promise<DeliveryOutcome> {
    this.#refuseWhileStopping();
    const key = recordName(delivery);
    const running = this.#running.get(key);
    if (running !== undefined)
      return running.then((ended) => (ended.outcome === "ignored" ? ended : { outcome: "repeated" }));
    this.#ended.delete(key);
    const { parts, records, report, clock } = this.#options;
    const { platform } = delivery;
    if (records.of(delivery).answered) return Promise.resolve({ outcome: "repeated" });
    const channel = parts().channels.get(platform);
    if (channel === undefined) {
      const detail = `The config file has no enabled channel for ${platform}.`;
      throw new RetryableError("channel_not_configured", detail);
    }
    this.#last.set(platform, clock());
    const inbound = channel.receive(delivery.payload);
    for (const part of channel.unknownParts(delivery.payload))
      report("message", `${platform}: ${part}`, delivery.payload);
    const work = this.#carryOut(delivery, channel, inbound)
      .then((outcome) => {
        this.#ended.add(key);
        const [oldest] = this.#ended;
        if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest);
        return outcome;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, work);
    return work;
  }

  async #carryOut(delivery: Delivery, channel: Channel, inbound: Inbound): Promise<DeliveryOutcome> {
    const { pairing, admissions, log } = this.#options;
    const { id, platform } = delivery;
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
      case "moved":
        channel.moved?.(inbound);
        log.info("a group has another id", { id, platform, former: inbound.former, chat: inbound.chat });
        return {
          outcome: "ignored",
          note: inbound.note,
          change: { action: "move", detail: `${inbound.former} is ${inbound.chat} now` },
        };
      case "refused":
        return this.#say(delivery, channel, inbound.target, inbound.text);
      case "unpaired": {
        const { sender, target, meta } = inbound;
        const text = pairing.ask({ platform, sender, target, ...(meta && { meta }) });
        void admissions.ask(platform, sender, meta);
        return this.#say(delivery, channel, target, text);
      }
      case "pressed":
        return this.#press(delivery, channel, inbound);
      case "deleted": {
        const { gone, ...end } = this.#changes.delete(platform, inbound);
        for (const { target } of gone) void dismiss(channel, target);
        return end;
      }
      case "context":
      case "message":
        if (inbound.edited)
          return this.#changes.edit(delivery, inbound, (message) => this.#ask(delivery, channel, message));
        // In an album only one message contains the text, and in a split text only the first part mentions the bot.
        if (inbound.kind === "context" && !this.#isRest(delivery, inbound))
          return this.#keepContext(delivery, inbound);
        return this.#message(delivery, channel, inbound);
    }
  }

  #isRest(delivery: Delivery, inbound: InboundMessage): boolean {
    const first = this.#queues.last(sessionOf(delivery.platform, inbound.target));
    return this.#bursts.isRest(first, delivery, inbound);
  }

  /** Queues a message. A command is queued only if it has to wait, else it runs at once. */
  #message(delivery: Delivery, channel: Channel, inbound: InboundMessage): Promise<DeliveryOutcome> {
    const command = readCommand(inbound.text);
    if (command === undefined) return this.#ask(delivery, channel, inbound);
    const session = sessionOf(delivery.platform, inbound.target);
    const work = (): Promise<DeliveryOutcome> => this.#command(delivery, channel, inbound, command);
    return waitsForEarlierMessages(command) ? this.#queues.inTurn(session, work) : work();
  }

  /** Queues a message for an answer. */
  #ask(delivery: Delivery, channel: Channel, inbound: InboundMessage): Promise<DeliveryOutcome> {
    const { id, platform, last, receivedAt } = delivery;
    const session = sessionOf(platform, inbound.target);
    const message: Waiting = { ...inbound, id, platform, last, receivedAt };
    const answered = this.#queues.ask(session, message);
    this.#changes.join(session, message);
    return this.#delays.noticed(delivery, channel, inbound, answered);
  }

  /** Performs a button's action, if this person may press it. */
  async #press(
    delivery: Delivery,
    channel: Channel,
    inbound: Extract<Inbound, { kind: "pressed" }>,
  ): Promise<DeliveryOutcome> {
    const { parts, actions, admissions, sessions } = this.#options;
    const { id, platform } = delivery;
    const { direct, admission, sender, target, press } = inbound;
    const place = { platform, sender: sender.id, delivery: id };
    const pressed: PressResult =
      admission === undefined ? { is: "another's" } : actions.take({ press, ...place });
    if (pressed.is !== "taken" || admission === undefined) {
      const why = pressed.is === "taken" ? "another's" : pressed.is;
      await channel.answerPress?.(inbound, PRESS_WORDS[why], why === "used" || why === "expired");
      return { outcome: "ignored", note: `a button: ${why}` };
    }
    const { action, label } = pressed;
    await channel.answerPress?.(inbound, label, true);
    if (action.does === "say") {
      const { text } = action;
      return this.#message(delivery, channel, { direct, admission, sender, target, text, attachments: [] });
    }
    if (action.does === "file") {
      const isHere = action.session === sessionOf(platform, target);
      const answer = isHere ? sessions.answerTo(action.session, action.delivery) : undefined;
      return answer === undefined
        ? this.#say(delivery, channel, target, ANSWER_GONE_TEXT)
        : sendWhole(this.#options, { key: delivery, channel, target, text: answer.text });
    }
    const isOperator = rightsOf(parts().config, [admission]).roles.includes("operator");
    const text = isOperator ? admissions.settle(action) : PRESS_WORDS["another's"];
    return this.#say(delivery, channel, target, text);
  }

  async #answer(messages: readonly [Waiting, ...Waiting[]], signal: AbortSignal): Promise<DeliveryOutcome[]> {
    const { parts } = this.#options;
    const { channels } = parts();
    // Read only after the files were loaded: a config change may have closed the previous agent meanwhile.
    const agent: Pick<Agent, "answer"> = {
      answer: (question, options) => parts().agent.answer(question, options),
    };
    const { platform } = messages[0];
    const channel = channels.get(platform);
    if (channel === undefined) throw new RetryableError("channel_not_configured", "The channel was removed.");
    const either = AbortSignal.any([signal, this.#end.signal]);
    const onBegun = (): void => this.#bursts.begin(messages);
    return this.#options.replies.answer(messages, { platform, channel, agent, signal: either, onBegun });
  }

  /** Stores a message as context for the bot's next answer in that group. */
  #keepContext({ id, platform }: Delivery, inbound: InboundMessage): DeliveryOutcome {
    const { sessions, clock } = this.#options;
    const keep = this.#historyLimit(platform);
    const text = contextText(inbound);
    if (keep > 0 && text !== "") {
      const { message, sender, target } = inbound;
      const note = { delivery: id, message, sender, text, at: clock() };
      sessions.noteContext(sessionOf(platform, target), note, keep);
    }
    return { outcome: "ignored", note: "not for the bot, kept as context" };
  }

  #historyLimit(platform: Platform): number {
    return this.#options.parts().config.channels[platform]?.historyLimit ?? 0;
  }

  async #command(
    delivery: Delivery,
    channel: Channel,
    { target, sender, admission }: InboundMessage,
    command: Command,
  ): Promise<DeliveryOutcome> {
    const { commands, records, clock } = this.#options;
    const { platform } = delivery;
    const session = sessionOf(platform, target);
    let text = records.of(delivery).said;
    if (text === undefined) {
      const stop = (): number => this.#stop(platform, channel, session);
      text = commands.run(command, { session, platform, sender, admission, stop });
      records.say(delivery, text, clock());
    }
    return this.#say(delivery, channel, target, text);
  }

  #stop(platform: Platform, channel: Channel, session: string): number {
    const { records, clock } = this.#options;
    return this.#queues.stop(session, (messages) => {
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
    const said = await this.#options.replies.say(delivery, channel, target, text);
    const { outcome, note } = said;
    this.#options.log.info(`event ${outcome}`, { id, platform, kind: "notice", ...(note && { note }) });
    return said;
  }
}

function stopping(): RetryableError {
  return new RetryableError("gateway_unavailable", "The gateway is stopping.");
}

function overtaking(): RetryableError {
  return new RetryableError("internal", "The previous event of the chat is no longer in progress here.");
}
