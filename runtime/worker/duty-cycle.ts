import type { R2Bucket } from "@cloudflare/workers-types/index.ts";
import { type Duty, dutyOf, type DutyRecord } from "../contract/duty.ts";
import type { StateKeys } from "../contract/tenant.ts";
import type { Log } from "../shared/log.ts";
import type { Clock } from "../edge/ports.ts";
import type { ContainerMemory } from "./container-memory.ts";

/** Name under which the totals are stored. An earlier format used `duty`. */
const NOTE = "duty-totals";
/** Maximum time that the measurement covers. Beyond it, all totals are halved, so that averages follow recent use. */
const LONGEST_MS = 30 * 86_400_000;
const PUBLISH_MS = 3_600_000;

export interface DutyCycleOptions {
  bucket: R2Bucket;
  keys: Pick<StateKeys, "duty">;
  notes: ContainerMemory;
  /** `Infinity` for `never`. */
  sleepAfterMs: number;
  waitUntil(promise: Promise<unknown>): void;
  clock: Clock;
  log: Log;
}

interface Facts extends Pick<DutyRecord, "sleepAfterMs" | "awakeMs" | "starts"> {
  /** Milliseconds since the epoch. */
  since: number;
  /** Time up to which the current run is counted, in milliseconds since the epoch. Absent while asleep. */
  countedTo?: number | undefined;
  /** `at` in milliseconds since the epoch. */
  published?: { asleep: boolean; at: number };
}

/** Measurement of how long the container is awake. The totals survive an eviction of the Durable Object. */
export class DutyCycle {
  readonly #options: DutyCycleOptions;
  #facts: Facts;
  // Serialize writes: an older record must not overwrite a newer one.
  #last: Promise<void> = Promise.resolve();

  constructor(options: DutyCycleOptions) {
    this.#options = options;
    const { notes, clock } = options;
    const sleepAfterMs = Number.isFinite(options.sleepAfterMs) ? options.sleepAfterMs : null;
    const kept = JSON.parse(notes.read(NOTE) ?? "{}") as Partial<Facts>;
    // A change of SANDBOX_SLEEP_AFTER restarts the measurement.
    const holds = kept.sleepAfterMs === sleepAfterMs;
    this.#facts = holds ? (kept as Facts) : { since: clock(), sleepAfterMs, awakeMs: 0, starts: 0 };
    if (!holds) this.#note({});
  }

  /** Records a start. If the previous run's end was missed, the previous run counts only up to its last update. */
  started(): void {
    this.#note({ starts: this.#facts.starts + 1, countedTo: this.#options.clock() });
  }

  ended(): void {
    if (this.#facts.countedTo !== undefined) this.#count();
    this.#note({ countedTo: undefined });
    this.#publish();
  }

  update(running: boolean): void {
    if (running) this.#count();
    this.#publish();
  }

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

  // Only log a failure: the next update retries.
  async #put(): Promise<void> {
    const { bucket, keys, clock, log } = this.#options;
    if (!this.#isDue) return;
    const record = this.#record;
    const at = clock();
    try {
      const httpMetadata = { contentType: "application/json" };
      await bucket.put(keys.duty, JSON.stringify(record), { httpMetadata });
      this.#note({ published: { asleep: record.asleep, at } });
    } catch (error) {
      log.warn("the time awake could not be published", { error: String(error) });
    }
  }

  get #isDue(): boolean {
    const { starts, countedTo, published } = this.#facts;
    if (published === undefined) return starts > 0;
    const asleep = countedTo === undefined;
    return published.asleep !== asleep || (!asleep && this.#options.clock() - published.at >= PUBLISH_MS);
  }

  #note(changes: Partial<Facts>): void {
    this.#facts = { ...this.#facts, ...changes };
    this.#options.notes.write(NOTE, JSON.stringify(this.#facts));
  }
}
