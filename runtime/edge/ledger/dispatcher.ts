import { backoffMs } from "../../shared/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { ChatDeliveries, Delivery, DeliveryNotice, LearnedName } from "../../contract/delivery.ts";
import type { Clock } from "../ports.ts";
import { peopleOf } from "./people.ts";
import type { DueChat, DueEntry, LedgerStore, SettledAs } from "./store.ts";

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

/** End of one attempt. `afterMs`: the wait that the gateway asked for. `absent`: no gateway answered, whatever the event. */
export type AttemptResult =
  | ({ kind: "settled" } & SettledAs)
  | { kind: "retry"; note: string; afterMs?: number; absent?: boolean }
  | { kind: "refused"; note: string };

/**
 * Delivers a chat's events in one request. Calls `placed` when all of them have their places in the chat's order, then
 * `ended` for each. Resolves when none is in progress, with the result of those without a call of `ended`. A rejection
 * counts as a retry.
 */
export type Deliver = (
  request: ChatDeliveries,
  on: {
    placed(): void;
    ended(id: string, result: AttemptResult): void;
    /** The gateway has asked the platforms for the names that the request wants. */
    named?(names: readonly LearnedName[]): void;
  },
) => Promise<AttemptResult>;

/** Dependencies of the dispatcher. */
export interface DispatcherOptions {
  store: LedgerStore;
  deliver: Deliver;
  /** Tells the chat of an event that is given up without an answer. */
  tell: Tell;
  /** Schedules the next run at this time or sooner, in milliseconds since the epoch. */
  wakeAt(time: number): void;
  clock: Clock;
  /** A number from 0 up to 1. */
  random(): number;
  log: Log;
  /** Returns when the gateway last became ready, in milliseconds since the epoch, if known. */
  readyAt?(): number | undefined;
  /** Most requests at the same time. Second requests of chats take half of them at most. */
  concurrency: number;
}

/**
 * Delivers recorded events to the gateway: chats side by side, and each chat in order. The due events of a chat are one
 * request. Its next request begins when the gateway has placed those events, so that a message which comes during an
 * answer joins or ends the answer.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  #stopped = false;
  /** Entries may be marked `delivering` without a delivery. */
  #orphans = false;
  #tidiedAt = Number.NEGATIVE_INFINITY;
  readonly #requests = new Set<Promise<void>>();
  /** Keys of the events that have not ended. */
  readonly #open = new Set<string>();
  /** Keys of the chats whose events do not have their places yet. */
  readonly #unplaced = new Set<string>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Begins nothing more. Resolves when no delivery is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
  }

  /** Starts due deliveries, up to `concurrency`. Returns at once, and tries again if the store fails. */
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
    // One clock for both questions: what is due now and was not taken waits for a delivery under way.
    const next = store.nextDue(now);
    if (next !== undefined) wakeAt(next);
  }

  /** Resolves when no delivery is under way. */
  async idle(): Promise<void> {
    while (this.#requests.size > 0) await Promise.all(this.#requests);
  }

  /** Nothing can start until a request ends, which then looks for the next one. */
  get full(): boolean {
    return this.#requests.size >= this.#options.concurrency;
  }

  /** Never rejects. */
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
    const names = store.names.wanted(keys, now);
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
        named: (learned) => this.#learn(learned),
      })
      .catch((error: unknown): AttemptResult => ({
        kind: "retry",
        note: error instanceof Error ? error.message : "unknown error",
        absent: true,
      }));
    for (const entry of open.values()) end(entry, result);
    this.#unplaced.delete(chatKey);
  }

  #learn(names: readonly LearnedName[]): void {
    const { store, clock, log } = this.#options;
    try {
      store.names.learn(names, clock());
    } catch (error) {
      // The disk is full, for example. The names are asked for again with the next event.
      log.warn("names cannot be kept", { error: String(error) });
    }
  }

  #end(entry: DueEntry, result: AttemptResult): void {
    const { key } = entry;
    // In one step: no one sees an entry that came back and is still in progress.
    this.#open.delete(key);
    try {
      this.#conclude(entry, result);
    } catch (error) {
      // The entry stays marked as delivering: the next run puts it back, and the gateway knows what it answered.
      this.#orphans = true;
      this.#options.log.error("a delivery's end cannot be recorded", { key, error: String(error) });
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
      this.#tellGivenUp(delivery);
      return;
    }
    const delay = backoffMs(RETRY, attempt, random());
    const capped = result.absent === true && attempt <= ABSENT_ATTEMPTS;
    const most = capped ? Math.min(delay, LONGEST_ABSENT_MS) : delay;
    const lastTry = delivery.receivedAt + FAILED_AFTER_MS - LAST_TRY_MS - now;
    const asked = Math.max(result.afterMs ?? 0, most);
    const wait = lastTry > 0 ? Math.min(asked, lastTry) : asked;
    store.postpone(key, now + wait, result.note, now);
    log.warn("delivery failed, will be tried again", { key, attempt, inMs: wait, note: result.note });
  }
}

/** Most notices of one run. The next run sends the rest. */
const BATCH = 20;
const LOOK_AGAIN_MS = 1_000;

/** Tells a chat that its message waits or was given up. Resolves to true if the chat was told, now or earlier. */
export type Tell = (
  delivery: Delivery,
  notice: DeliveryNotice,
  chats: LedgerStore["chats"],
) => Promise<boolean>;

/** Dependencies of {@link Notices}. */
export interface NoticesOptions {
  store: Pick<LedgerStore, "takeNotices" | "nextNotice" | "chats">;
  tell: Tell;
  /** Asks to be run again at this time (milliseconds since the epoch) or sooner; each run asks again. */
  wakeAt(time: number): void;
  clock: Clock;
  log: Log;
}

/** Sends one notice for each message that waits. */
export class Notices {
  readonly #options: NoticesOptions;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** Sends the notices that are due, without waiting for the platforms. */
  run(): void {
    const { store, tell, wakeAt, clock, log } = this.#options;
    const now = clock();
    try {
      const due = store.nextNotice();
      if (due === undefined) return;
      // This runs with every event, so there is a transaction only if somebody is to be told.
      for (const { delivery, notice } of due <= now ? store.takeNotices(now, BATCH) : []) {
        void tell(delivery, notice, store.chats).catch((error: unknown) =>
          log.warn("a chat was not told that it waits", { id: delivery.id, error: String(error) }),
        );
      }
      const next = due <= now ? store.nextNotice() : due;
      if (next !== undefined) wakeAt(Math.max(next, now + LOOK_AGAIN_MS));
    } catch (error) {
      // The disk is full, for example. The next event tries again.
      log.error("waiting chats cannot be read from the ledger", { error: String(error) });
    }
  }
}
