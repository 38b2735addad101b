import type { InboundMessage, ReplyTarget } from "../../contract/message.ts";
import type { Delivery, DeliveryNotice, DeliveryOutcome } from "../../contract/delivery.ts";
import { LONGEST_TIMER_MS, parseDuration } from "../../contract/duration.ts";
import type { Log } from "../../shared/log.ts";
import { type Channel, sessionOf } from "../channels/channel.ts";
import { readCommand } from "../commands.ts";
import type { Components } from "../components.ts";
import { givenUpText, SLOW_MODEL_TEXT, waitText } from "./notices.ts";
import type { Replies } from "./replies.ts";

/** Minimum wait before a delay notice, in milliseconds, unless `agent.noticeAfter` is shorter. */
const LATE_MS = 10_000;
const MAX_TOLD = 1_000;

interface DelaysOptions {
  parts(): Pick<Components, "config" | "channels">;
  replies: Pick<Replies, "sendNotice" | "sendDelayNotice" | "timeFirstWord">;
  /**
   * Returns true while the gateway is stopping. The gateway then sends no delay notices, because the edge delivers
   * unanswered messages again.
   */
  isStopping(): boolean;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/**
 * Sends a notice if an answer is delayed or has failed. One notice covers all messages of the chat that arrived
 * before the notice and are still unanswered.
 */
export class Delays {
  readonly #options: DelaysOptions;
  readonly #told = new Map<string, number>();

  constructor(options: DelaysOptions) {
    this.#options = options;
  }

  /**
   * Awaits an answer. Notifies the chat if no part of the answer was sent within `agent.noticeAfter`, or within
   * {@link LATE_MS} for an overdue message.
   */
  async withDelayNotice<T>(
    delivery: Delivery,
    channel: Channel,
    { target, sender }: Pick<InboundMessage, "target" | "sender">,
    answered: Promise<T>,
  ): Promise<T> {
    const { parts, replies, isStopping, clock, log } = this.#options;
    const stopWaiting = replies.timeFirstWord(delivery, delivery.receivedAt);
    const afterMs = parseDuration(parts().config.agent.noticeAfter) ?? 0;
    const left = delivery.receivedAt + afterMs - clock();
    const tell = (): void => {
      if (isStopping()) return;
      void this.#tell(delivery, channel, target, SLOW_MODEL_TEXT, sender.id).catch((error: unknown) =>
        log.debug("a delay notice could not be sent", { id: delivery.id, error: String(error) }),
      );
    };
    const waitMs = Math.min(Math.max(left, Math.min(afterMs, LATE_MS)), LONGEST_TIMER_MS);
    const timer = setTimeout(tell, waitMs).unref();
    try {
      return await answered;
    } finally {
      clearTimeout(timer);
      stopWaiting();
    }
  }

  /**
   * Tells the chat that the edge delays a message or has given up on it. Sends nothing for a command, or for a
   * message that is not for the bot.
   */
  async notifyDelayed(delivery: Delivery, notice: DeliveryNotice): Promise<DeliveryOutcome> {
    const { parts, replies, clock } = this.#options;
    const { code, nextAt, givenUp } = notice;
    const { platform, payload, receivedAt } = delivery;
    const channel = parts().channels.get(platform);
    const inbound = channel?.receive(payload);
    if (channel === undefined || inbound?.kind !== "message" || readCommand(inbound.text) !== undefined) {
      return { outcome: "ignored", note: "no notice needed" };
    }
    const { target } = inbound;
    if (givenUp) {
      const isTold = this.#checkNotified(`given up ${sessionOf(platform, target)}`, receivedAt);
      const told = isTold || (await replies.sendNotice(delivery, channel, target, givenUpText(code)));
      return { outcome: told ? "answered" : "ignored", note: "given up" };
    }
    const waitMs = nextAt === undefined ? undefined : Math.max(0, nextAt - clock());
    await this.#tell(
      delivery,
      channel,
      target,
      code === undefined ? SLOW_MODEL_TEXT : waitText(code, waitMs),
    );
    return { outcome: "answered", note: "delay notice sent" };
  }

  async #tell(
    delivery: Delivery,
    channel: Channel,
    target: ReplyTarget,
    text: string,
    by?: string,
  ): Promise<void> {
    const session = sessionOf(delivery.platform, target);
    if (!this.#checkNotified(session, delivery.receivedAt))
      await this.#options.replies.sendDelayNotice(delivery, channel, target, text, by);
  }

  /**
   * Returns true if the chat was last notified at `receivedAt` or later. Otherwise, records the current time as the
   * time of the chat's last notification and returns false.
   *
   * @param what Key that names the chat and the kind of notification. Each kind is tracked separately.
   * @param receivedAt Time at which the message was received, in milliseconds since the epoch.
   */
  #checkNotified(what: string, receivedAt: number): boolean {
    if ((this.#told.get(what) ?? 0) >= receivedAt) return true;
    if (this.#told.size >= MAX_TOLD) this.#told.clear();
    this.#told.set(what, this.#options.clock());
    return false;
  }
}
