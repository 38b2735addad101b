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
import { sendAsFile } from "./outgoing.ts";

/**
 * Maximum number of completed events whose ids are kept. A later event may refer to a completed event in its `after`
 * field.
 */
const MAX_ENDED = 1_000;

export interface InboxOptions {
  /** Returns the current components, which a config change replaces. */
  parts(): Pick<Components, "config" | "channels"> & { agent: Pick<Agent, "answer"> };
  pairing: PairingDesk;
  admissions: Pick<AdmissionQuestions, "ask" | "settle">;
  actions: Pick<Actions, "take">;
  commands: Commands;
  sessions: Pick<
    Sessions,
    "addContext" | "changeContext" | "answerTo" | "steps" | "versionOf" | "knows" | "retract"
  >;
  records: DeliveryRecords;
  report: Report;
  replies: Pick<Replies, "answer" | "say" | "sendNotice" | "sendDelayNotice" | "timeFirstWord">;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * Processes events from the edge until their replies are sent. Answers a conversation's messages in order. A command
 * waits for pending answers only if it could change them.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #bursts: Bursts;
  readonly #queues: ChatQueues<Waiting>;
  readonly #changes: Changes;
  readonly #running = new Map<string, Promise<DeliveryOutcome>>();
  /** Completed events, oldest first. */
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

  get active(): number {
    return this.#running.size;
  }

  /** Returns milliseconds since the epoch. */
  lastEventAt(platform: Platform): number | undefined {
    return this.#last.get(platform);
  }

  /**
   * Queues events of one chat in order, synchronously. Each promise resolves when the reply to its event is sent, or
   * rejects with a RetryableError if the edge should retry. If an event cannot be queued, later ones are not queued
   * either.
   *
   * Rejects all events if `after`, the chat's previous event, is given but is neither in progress nor completed.
   */
  take(deliveries: readonly Delivery[], after?: string): Promise<DeliveryOutcome>[] {
    let failure: { error: unknown } | undefined;
    const isBehind = deliveries.every(
      ({ platform }) => after === undefined || this.#isPlaced(platform, after),
    );
    if (!isBehind) failure = { error: outOfOrderError() };
    return deliveries.map(async (delivery) => {
      try {
        if (failure !== undefined) throw failure.error;
        return this.#enqueue(delivery);
      } catch (error) {
        failure ??= { error };
        throw error;
      }
    });
  }

  /** Returns true if the event is in progress or completed. */
  #isPlaced(platform: Platform, id: string): boolean {
    const key = recordName({ platform, id });
    return (
      this.#running.has(key) || this.#ended.has(key) || this.#options.records.of({ platform, id }).answered
    );
  }

  /**
   * Queues one event as {@link take} does. If `notice` is set, instead notifies the chat that the answer is late or
   * will not come.
   */
  async deliver(delivery: Delivery): Promise<DeliveryOutcome> {
    const { notice, after } = delivery;
    this.#refuseWhileStopping();
    if (notice !== undefined) return this.#delays.notifyDelayed(delivery, notice);
    const [end] = this.take([delivery], after);
    return end ?? { outcome: "repeated" };
  }

  /** Runs work in the conversation's queue, after earlier and before later messages. */
  inTurn<T>(session: string, work: () => Promise<T>): Promise<T> {
    return this.#queues.inTurn(session, work);
  }

  /**
   * Rejects queued deliveries, waits up to `graceMs` for those in progress, then aborts them. The edge retries later.
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

  /** Queues an event synchronously, or throws. The promise resolves when the reply is sent. */
  #enqueue(delivery: Delivery): Promise<DeliveryOutcome> {
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
        if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
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
        log.info("a group has a new id", { id, platform, former: inbound.former, chat: inbound.chat });
        return {
          outcome: "ignored",
          note: inbound.note,
          change: { action: "move", detail: `${inbound.former} is now ${inbound.chat}` },
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
        // Keep a message as context, unless it continues an album or long text whose first part addressed the bot.
        if (inbound.kind === "context" && !this.#isContinuation(delivery, inbound))
          return this.#keepContext(delivery, inbound);
        return this.#message(delivery, channel, inbound);
    }
  }

  #isContinuation(delivery: Delivery, inbound: InboundMessage): boolean {
    const first = this.#queues.last(sessionOf(delivery.platform, inbound.target));
    return this.#bursts.isContinuation(first, delivery, inbound);
  }

  #message(delivery: Delivery, channel: Channel, inbound: InboundMessage): Promise<DeliveryOutcome> {
    const command = readCommand(inbound.text);
    if (command === undefined) return this.#ask(delivery, channel, inbound);
    const session = sessionOf(delivery.platform, inbound.target);
    const work = (): Promise<DeliveryOutcome> => this.#command(delivery, channel, inbound, command);
    return waitsForEarlierMessages(command) ? this.#queues.inTurn(session, work) : work();
  }

  #ask(delivery: Delivery, channel: Channel, inbound: InboundMessage): Promise<DeliveryOutcome> {
    const { id, platform, last, receivedAt } = delivery;
    const session = sessionOf(platform, inbound.target);
    const message: Waiting = { ...inbound, id, platform, last, receivedAt };
    const answered = this.#queues.ask(session, message);
    this.#changes.join(session, message);
    return this.#delays.withDelayNotice(delivery, channel, inbound, answered);
  }

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
        : sendAsFile(this.#options, { key: delivery, channel, target, text: answer.text });
    }
    const isOperator = rightsOf(parts().config, [admission]).roles.includes("operator");
    const text = isOperator ? admissions.settle(action) : PRESS_WORDS["another's"];
    return this.#say(delivery, channel, target, text);
  }

  async #answer(messages: readonly [Waiting, ...Waiting[]], signal: AbortSignal): Promise<DeliveryOutcome[]> {
    const { parts } = this.#options;
    const { channels } = parts();
    // Get the agent only when it is needed. A config change may replace it while files are loading.
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

  #keepContext({ id, platform }: Delivery, inbound: InboundMessage): DeliveryOutcome {
    const { sessions, clock } = this.#options;
    const keep = this.#historyLimit(platform);
    const text = contextText(inbound);
    if (keep > 0 && text !== "") {
      const { message, sender, target } = inbound;
      const note = { delivery: id, message, sender, text, at: clock() };
      sessions.addContext(sessionOf(platform, target), note, keep);
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

function outOfOrderError(): RetryableError {
  return new RetryableError("internal", "The previous event of the chat is no longer in progress here.");
}
