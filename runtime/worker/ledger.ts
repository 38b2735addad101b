import type { Delivery } from "../contract/delivery.ts";
import type { Environment } from "../contract/environment.ts";
import { deliverTo, type DeliverOptions } from "../edge/ledger/deliver.ts";
import {
  type AttemptResult,
  type Deliver,
  Dispatcher,
  Notices,
  type NotifyChat,
} from "../edge/ledger/dispatcher.ts";
import type { LedgerStore } from "../edge/ledger/store.ts";
import { ChatNotifier } from "../edge/ledger/chat-notifier.ts";
import { type Gate, refusedResult } from "../edge/tenants/gate.ts";
import type { Admission, Clock, Ledger, ReplayResult } from "../edge/ports.ts";
import type { Log } from "../shared/log.ts";
import { Backoff } from "./alarm.ts";
import type { SandboxContainer } from "./container.ts";
import type { ContainerGateway } from "./gateway.ts";

/** Maximum number of concurrent deliveries to the gateway. */
const CONCURRENCY = 32;
/** Backoff between attempts to start a gateway for waiting events. */
const START_BACKOFF = { firstMs: 10_000, longestMs: 30 * 60_000 };
const FULL_AGAIN_MS = 5_000;

interface ContainerLedgerOptions {
  store: LedgerStore;
  /** Gate that decides which events reach the container; absent if all do. */
  gate: Gate | undefined;
  passOn(object: string, event: Delivery): Promise<Admission>;
  container: Pick<SandboxContainer, "whenReady">;
  gateway: Pick<ContainerGateway, "status" | "request" | "renewActivityTimeout">;
  environment: Environment;
  record: DeliverOptions["record"];
  /** Requests an alarm at or before `time`, in milliseconds since the epoch. */
  wakeAt(time: number): void;
  /**
   * Schedules the alarm for an event whose chat is not yet allowed to start a container. The event does not count as
   * activity.
   */
  onRecord(): void;
  waitUntil(promise: Promise<unknown>): void;
  clock: Clock;
  log: Log;
}

/** Delivers recorded events, and starts the container for them if necessary. */
export class ContainerLedger implements Pick<Ledger, "admit" | "replay"> {
  readonly startAgain = new Backoff(START_BACKOFF);
  readonly #options: ContainerLedgerOptions;
  readonly #store: LedgerStore;
  readonly #dispatcher: Dispatcher;
  readonly #notices: Notices;
  /** Milliseconds since the epoch; `undefined` until `deliver` has found the gateway ready. */
  #readyAt: number | undefined;

  constructor(options: ContainerLedgerOptions) {
    this.#options = options;
    const { store, gateway, environment, record, wakeAt, waitUntil, clock, log } = options;
    this.#store = store;
    const notifier = new ChatNotifier({
      sandbox: gateway,
      environment,
      fetch: (url, init) => fetch(url, init),
    });
    const notify: NotifyChat = (...notice) => {
      const told = notifier.notify(...notice);
      waitUntil(told.catch(() => undefined));
      return told;
    };
    const shared = { store, notify, wakeAt, clock, log };
    this.#notices = new Notices(shared);
    this.#dispatcher = new Dispatcher({
      ...shared,
      deliver: async (request, on) => {
        const refusal = await this.#checkGate(request);
        if (refusal !== undefined) return refusal;
        const result = await deliverTo({ sandbox: gateway, record, clock }, request, on);
        gateway.renewActivityTimeout();
        return result;
      },
      readyAt: () => this.#readyAt,
      random: Math.random,
      concurrency: CONCURRENCY,
    });
  }

  /** Records an event together with an alarm, which wakes the object if it was evicted. */
  async admit(event: Delivery): Promise<Admission> {
    const { gate, gateway, passOn, onRecord, waitUntil, clock } = this.#options;
    if (gate?.movedTo !== undefined) return passOn(gate.movedTo, event);
    // On failure, the platform gets an error and sends the event again.
    await gate?.followMove(event);
    const recorded = this.#store.record(event, clock());
    if (recorded === "left") return { duplicate: true, ready: true };
    const duplicate = recorded === "known";
    if (gate?.isOpen === false) {
      onRecord();
      waitUntil(this.deliver());
      // The event needs no container yet. Report `ready`, so that the platform does not send it again.
      return { duplicate, ready: true };
    }
    gateway.renewActivityTimeout();
    const { state } = await gateway.status();
    waitUntil(this.deliver());
    this.notify();
    return { duplicate, ready: state === "ready" };
  }

  /** Delivers an event again. Starts the container first if it is stopped. */
  async replay(key: string): Promise<ReplayResult> {
    const { gateway, waitUntil, clock } = this.#options;
    const result = this.#store.replay(key, clock());
    if (result === "replayed") {
      gateway.renewActivityTimeout();
      waitUntil(this.deliver());
    }
    return result;
  }

  onReady(): void {
    if (!this.startAgain.failing) return;
    this.startAgain.recovered();
    this.#options.waitUntil(this.deliver());
  }

  notify(): void {
    this.#notices.run();
  }

  /**
   * Starts the deliveries that are due. Waits until the gateway is ready, because a delivery without a gateway would
   * count as a failed attempt.
   */
  async deliver(): Promise<void> {
    if (this.#dispatcher.full) return;
    const { gate, container, wakeAt, clock } = this.#options;
    const due = this.#store.nextDue();
    if (due === undefined) return;
    const from = Math.max(due, this.startAgain.at);
    if (from > clock()) {
      wakeAt(from);
      return;
    }
    if (gate?.isOpen === false) {
      this.#dispatcher.run();
      return;
    }
    const { state, since, reason } = await container.whenReady();
    if (state === "ready") {
      this.#readyAt = Date.parse(since);
      this.startAgain.recovered();
      this.#dispatcher.run();
      return;
    }
    // Retry soon, because no notification arrives when another container stops and makes room.
    if (reason?.code === "sandboxes_full") {
      wakeAt(clock() + FULL_AGAIN_MS);
      return;
    }
    // Every caller that waited for this start continues here; only the first schedules the next start.
    if (clock() < this.startAgain.at) return;
    this.#dispatcher.tidy();
    wakeAt(this.startAgain.failed(clock()));
  }

  /**
   * Decides whether events may reach the gateway, and sends the gateway any new approval before the events. If the
   * chat has moved to another object, forwards the events to that object.
   *
   * @returns the result to report if the events must not reach the gateway; otherwise `undefined`.
   */
  async #checkGate({ deliveries }: Parameters<Deliver>[0]): Promise<AttemptResult | undefined> {
    const { gate, container, gateway, passOn } = this.#options;
    const [first] = deliveries;
    if (gate === undefined) return undefined;
    if (!gate.isOpen) {
      const standing = await gate.ask(first);
      if (!standing.admitted && standing.movedTo !== undefined)
        for (const event of deliveries) await passOn(standing.movedTo, event);
      if (!standing.admitted) return refusedResult(standing);
      gateway.renewActivityTimeout();
      const { state } = await container.whenReady();
      if (state !== "ready") return { kind: "retry", note: "the container does not start", absent: true };
    }
    if (await gate.passOnGrant(gateway)) return undefined;
    return { kind: "retry", note: "the gateway did not receive the approval", absent: true };
  }
}
