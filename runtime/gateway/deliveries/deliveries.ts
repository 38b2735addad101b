import type { Delivery, DeliveryOutcome, Platform } from "../../contract/delivery.ts";
import { RetryableError } from "../failure.ts";
import { Events, type EventsOptions } from "./events.ts";
import { ArrivalOrder } from "./order.ts";

/** Dependencies of deliveries. */
export type DeliveriesOptions = Omit<EventsOptions, "signal">;

/** Carries a delivery from its event to the reply that is out: each once at a time, and in order. */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #events: Events;
  readonly #running = new Map<string, Promise<DeliveryOutcome>>();
  readonly #order = new ArrivalOrder();
  readonly #end = new AbortController();
  #draining = false;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#events = new Events({ ...options, signal: this.#end.signal });
  }

  /** Deliveries under way. */
  get active(): number {
    return this.#running.size;
  }

  /** Returns when an event of a platform was last taken up, in milliseconds since the epoch. */
  lastEventAt(platform: Platform): number | undefined {
    return this.#events.lastAt(platform);
  }

  /**
   * Returns when the reply is out. A delivery that is under way already is waited for and counts as
   * repeated; one that was answered before is not looked at again.
   *
   * @throws RetryableError where the edge should try again.
   */
  async deliver(delivery: Delivery): Promise<DeliveryOutcome> {
    this.#refuseWhileStopping();
    const key = keyOf(delivery);
    const running = this.#running.get(key);
    if (running !== undefined) {
      const ended = await running;
      return ended.outcome === "ignored" ? ended : { outcome: "repeated" };
    }
    const work = this.#inOrder(key, delivery).finally(() => this.#running.delete(key));
    this.#running.set(key, work);
    return work;
  }

  /** Does something when all before it in a conversation has ended, and before all behind it. */
  inTurn<T>(conversation: string, work: () => Promise<T>): Promise<T> {
    return this.#events.inTurn(conversation, work);
  }

  /**
   * Waits for what is under way, at most `graceMs`; then ends it, and the edge tries it again later. What
   * waits behind it goes back to the edge at once.
   */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    this.#events.dismissWaiting(stopping());
    const late = setTimeout(() => this.#end.abort(), graceMs);
    await Promise.allSettled(this.#running.values());
    clearTimeout(late);
    this.#end.abort();
  }

  async #inOrder(key: string, delivery: Delivery): Promise<DeliveryOutcome> {
    const { records } = this.#options;
    this.#order.arrive(key);
    try {
      const { platform, after } = delivery;
      if (after !== undefined) {
        const before = { platform, id: after };
        await this.#order.behind(keyOf(before), () => records.of(before).answered);
        this.#refuseWhileStopping();
      }
      // Up to its first wait this runs through: what is behind finds it in its place.
      const work = this.#events.takeUp(delivery);
      this.#order.place(key);
      const outcome = await work;
      this.#order.end(key, {});
      return outcome;
    } catch (error) {
      this.#order.end(key, { error });
      throw error;
    }
  }

  #refuseWhileStopping(): void {
    if (this.#draining) throw stopping();
  }
}

function keyOf({ platform, id }: Pick<Delivery, "platform" | "id">): string {
  return `${platform} ${id}`;
}

function stopping(): RetryableError {
  return new RetryableError("gateway_unavailable", "The gateway is stopping.");
}
