import { backoffMs } from "../../shared/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { ChatDeliveries, Delivery, DeliveryNotice, LearnedName } from "../../contract/delivery.ts";
import type { Clock } from "../ports.ts";
import { peopleOf } from "./people.ts";
import type { DueChat, DueEntry, LedgerStore, SettledAs } from "./store.ts";

const FAILED_AFTER_MS = 24 * 3_600_000;
const KEEP_SETTLED_MS = 7 * 24 * 3_600_000;
const RETRY = { firstMs: 1_000, longestMs: 5 * 60_000 };
/**
 * Maximum retry delay, in milliseconds, while no gateway answers. It is short so that chats resume soon after the
 * gateway returns.
 */
const LONGEST_ABSENT_MS = 15_000;
/** Time between an event's last attempt and the event's expiry, in milliseconds. */
const LAST_TRY_MS = 10 * 60_000;
const PRUNE_BATCH = 500;
const TIDY_MS = 60_000;
const STORE_RETRY_MS = 5_000;
/**
 * Number of attempts after which {@link LONGEST_ABSENT_MS} no longer limits an event's retry delay. An event with
 * more attempts may itself be crashing the gateway.
 */
const ABSENT_ATTEMPTS = 30;

/** Result of an attempt. `afterMs`: delay that the gateway requested. `absent`: no gateway answered. */
export type AttemptResult =
  | ({ kind: "settled" } & SettledAs)
  | { kind: "retry"; note: string; afterMs?: number; absent?: boolean }
  | { kind: "refused"; note: string };

/**
 * Delivers a chat's events in one request. Calls `placed` when the gateway has queued all events, then `ended` for
 * each event whose result the gateway reports. The returned result applies to the other events; a rejected promise
 * counts as `retry`.
 */
export type Deliver = (
  request: ChatDeliveries,
  on: {
    placed(): void;
    ended(id: string, result: AttemptResult): void;
    /** Receives the names that the gateway looked up for the request. */
    named?(names: readonly LearnedName[]): void;
  },
) => Promise<AttemptResult>;

export interface DispatcherOptions {
  store: LedgerStore;
  deliver: Deliver;
  /** Notifies the chat of an event that expires unanswered. */
  notify: NotifyChat;
  /** Schedules the next run at `time` (milliseconds since the epoch) or earlier. */
  wakeAt(time: number): void;
  clock: Clock;
  random(): number;
  log: Log;
  /** Time at which the gateway last became ready, in milliseconds since the epoch. */
  readyAt?(): number | undefined;
  /**
   * Maximum number of concurrent requests. A chat gets a second one only while fewer than half of this number are in
   * progress.
   */
  concurrency: number;
}

/**
 * Delivers recorded events to the gateway: chats concurrently, each chat in order. Sends a chat's next events once
 * the gateway has queued the previous events, without waiting for the answer.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  #stopped = false;
  /**
   * True if the store may contain `delivering` entries that belong to no current request. The next run resets them.
   */
  #orphans = false;
  #tidiedAt = Number.NEGATIVE_INFINITY;
  readonly #requests = new Set<Promise<void>>();
  readonly #open = new Set<string>();
  /** Chats whose events the gateway has not queued yet. */
  readonly #unplaced = new Set<string>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Starts no further deliveries, and resolves when none is in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
  }

  /** Starts due deliveries and returns immediately. If the store fails, schedules another run. */
  run(): void {
    if (this.#stopped) return;
    const { clock, log, wakeAt } = this.#options;
    const now = clock();
    try {
      this.tidy();
      this.#start(now);
    } catch (error) {
      this.#orphans = true;
      log.error("the ledger could not be processed", { error: String(error) });
      wakeAt(now + STORE_RETRY_MS);
    }
  }

  /**
   * Expires old events and prunes settled ones, at most once a minute. Events that arrived while the clock was ahead
   * become due now.
   */
  tidy(): void {
    const { store, clock, log } = this.#options;
    const now = clock();
    if (Math.abs(now - this.#tidiedAt) < TIDY_MS) return;
    this.#tidiedAt = now;
    const expired = store.expire(now - FAILED_AFTER_MS, now);
    if (expired.length > 0) log.error("events given up: too old", { expired: expired.length });
    for (const delivery of expired) this.#notifyFailed(delivery);
    store.bringForward(now, now + TIDY_MS);
    store.prune(now - KEEP_SETTLED_MS, PRUNE_BATCH);
    store.chats.prune(now);
  }

  #notifyFailed(delivery: Delivery): void {
    const { store, notify, log } = this.#options;
    void notify(delivery, { givenUp: true }, store.chats)
      .catch((error: unknown) => {
        log.warn("a chat could not be notified of a failed event", {
          id: delivery.id,
          error: String(error),
        });
        return false;
      })
      .then((told) => store.recordNotified(delivery, told))
      // The store fails if the disk is full or the ledger was closed.
      .catch((error: unknown) =>
        log.error("the note of a failed event could not be stored", { error: String(error) }),
      );
  }

  #start(now: number): void {
    const { store, concurrency, wakeAt, readyAt } = this.#options;
    if (this.#orphans) store.release([...this.#open]);
    this.#orphans = false;
    const { size } = this.#requests;
    const chats = this.full
      ? []
      : store.take(now, concurrency - size, concurrency / 2 - size, this.#unplaced, readyAt?.());
    for (const chat of chats) {
      const request = this.#send(chat, now).finally(() => {
        this.#requests.delete(request);
        this.run();
      });
      this.#requests.add(request);
    }
    // Ignore entries already due at `now`: the end of each request starts a run anyway.
    const next = store.nextDue(now);
    if (next !== undefined) wakeAt(next);
  }

  async idle(): Promise<void> {
    while (this.#requests.size > 0) await Promise.all(this.#requests);
  }

  get full(): boolean {
    return this.#requests.size >= this.#options.concurrency;
  }

  async #send({ chatKey, after, entries }: DueChat, now: number): Promise<void> {
    const { store } = this.#options;
    const open = new Map(entries.map((entry) => [entry.delivery.id, entry]));
    for (const { key } of entries) this.#open.add(key);
    this.#unplaced.add(chatKey);
    const given = ({ delivery }: DueEntry): Delivery => {
      const isLast = now - delivery.receivedAt >= FAILED_AFTER_MS - LAST_TRY_MS;
      return isLast ? { ...delivery, last: true } : delivery;
    };
    const [first, ...rest] = entries;
    const keys = entries.flatMap(({ delivery }) => peopleOf(delivery).sightings.map(({ key }) => key));
    const names = store.names.dueKeys(keys, now);
    const request = {
      after,
      deliveries: [given(first), ...rest.map(given)],
      ...(names.length > 0 && { names }),
    } as const;
    const end = (entry: DueEntry, result: AttemptResult): void => {
      open.delete(entry.delivery.id);
      this.#end(entry, result);
    };
    const result = await this.#options
      .deliver(request, {
        placed: () => {
          this.#unplaced.delete(chatKey);
          this.run();
        },
        ended: (id, ended) => {
          const entry = open.get(id);
          if (entry === undefined) return;
          end(entry, ended);
          this.run();
        },
        named: (learned) => this.#storeNames(learned),
      })
      .catch((error: unknown): AttemptResult => ({
        kind: "retry",
        note: error instanceof Error ? error.message : "unknown error",
        absent: true,
      }));
    for (const entry of open.values()) end(entry, result);
    this.#unplaced.delete(chatKey);
  }

  #storeNames(names: readonly LearnedName[]): void {
    const { store, clock, log } = this.#options;
    try {
      store.names.storeFound(names, clock());
    } catch (error) {
      // Only warn: the names are requested again at the next event.
      log.warn("names could not be stored", { error: String(error) });
    }
  }

  #end(entry: DueEntry, result: AttemptResult): void {
    const { key } = entry;
    // Remove the key first: if storing the result fails, the next run can reset the entry.
    this.#open.delete(key);
    try {
      this.#conclude(entry, result);
    } catch (error) {
      // The next run resets the entry, which is still `delivering`.
      this.#orphans = true;
      this.#options.log.error("a delivery's result could not be recorded", { key, error: String(error) });
    }
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
      this.#notifyFailed(delivery);
      return;
    }
    const delay = backoffMs(RETRY, attempt, random());
    const capped = result.absent === true && attempt <= ABSENT_ATTEMPTS;
    const most = capped ? Math.min(delay, LONGEST_ABSENT_MS) : delay;
    const lastTry = delivery.receivedAt + FAILED_AFTER_MS - LAST_TRY_MS - now;
    const asked = Math.max(result.afterMs ?? 0, most);
    const wait = lastTry > 0 ? Math.min(asked, lastTry) : asked;
    store.postpone(key, now + wait, result.note, now);
    log.warn("delivery failed, will retry", { key, attempt, inMs: wait, note: result.note });
  }
}

/** Maximum notices per run. */
const BATCH = 20;
const LOOK_AGAIN_MS = 1_000;

/** Notifies a chat that its message is delayed or dropped. Resolves to true if the chat was notified. */
export type NotifyChat = (
  delivery: Delivery,
  notice: DeliveryNotice,
  chats: LedgerStore["chats"],
) => Promise<boolean>;

export interface NoticesOptions {
  store: Pick<LedgerStore, "takeNotices" | "nextNotice" | "chats">;
  notify: NotifyChat;
  wakeAt(time: number): void;
  clock: Clock;
  log: Log;
}

/** Sends delay notices, one per waiting message. */
export class Notices {
  readonly #options: NoticesOptions;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  run(): void {
    const { store, notify, wakeAt, clock, log } = this.#options;
    const now = clock();
    try {
      const due = store.nextNotice();
      if (due === undefined) return;
      // Without a due notice, skip the transaction.
      for (const { delivery, notice } of due <= now ? store.takeNotices(now, BATCH) : []) {
        void notify(delivery, notice, store.chats).catch((error: unknown) =>
          log.warn("a delay notice could not be sent", { id: delivery.id, error: String(error) }),
        );
      }
      const next = due <= now ? store.nextNotice() : due;
      if (next !== undefined) wakeAt(Math.max(next, now + LOOK_AGAIN_MS));
    } catch (error) {
      // The disk may be full. The notices are read again on the next event.
      log.error("due notices could not be read from the ledger", { error: String(error) });
    }
  }
}
