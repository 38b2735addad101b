import { backoffMs } from "../../shared/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { Delivery } from "../../contract/delivery.ts";
import type { Clock } from "../ports.ts";
import type { Tell } from "./notices.ts";
import type { DueEntry, LedgerStore, SettledAs } from "./store.ts";

const FAILED_AFTER_MS = 24 * 3_600_000;
const KEEP_SETTLED_MS = 7 * 24 * 3_600_000;
/** Waits between the attempts of one event. */
const RETRY = { firstMs: 1_000, longestMs: 5 * 60_000 };
/** The longest wait for a gateway that was not there: people should not wait long once it is back. */
const LONGEST_ABSENT_MS = 15_000;
/** An entry whose wait is as long as its life is tried once more this long before its end. */
const LAST_TRY_MS = 10 * 60_000;
const PRUNE_BATCH = 500;
const TIDY_MS = 60_000;
/** A store that is locked or full is asked again after this time. */
const STORE_RETRY_MS = 5_000;
/** An event at which the gateway is gone more often than this is perhaps what ends it. */
const ABSENT_ATTEMPTS = 30;

/**
 * End of one attempt. `afterMs` is the wait that the other side asked for. `absent`: no gateway was
 * there to answer, which says nothing against the event.
 */
export type AttemptResult =
  | ({ kind: "settled" } & SettledAs)
  | { kind: "retry"; note: string; afterMs?: number; absent?: boolean }
  | { kind: "refused"; note: string };

/** Dependencies of the dispatcher. */
export interface DispatcherOptions {
  store: LedgerStore;
  /** Delivers one event; returns when the reply is out. A throw counts as a retry. */
  deliver(delivery: Delivery): Promise<AttemptResult>;
  /** Tells the chat of an event that is given up without an answer. */
  tell: Tell;
  /** Asks to be run again at this time (milliseconds since the epoch) or sooner; each run asks again. */
  wakeAt(time: number): void;
  clock: Clock;
  /** A number from 0 up to 1. */
  random(): number;
  log: Log;
  /** Deliveries under way at the same time. Followers take half of the places at most. */
  concurrency: number;
}

/**
 * Carries recorded events to the gateway: conversations side by side, a conversation in order. What
 * comes while an answer is made is handed over too, so that the gateway can take it into account.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  #stopped = false;
  /** Entries may be marked `delivering` without a delivery. */
  #orphans = false;
  #tidiedAt = Number.NEGATIVE_INFINITY;
  readonly #active = new Map<string, Promise<void>>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Begins nothing more. Resolves when no delivery is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
  }

  /** Starts whatever is due and there is room for. Returns at once; what the store refuses is tried again. */
  run(): void {
    if (this.#stopped) return;
    const { clock, log, wakeAt } = this.#options;
    const now = clock();
    try {
      this.tidy();
      this.#start(now);
    } catch (error) {
      this.#orphans = true;
      log.error("the ledger cannot be worked on", { error: String(error) });
      wakeAt(now + STORE_RETRY_MS);
    }
  }

  /**
   * Gives up what is too old, deletes what was settled long ago and brings forward what a clock that was
   * ahead has put off; at most once a minute.
   */
  tidy(): void {
    const { store, clock, log } = this.#options;
    const now = clock();
    if (Math.abs(now - this.#tidiedAt) < TIDY_MS) return;
    this.#tidiedAt = now;
    const expired = store.expire(now - FAILED_AFTER_MS, now);
    if (expired.length > 0) log.error("events given up: too old", { expired: expired.length });
    for (const delivery of expired) this.#tellGivenUp(delivery);
    store.bringForward(now, now + TIDY_MS);
    store.prune(now - KEEP_SETTLED_MS, PRUNE_BATCH);
    store.chats.prune(now);
  }

  #tellGivenUp(delivery: Delivery): void {
    const { store, tell, log } = this.#options;
    void tell(delivery, { givenUp: true }, store.chats)
      .catch((error: unknown) => {
        log.warn("a chat was not told of an event that is given up", {
          id: delivery.id,
          error: String(error),
        });
        return false;
      })
      .then((told) => store.noteTold(delivery, told))
      // A full disk, or a ledger that is closed meanwhile.
      .catch((error: unknown) => log.error("a note cannot be kept", { error: String(error) }));
  }

  #start(now: number): void {
    const { store, concurrency, wakeAt } = this.#options;
    if (this.#orphans) store.release([...this.#active.keys()]);
    this.#orphans = false;
    const { size } = this.#active;
    const entries = this.full ? [] : store.take(now, concurrency - size, concurrency / 2 - size);
    for (const entry of entries) this.#active.set(entry.key, this.#attempt(entry));
    // One clock for both questions: what is due now and was not taken waits for a delivery under way.
    const next = store.nextDue(now);
    if (next !== undefined) wakeAt(next);
  }

  /** Resolves when no delivery is under way. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all(this.#active.values());
  }

  /** Deliveries under way. */
  get active(): number {
    return this.#active.size;
  }

  /** Nothing can start until a delivery ends, which then looks for the next one. */
  get full(): boolean {
    return this.#active.size >= this.#options.concurrency;
  }

  async #attempt({ key, attempt, delivery }: DueEntry): Promise<void> {
    const { deliver, clock, log } = this.#options;
    const isLast = clock() - delivery.receivedAt >= FAILED_AFTER_MS - LAST_TRY_MS;
    const result = await deliver(isLast ? { ...delivery, last: true } : delivery).catch(
      (error: unknown): AttemptResult => ({
        kind: "retry",
        note: error instanceof Error ? error.message : "unknown error",
        absent: true,
      }),
    );
    // In one step: no one sees an entry that came back and is still in progress.
    this.#active.delete(key);
    try {
      this.#conclude({ key, attempt, delivery }, result);
    } catch (error) {
      // The entry stays marked as delivering: the next run puts it back, and the gateway knows what it answered.
      this.#orphans = true;
      log.error("a delivery's end cannot be recorded", { key, error: String(error) });
    }
    this.run();
  }

  #conclude({ key, attempt, delivery }: DueEntry, result: AttemptResult): void {
    const { store, clock, random, log } = this.#options;
    const now = clock();
    if (result.kind === "settled") {
      store.settle(key, result, now);
      return;
    }
    const tooOld = now - delivery.receivedAt > FAILED_AFTER_MS;
    if (result.kind === "refused" || tooOld) {
      store.settle(key, { state: "failed", note: result.note }, now);
      log.error("event given up", { key, attempt, note: result.note });
      this.#tellGivenUp(delivery);
      return;
    }
    const delay = backoffMs(RETRY, attempt, random());
    const capped = result.absent === true && attempt <= ABSENT_ATTEMPTS;
    const most = capped ? Math.min(delay, LONGEST_ABSENT_MS) : delay;
    const lastTry = delivery.receivedAt + FAILED_AFTER_MS - LAST_TRY_MS - now;
    const asked = Math.max(result.afterMs ?? 0, most);
    const wait = lastTry > 0 ? Math.min(asked, lastTry) : asked;
    store.postpone(key, now + wait, result.note);
    log.warn("delivery failed, will be tried again", { key, attempt, inMs: wait, note: result.note });
  }
}
