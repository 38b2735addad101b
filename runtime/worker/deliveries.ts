import type { SandboxStatus } from "../contract/control.ts";
import type { Log } from "../shared/log.ts";
import { type Deliver, Dispatcher } from "../edge/ledger/dispatcher.ts";
import type { Tell } from "../edge/ledger/notices.ts";
import type { LedgerStore } from "../edge/ledger/store.ts";
import type { Clock } from "../edge/ports.ts";
import { AskAgain } from "./alarm.ts";

/** Under way at the same time: above the chats that are answered side by side. */
const CONCURRENCY = 32;
/** A gateway that cannot start is asked again after that, while events wait for it; then twice as long each time. */
const ASK_AGAIN = { firstMs: 10_000, longestMs: 30 * 60_000 };

/** Dependencies of {@link Deliveries}. */
export interface DeliveriesOptions {
  store: LedgerStore;
  deliver: Deliver;
  tell: Tell;
  /** Starts the container where it is stopped; tells how it is once it is settled. */
  whenReady(): Promise<SandboxStatus>;
  /** Wishes for an alarm at this time, milliseconds since the epoch. */
  wakeAt(time: number): void;
  clock: Clock;
  log: Log;
}

/** Carries recorded events to a container that may have to be started for them. */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #dispatcher: Dispatcher;
  readonly #askAgain = new AskAgain(ASK_AGAIN);

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#dispatcher = new Dispatcher({ ...options, random: Math.random, concurrency: CONCURRENCY });
  }

  /** Events wait for a gateway that cannot start. */
  get failing(): boolean {
    return this.#askAgain.failing;
  }

  /** Returns when a gateway that cannot start is asked again, milliseconds since the epoch; 0 for one that can. */
  get againAt(): number {
    return this.#askAgain.at;
  }

  /** The gateway is ready. @returns `true` where it was not known to be. */
  recovered(): boolean {
    const { failing } = this.#askAgain;
    this.#askAgain.recovered();
    return failing;
  }

  /** Begins what is due. Waits for the gateway before it takes an entry: one that is down is no failed attempt. */
  async run(): Promise<void> {
    if (this.#dispatcher.full) return;
    const { store, clock, wakeAt, whenReady } = this.#options;
    const due = store.nextDue();
    if (due === undefined) return;
    const from = Math.max(due, this.#askAgain.at);
    if (from > clock()) {
      wakeAt(from);
      return;
    }
    const { state } = await whenReady();
    if (state === "ready") {
      this.#askAgain.recovered();
      this.#dispatcher.run();
      return;
    }
    // Everyone who waited for this start ends here; one of them says when to ask again.
    if (clock() < this.#askAgain.at) return;
    this.#dispatcher.tidy();
    wakeAt(this.#askAgain.failed(clock()));
  }
}
