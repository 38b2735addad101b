import { backoffMs } from "../../shared/backoff.ts";
import { waitAtMost } from "../../shared/timeout.ts";
import type { Config } from "../../contract/config/index.ts";
import type { Schedule } from "../../contract/config/schedules.ts";
import type { SchedulesHealth } from "../../contract/control.ts";
import { REST_TENANT } from "../../contract/variables.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Log } from "../../shared/log.ts";
import { isStoreError } from "../../process/database.ts";
import { RetryableError } from "../failure.ts";
import { remark } from "../prompt/text.ts";
import type { Announce, AnnounceRequest } from "./announce.ts";
import { KEEP_RUNS_MS, type PendingRun, type ScheduleStore, type StoredSchedule } from "./store.ts";
import { dueAfter, findOverdueRuns } from "./times.ts";
import { HEARTBEAT_ID, HEARTBEAT_OK, scheduleName, configSchedules } from "./config-schedules.ts";

/** A time in the config that passed no longer ago than this is run for: a deployment takes a while. */
const JUST_NOW_MS = 10 * 60_000;

/** Later than this, the agent learns that its question is late. */
const LATE_MS = 60_000;
const RETRY = { firstMs: 5_000, longestMs: 10 * 60_000 };

/** The command line writes the table too, and the system's clock may be set: neither tells. */
const LOOK_EVERY_MS = 2_000;
/** A repeated run is made up for within this time after it was due, */
const GRACE_MS = 10 * 60_000;
/** and one that is due only once within this. */
const GRACE_ONCE_MS = 24 * 3_600_000;
/** A clock is taken for set back from here on. */
const SET_BACK_MS = 60_000;
/** From the begin of a run to its last attempt. */
const GIVE_UP_MS = 3_600_000;

/** Dependencies of schedules. */
interface SchedulesOptions {
  store: ScheduleStore;
  say: Announce;
  /** Value of TENANT_VARIABLE. */
  serves?: string | undefined;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Calls `work` once after `ms`; gives what prevents it. */
  setTimer(work: () => void, ms: number): () => void;
  log: Log;
}

/**
 * Runs what is due. A run is in the store before it begins and until it is ended, so one that a crash
 * interrupted is finished by the next start.
 *
 * Where each chat has its own sandbox, the one that serves the rest runs nothing: its schedules wait until they are
 * moved to their chats.
 */
export class Schedules {
  readonly #options: SchedulesOptions;
  readonly #active = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #cancelTimer = (): void => {};
  #stopped = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #working: Promise<void> = Promise.resolve();

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  /** Takes the config's schedules over, then runs what is due from now on. Returns at once. */
  start(config: Config): void {
    this.sync(config);
    if (!this.#isHeld) this.#next(() => this.#look());
  }

  get #isHeld(): boolean {
    return this.#options.serves === REST_TENANT;
  }

  /** Takes over a changed config's schedules. */
  sync(config: Config): void {
    const { store, serves, clock, log } = this.#options;
    if (this.#isHeld) return;
    this.#next(() => syncSchedules({ store, config, serves, now: clock(), log }));
  }

  /** Begins nothing more, and lets what is under way end within `graceMs`; the next start finishes the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    // What does not end even then is pending in the store.
    await waitAtMost(graceMs, this.idle());
    this.#stop.abort();
  }

  /** Returns how the schedules stand. */
  health(): SchedulesHealth {
    const { store, clock } = this.#options;
    const nextAt = this.#isHeld ? undefined : store.nextAt();
    return {
      count: store.count,
      ...(nextAt !== undefined && { nextAt: new Date(nextAt).toISOString() }),
      missed: store.runs("missed", clock() - KEEP_RUNS_MS),
      failed: store.runs("failed", clock() - KEEP_RUNS_MS),
    };
  }

  /** Resolves when what was begun so far has come to an end. */
  async idle(): Promise<void> {
    await this.#working;
    await Promise.all(this.#active.values());
  }

  /** Runs one piece of work on the table at a time. A failure is logged, and the next look comes. */
  #next(work: () => Promise<void>): void {
    this.#working = this.#working.then(work).catch((error: unknown) => {
      this.#options.log.error("the schedules cannot be worked on", { error: String(error) });
      this.#arm(LOOK_EVERY_MS);
    });
  }

  async #look(): Promise<void> {
    const { store, clock, log } = this.#options;
    if (this.#stopped) return;
    const now = clock();
    // The clock may have been set back unnoticed, which only times too far ahead show.
    if (this.#lookedAt === Number.NEGATIVE_INFINITY) await this.#bringForward(now, now + GIVE_UP_MS);
    else if (now < this.#lookedAt - SET_BACK_MS) {
      const byMs = this.#lookedAt - now;
      log.warn("the clock was set back: recomputing schedules", { byMs });
      await this.#bringForward(now, now);
    }
    this.#lookedAt = now;
    await this.#each(store.due(now), (schedule) => this.#begin(schedule, now));
    for (const run of store.pending(now)) this.#start(run);
    const next = store.nextAt(now);
    this.#arm(next === undefined ? LOOK_EVERY_MS : Math.min(next - now, LOOK_EVERY_MS));
  }

  #arm(ms: number): void {
    this.#cancelTimer();
    if (!this.#stopped) this.#cancelTimer = this.#options.setTimer(() => this.#next(() => this.#look()), ms);
  }

  /**
   * Times that were worked out from a clock that was ahead would leave schedules silent until then. Attempts
   * that are due later than `limit` are made at once.
   */
  async #bringForward(now: number, limit: number): Promise<void> {
    const { store } = this.#options;
    await this.#each(store.list(), async ({ id, spec, createdAt, nextAt }) => {
      if (spec.at !== undefined || nextAt === undefined) return;
      const due = await dueAfter(spec, createdAt, now);
      if (due !== undefined && due < nextAt) store.move(id, due);
    });
    store.retryBy(now, limit);
  }

  /** One schedule that cannot be worked out holds up no other. */
  async #each(
    schedules: readonly StoredSchedule[],
    work: (schedule: StoredSchedule) => Promise<void>,
  ): Promise<void> {
    for (const schedule of schedules) {
      await work(schedule).catch((error: unknown) => {
        const { id } = schedule;
        this.#options.log.error("a schedule cannot be worked out", { id, error: String(error) });
      });
    }
  }

  async #begin(schedule: StoredSchedule, now: number): Promise<void> {
    const { store, log } = this.#options;
    const { id, spec, createdAt, nextAt: from = now } = schedule;
    const cutoff = now - (spec.at === undefined ? GRACE_MS : GRACE_ONCE_MS);
    const { last, count, next } = await findOverdueRuns(spec, createdAt, { from, cutoff, now });
    const missed = store.begin(
      schedule,
      {
        missed: last === undefined ? count : count - 1,
        ...(last !== undefined && { dueAt: last }),
        ...(next !== undefined && { nextAt: next }),
      },
      now,
    );
    if (missed > 0) log.warn("runs of a schedule were missed", { id, missed, since: isoTime(from) });
  }

  #start(run: PendingRun): void {
    const key = `${run.schedule.id} ${run.dueAt}`;
    if (this.#active.has(key) || this.#stopped) return;
    const work = this.#run(run)
      .catch((error: unknown) => {
        // The run stays pending: it is looked for again, and what was said of it is known.
        this.#options.log.error("a run's end cannot be recorded", { key, error: String(error) });
      })
      .finally(() => this.#active.delete(key));
    this.#active.set(key, work);
  }

  async #run(run: PendingRun): Promise<void> {
    const { store, say, clock, log } = this.#options;
    const { id, spec } = run.schedule;
    const dueAt = isoTime(run.dueAt);
    if (clock() - run.begunAt > GRACE_ONCE_MS) {
      log.error("a scheduled run was given up: too old", { id, dueAt });
      return store.end(run, "missed", "too old", clock());
    }
    try {
      const outcome = await say(requestOf(run), this.#stop.signal);
      store.end(run, "done", outcome, clock());
      log.info("schedule has run", { id, dueAt, outcome });
    } catch (error) {
      // What the stop interrupted is finished by the next start.
      if (this.#stop.signal.aborted) return;
      const detail = String(error);
      const wait = retryWait(run, error);
      if (clock() + wait - run.begunAt <= GIVE_UP_MS) {
        log.warn("a scheduled run failed, will be tried again", { id, dueAt, inMs: wait, detail });
        store.retry(run, clock() + wait, failureNote(error));
        return;
      }
      log.error("a scheduled run failed", { id, dueAt, to: spec.to, detail });
      store.end(run, "failed", `failed: ${failureNote(error)}`, clock());
    }
  }
}

/** Returns what a run says: the same at every attempt, so that a later one finds what the one before left. */
function requestOf({ schedule: { id, spec, madeBy = [] }, dueAt, begunAt }: PendingRun): AnnounceRequest {
  const { to, text, prompt, sendElsewhere = [] } = spec;
  const { platform, chat, thread } = to;
  const note =
    begunAt - dueAt > LATE_MS
      ? `\n\n${remark(`This was due at ${isoTime(dueAt)}, when the gateway was not running.`)}`
      : "";
  return {
    id: `schedule:${id}:${dueAt}`,
    platform,
    target: { chat, ...(thread !== undefined && { thread }) },
    name: scheduleName(id),
    admission: { by: "schedule", madeBy, sendElsewhere },
    ...(text !== undefined && { text }),
    ...(prompt !== undefined && { prompt: `${prompt}${note}` }),
    ...(id === HEARTBEAT_ID && { silence: HEARTBEAT_OK }),
  };
}

/** Milliseconds until the next attempt; infinite where none can help. */
function retryWait({ attempts }: PendingRun, error: unknown): number {
  if (!(error instanceof RetryableError || isStoreError(error))) return Number.POSITIVE_INFINITY;
  const wait = backoffMs(RETRY, attempts + 1);
  return Math.max(wait, error instanceof RetryableError ? (error.retryAfterMs ?? 0) : 0);
}

/** A failure in words that may be shown: another library's message might hold anything. */
function failureNote(error: unknown): string {
  return error instanceof StewardError ? error.message : "internal error, see the log";
}

/** ISO 8601 */
function isoTime(time: number): string {
  return new Date(time).toISOString();
}

/** Dependencies of {@link syncSchedules}. */
interface SyncOptions {
  store: ScheduleStore;
  config: Pick<Config, "schedules" | "agent">;
  serves: string | undefined;
  now: number;
  log: Log;
}

/**
 * Makes the stored schedules of the config those that the config names now. One that did not change
 * keeps its times, so that a restart neither moves nor repeats it.
 */
async function syncSchedules({ store, config, serves, now, log }: SyncOptions): Promise<void> {
  const wanted = configSchedules(config, serves);
  const stored = store.list().filter(({ source }) => source === "config");
  for (const { id } of stored) if (!wanted.has(id)) store.remove(id);
  for (const [id, spec] of wanted) {
    const before = stored.find((one) => one.id === id);
    if (before !== undefined && JSON.stringify(before.spec) === JSON.stringify(spec)) continue;
    const nextAt = await firstTime(spec, now);
    if (nextAt === undefined && spec.enabled) log.warn("a schedule of the config is past", { id });
    store.put({ id, source: "config", spec, createdAt: now, ...(nextAt !== undefined && { nextAt }) });
  }
}

async function firstTime(spec: Schedule, now: number): Promise<number | undefined> {
  if (!spec.enabled) return undefined;
  return dueAfter(spec, now, spec.at === undefined ? now : now - JUST_NOW_MS);
}
