import type { Log } from "../../shared/log.ts";
import type { Clock } from "../ports.ts";
import type { LedgerStore } from "./store.ts";
import type { Teller } from "./tell.ts";

/** At one look; more follow with the next. */
const BATCH = 20;
const LOOK_AGAIN_MS = 1_000;

/** See {@link Teller.tell}. */
export type Tell = (...args: Parameters<Teller["tell"]>) => Promise<boolean>;

/** Dependencies of {@link Notices}. */
export interface NoticesOptions {
  store: Pick<LedgerStore, "takeNotices" | "nextNotice" | "chats">;
  tell: Tell;
  /** Asks to be run again at this time (milliseconds since the epoch) or sooner; each run asks again. */
  wakeAt(time: number): void;
  clock: Clock;
  log: Log;
}

/** Tells chats whose messages wait that they were not forgotten: each message once. */
export class Notices {
  readonly #options: NoticesOptions;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** Tells of what has waited long enough. Returns at once. */
  run(): void {
    const { store, tell, wakeAt, clock, log } = this.#options;
    const now = clock();
    try {
      const due = store.nextNotice();
      if (due === undefined) return;
      // With each event that comes: a transaction only if there is somebody to tell.
      for (const { delivery, notice } of due <= now ? store.takeNotices(now, BATCH) : []) {
        void tell(delivery, notice, store.chats).catch((error: unknown) =>
          log.warn("a chat was not told that it waits", { id: delivery.id, error: String(error) }),
        );
      }
      const next = due <= now ? store.nextNotice() : due;
      if (next !== undefined) wakeAt(Math.max(next, now + LOOK_AGAIN_MS));
    } catch (error) {
      // A full disk: nothing is told twice because of it, and later is soon enough.
      log.error("the ledger cannot be looked through for waiting chats", { error: String(error) });
    }
  }
}
