import type { Delivery, DeliveryOutcome } from "../../contract/control.ts";
import type { Log } from "../../contract/log.ts";
import type { Agent } from "../agent/agent.ts";
import type { Channel, Inbound } from "../channels/channel.ts";
import type { Channels } from "../channels/registry.ts";
import { RetryableError } from "../failure.ts";
import type { PairingDesk } from "../pairing/desk.ts";
import { Lanes } from "./lanes.ts";
import type { DeliveryRecords } from "./records.ts";

/** What deliveries are carried out with. */
export interface DeliveriesOptions {
  channels: Channels;
  agent: Agent;
  pairing: PairingDesk;
  records: DeliveryRecords;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

/** Carries a delivery from its event to the reply that is out. */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #running = new Map<string, Promise<DeliveryOutcome>>();
  readonly #lanes = new Lanes();
  readonly #stop = new AbortController();

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /** Deliveries under way. */
  get active(): number {
    return this.#running.size;
  }

  /**
   * Returns when the reply is out. A delivery that is under way already is waited for and counts as
   * repeated; one that was answered before is not looked at again.
   *
   * @throws RetryableError where the edge should try again.
   */
  async deliver(delivery: Delivery): Promise<DeliveryOutcome> {
    if (this.#stop.signal.aborted)
      throw new RetryableError("gateway_unavailable", "The gateway is stopping.");
    const key = `${delivery.platform} ${delivery.id}`;
    const running = this.#running.get(key);
    if (running !== undefined) {
      const { outcome, note } = await running;
      return outcome === "ignored"
        ? { outcome, ...(note !== undefined && { note }) }
        : { outcome: "repeated" };
    }
    const work = this.#deliver(delivery).finally(() => this.#running.delete(key));
    this.#running.set(key, work);
    return work;
  }

  /** Waits for what is under way, at most `graceMs`; then ends it, and the edge tries it again later. */
  async drain(graceMs: number): Promise<void> {
    const late = setTimeout(() => this.#stop.abort(), graceMs);
    await Promise.allSettled(this.#running.values());
    clearTimeout(late);
    this.#stop.abort();
  }

  async #deliver(delivery: Delivery): Promise<DeliveryOutcome> {
    const { channels, records, log } = this.#options;
    const { id, platform } = delivery;
    if (records.progress(delivery).answered) return { outcome: "repeated" };
    const channel = channels.get(platform);
    if (channel === undefined) {
      const detail = `The config file has no channel that is served here for ${platform}.`;
      throw new RetryableError("channel_not_configured", detail);
    }
    const inbound = channel.receive(delivery.payload);
    if (inbound.kind === "ignored") {
      log.debug("event ignored", { id, platform, note: inbound.note });
      return { outcome: "ignored", note: inbound.note };
    }
    // A refused sender has no transcript; its notices are kept in order by the edge's own key.
    const lane = inbound.kind === "message" ? inbound.conversation : delivery.conversation;
    return this.#lanes.run(lane, () => this.#reply(delivery, channel, inbound));
  }

  async #reply(
    delivery: Delivery,
    channel: Channel,
    inbound: Exclude<Inbound, { kind: "ignored" }>,
  ): Promise<DeliveryOutcome> {
    const { records, clock, log } = this.#options;
    const started = clock();
    const text = await this.#text(delivery, inbound);
    if (text === undefined) return { outcome: "ignored", note: "as many as allowed wait for approval" };
    const parts = channel.split(text);
    let { sent } = records.progress(delivery);
    for (const part of parts.slice(sent)) {
      await channel.send(inbound.target, part);
      sent += 1;
      records.record(delivery, { sent, answered: sent === parts.length }, clock());
    }
    const { id, platform } = delivery;
    log.info("event answered", { id, platform, kind: inbound.kind, ms: clock() - started });
    return { outcome: "answered" };
  }

  /** What is said; `undefined` where a stranger gets no answer. */
  async #text(
    { id, platform }: Delivery,
    inbound: Exclude<Inbound, { kind: "ignored" }>,
  ): Promise<string | undefined> {
    const { agent, pairing } = this.#options;
    switch (inbound.kind) {
      case "refused":
        return inbound.text;
      case "unpaired":
        return pairing.ask({ platform, sender: inbound.sender, target: inbound.target });
      case "message":
        return agent.answer({ ...inbound, delivery: id }, this.#stop.signal);
    }
  }
}
