import type { Delivery } from "../contract/delivery.ts";
import type { Environment } from "../contract/environment.ts";
import { deliverTo, type DeliverOptions } from "../edge/ledger/deliver.ts";
import {
  type AttemptResult,
  type Deliver,
  Dispatcher,
  Notices,
  type Tell,
} from "../edge/ledger/dispatcher.ts";
import type { LedgerStore } from "../edge/ledger/store.ts";
import { Teller } from "../edge/ledger/tell.ts";
import { type Gate, refusedResult } from "../edge/tenants/gate.ts";
import type { Admission, Clock, Ledger, ReplayResult } from "../edge/ports.ts";
import type { Log } from "../shared/log.ts";
import { Backoff } from "./alarm.ts";
import type { SandboxContainer } from "./container.ts";
import type { ContainerGateway } from "./gateway.ts";

/** Number of concurrent deliveries; exceeds the number of chats that are answered in parallel. */
const CONCURRENCY = 32;
/** Waits before a gateway that cannot start is started again for waiting events. */
const START_AGAIN = { firstMs: 10_000, longestMs: 30 * 60_000 };
/** Wait before a container is started again that found no room. */
const FULL_AGAIN_MS = 5_000;

/** Dependencies of {@link ContainerLedger}. */
interface ContainerLedgerOptions {
  store: LedgerStore;
  /** Decides which events the container gets. Absent if it gets all. */
  gate: Gate | undefined;
  /** Has another object record an event. */
  passOn(object: string, event: Delivery): Promise<Admission>;
  container: Pick<SandboxContainer, "whenReady">;
  gateway: Pick<ContainerGateway, "status" | "request" | "renewActivityTimeout">;
  /** Contains the platforms' keys. */
  environment: Environment;
  /** See {@link DeliverOptions}. */
  record: DeliverOptions["record"];
  /** Requests an alarm at this time or sooner, in milliseconds since the epoch. */
  wakeAt(time: number): void;
  /** An event was recorded whose chat may get no container. It needs an alarm, though it is no use. */
  onRecord(): void;
  /** Keeps the object until a delivery or a notice is over. */
  waitUntil(promise: Promise<unknown>): void;
  clock: Clock;
  log: Log;
}

/** The ledger of a Durable Object: delivers recorded events to a container that may have to be started for them. */
export class ContainerLedger implements Pick<Ledger, "admit" | "replay"> {
  /** Backoff while events wait for a gateway that cannot start. */
  readonly startAgain = new Backoff(START_AGAIN);
  readonly #options: ContainerLedgerOptions;
  readonly #store: LedgerStore;
  readonly #dispatcher: Dispatcher;
  readonly #notices: Notices;
  /** Time at which the gateway became ready, from its last status. */
  #readyAt: number | undefined;

  constructor(options: ContainerLedgerOptions) {
    this.#options = options;
    const { store, gateway, environment, record, wakeAt, waitUntil, clock, log } = options;
    this.#store = store;
    const teller = new Teller({ sandbox: gateway, environment, fetch: (url, init) => fetch(url, init) });
    const tell: Tell = (...notice) => {
      const told = teller.tell(...notice);
      waitUntil(told.catch(() => undefined));
      return told;
    };
    const shared = { store, tell, wakeAt, clock, log };
    this.#notices = new Notices(shared);
    this.#dispatcher = new Dispatcher({
      ...shared,
      deliver: async (request, on) => {
        const refusal = await this.#atGate(request);
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

  /** See {@link Ledger}. Sets the alarm together with the entry, so that an evicted object wakes for it. */
  async admit(event: Delivery): Promise<Admission> {
    const { gate, gateway, passOn, onRecord, waitUntil, clock } = this.#options;
    if (gate?.movedTo !== undefined) return passOn(gate.movedTo, event);
    // If this fails, the platform gets an error and sends the event again.
    await gate?.followMove(event);
    const recorded = this.#store.record(event, clock());
    if (recorded === "left") return { duplicate: true, ready: true };
    const duplicate = recorded === "known";
    if (gate?.isOpen === false) {
      onRecord();
      waitUntil(this.deliver());
      // Nothing that the platform could send again depends on a container.
      return { duplicate, ready: true };
    }
    gateway.renewActivityTimeout();
    const { state } = await gateway.status();
    waitUntil(this.deliver());
    this.notify();
    return { duplicate, ready: state === "ready" };
  }

  /** See {@link Ledger}. Starts a stopped container, as the event itself did. */
  async replay(key: string): Promise<ReplayResult> {
    const { gateway, waitUntil, clock } = this.#options;
    const result = this.#store.replay(key, clock());
    if (result === "replayed") {
      gateway.renewActivityTimeout();
      waitUntil(this.deliver());
    }
    return result;
  }

  /** The gateway is ready: delivers the events that waited because it could not start. */
  onReady(): void {
    if (!this.startAgain.failing) return;
    this.startAgain.recovered();
    this.#options.waitUntil(this.deliver());
  }

  /** Tells the chats whose messages have waited long enough. */
  notify(): void {
    this.#notices.run();
  }

  /** Starts the deliveries that are due. Waits for the gateway first: an absent one is no failed attempt. */
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
    // Another container may sleep at any moment, and nothing tells when.
    if (reason?.code === "sandboxes_full") {
      wakeAt(clock() + FULL_AGAIN_MS);
      return;
    }
    // Everyone who waited for this start ends here; one of them says when to start again.
    if (clock() < this.startAgain.at) return;
    this.#dispatcher.tidy();
    wakeAt(this.startAgain.failed(clock()));
  }

  /**
   * Lets events of an admitted chat through, and tells its gateway of an approval first. Passes events on that belong to
   * another object.
   *
   * @returns how the events end if they do not reach the gateway.
   */
  async #atGate({ deliveries }: Parameters<Deliver>[0]): Promise<AttemptResult | undefined> {
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
    return { kind: "retry", note: "the gateway was not told of the approval", absent: true };
  }
}
