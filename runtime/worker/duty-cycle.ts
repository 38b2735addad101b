import type { R2Bucket } from "@cloudflare/workers-types/index.ts";
import { type Duty, DUTY_KEY, dutyOf, type DutyRecord } from "../contract/duty.ts";
import type { Log } from "../shared/log.ts";
import type { Clock } from "../edge/ports.ts";
import type { RunListener } from "./container-life.ts";
import type { ContainerMemory } from "./container-memory.ts";

/** `duty` holds the form of an earlier version, which a rollback still finds there. */
const NOTE = "duty-totals";
/** In a longer measurement, its first part counts half, so that the averages follow the use. */
const LONGEST_MS = 30 * 86_400_000;
/** Longest age of the bucket's record of a container that stays awake. */
const PUBLISH_MS = 3_600_000;

/** Dependencies of {@link DutyCycle}. */
export interface DutyCycleOptions {
  bucket: R2Bucket;
  notes: ContainerMemory;
  /** `Infinity` for `never`. */
  sleepAfterMs: number;
  /** Keeps the object until the record is in the bucket. */
  waitUntil(promise: Promise<unknown>): void;
  clock: Clock;
  log: Log;
}

interface Facts extends Pick<DutyRecord, "sleepAfterMs" | "awakeMs" | "starts"> {
  /** Milliseconds since the epoch. */
  since: number;
  /** Up to here the run under way is counted; absent while the container sleeps. */
  countedTo?: number | undefined;
  /** Record of the bucket, and its time. */
  published?: { asleep: boolean; at: number };
}

/** Records how long the container is awake: written while it runs, so that an evicted object continues the record. */
export class DutyCycle implements RunListener {
  readonly #options: DutyCycleOptions;
  #facts: Facts;
  // One at a time, or an older record could overtake a newer one.
  #last: Promise<void> = Promise.resolve();

  constructor(options: DutyCycleOptions) {
    this.#options = options;
    const { notes, clock } = options;
    const sleepAfterMs = Number.isFinite(options.sleepAfterMs) ? options.sleepAfterMs : null;
    const kept = JSON.parse(notes.read(NOTE) ?? "{}") as Partial<Facts>;
    // With another wait before the sleep it is awake for other times.
    const holds = kept.sleepAfterMs === sleepAfterMs;
    this.#facts = holds ? (kept as Facts) : { since: clock(), sleepAfterMs, awakeMs: 0, starts: 0 };
    if (!holds) this.#note({});
  }

  /** Starts a run. If the end of the previous one was not seen, it ended when it was last seen. */
  started(): void {
    this.#note({ starts: this.#facts.starts + 1, countedTo: this.#options.clock() });
  }

  /** A run has ended. */
  ended(): void {
    if (this.#facts.countedTo !== undefined) this.#count();
    this.#note({ countedTo: undefined });
    this.#publish();
  }

  /** Counts up to now, and brings the bucket's record up to date where that is due. */
  look(running: boolean): void {
    if (running) this.#count();
    this.#publish();
  }

  /** Returns what it comes to. */
  get duty(): Duty {
    return dutyOf(this.#record, this.#options.clock());
  }

  #count(): void {
    const now = this.#options.clock();
    const { countedTo = now, since } = this.#facts;
    const awakeMs = this.#facts.awakeMs + Math.max(now - countedTo, 0);
    this.#note({ awakeMs, countedTo: now });
    if (now - since <= LONGEST_MS) return;
    this.#note({ since: (since + now) / 2, awakeMs: awakeMs / 2, starts: this.#facts.starts / 2 });
  }

  get #record(): DutyRecord {
    const { since, sleepAfterMs, awakeMs, starts, countedTo } = this.#facts;
    return {
      version: 2,
      since: new Date(since).toISOString(),
      at: new Date(countedTo ?? this.#options.clock()).toISOString(),
      asleep: countedTo === undefined,
      sleepAfterMs,
      awakeMs,
      starts,
    };
  }

  #publish(): void {
    this.#last = this.#last.then(() => this.#put());
    this.#options.waitUntil(this.#last);
  }

  // What fails is tried again at the next look: nothing depends on it but an estimate.
  async #put(): Promise<void> {
    const { bucket, clock, log } = this.#options;
    if (!this.#isDue) return;
    const record = this.#record;
    const at = clock();
    try {
      const httpMetadata = { contentType: "application/json" };
      await bucket.put(DUTY_KEY, JSON.stringify(record), { httpMetadata });
      this.#note({ published: { asleep: record.asleep, at } });
    } catch (error) {
      log.warn("the time awake could not be published", { error: String(error) });
    }
  }

  get #isDue(): boolean {
    const { starts, countedTo, published } = this.#facts;
    // A container that has never run has no record.
    if (published === undefined) return starts > 0;
    const asleep = countedTo === undefined;
    return published.asleep !== asleep || (!asleep && this.#options.clock() - published.at >= PUBLISH_MS);
  }

  #note(changes: Partial<Facts>): void {
    this.#facts = { ...this.#facts, ...changes };
    this.#options.notes.write(NOTE, JSON.stringify(this.#facts));
  }
}
