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

/**
 * Maximum lateness, in milliseconds, of a new one-time schedule in the config. Its time may pass during the
 * deployment.
 */
const JUST_NOW_MS = 10 * 60_000;

/** Delay in milliseconds above which the prompt calls a run late. */
const LATE_MS = 60_000;
const RETRY = { firstMs: 5_000, longestMs: 10 * 60_000 };

/**
 * Maximum time between checks for due schedules, in milliseconds. Each check also notices schedules added by the CLI
 * and changes of the system clock.
 */
const LOOK_EVERY_MS = 2_000;
/** Maximum lateness of a recurring run, in milliseconds. */
const GRACE_MS = 10 * 60_000;
/** Maximum lateness of a one-time run, in milliseconds. */
const GRACE_ONCE_MS = 24 * 3_600_000;
/** Backward clock jumps up to this many milliseconds are ignored. */
const SET_BACK_MS = 60_000;
/** Maximum time from a run's start to its last attempt, in milliseconds. */
const GIVE_UP_MS = 3_600_000;

interface SchedulesOptions {
  store: ScheduleStore;
  say: Announce;
  /** Value of TENANT_VARIABLE. */
  serves?: string | undefined;
  /** Milliseconds since the epoch. */
  clock(): number;
  /** Returns a function that cancels the timer. */
  setTimer(work: () => void, ms: number): () => void;
  log: Log;
}

/**
 * Runs due schedules. Stores each run before starting the run, so that a crash loses no run.
 *
 * If each chat has its own sandbox, {@link REST_TENANT} runs no schedules.
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

  /** Imports the config's schedules and starts polling in the background. */
  start(config: Config): void {
    this.sync(config);
    if (!this.#isHeld) this.#next(() => this.#look());
  }

  get #isHeld(): boolean {
    return this.#options.serves === REST_TENANT;
  }

  sync(config: Config): void {
    const { store, serves, clock, log } = this.#options;
    if (this.#isHeld) return;
    this.#next(() => syncSchedules({ store, config, serves, now: clock(), log }));
  }

  /**
   * Starts no more runs and waits up to `graceMs` for active ones. Aborts the rest; the gateway's next start finishes
   * them.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    await waitAtMost(graceMs, this.idle());
    this.#stop.abort();
  }

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

  async idle(): Promise<void> {
    await this.#working;
    await Promise.all(this.#active.values());
  }

  /**
   * Queues `work`, so that only one task runs at a time. If `work` fails, logs the error and checks the schedules
   * again later.
   */
  #next(work: () => Promise<void>): void {
    this.#working = this.#working.then(work).catch((error: unknown) => {
      this.#options.log.error("schedules could not be processed", { error: String(error) });
      this.#arm(LOOK_EVERY_MS);
    });
  }

  async #look(): Promise<void> {
    const { store, clock, log } = this.#options;
    if (this.#stopped) return;
    const now = clock();
    // At startup, nothing shows whether the clock was set back, so bring forward only attempts that are implausibly
    // far in the future.
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

  /** Corrects due times that were stored while the clock was ahead. Attempts due after `limit` become due now. */
  async #bringForward(now: number, limit: number): Promise<void> {
    const { store } = this.#options;
    await this.#each(store.list(), async ({ id, spec, createdAt, nextAt }) => {
      if (spec.at !== undefined || nextAt === undefined) return;
      const due = await dueAfter(spec, createdAt, now);
      if (due !== undefined && due < nextAt) store.move(id, due);
    });
    store.retryBy(now, limit);
  }

  /** Processes schedules one by one. Logs errors and continues with the next schedule. */
  async #each(
    schedules: readonly StoredSchedule[],
    work: (schedule: StoredSchedule) => Promise<void>,
  ): Promise<void> {
    for (const schedule of schedules) {
      await work(schedule).catch((error: unknown) => {
        const { id } = schedule;
        this.#options.log.error("a schedule could not be evaluated", { id, error: String(error) });
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
        // The run is retried. The delivery records prevent a second message.
        this.#options.log.error("the end of a run could not be recorded", { key, error: String(error) });
      })
      .finally(() => this.#active.delete(key));
    this.#active.set(key, work);
  }

  async #run(run: PendingRun): Promise<void> {
    const { store, say, clock, log } = this.#options;
    const { id, spec } = run.schedule;
    const dueAt = isoTime(run.dueAt);
    if (clock() - run.begunAt > GRACE_ONCE_MS) {
      log.error("a scheduled run was abandoned: too old", { id, dueAt });
      return store.end(run, "missed", "too old", clock());
    }
    try {
      const outcome = await say(requestOf(run), this.#stop.signal);
      store.end(run, "done", outcome, clock());
      log.info("schedule has run", { id, dueAt, outcome });
    } catch (error) {
      // Leave an interrupted run pending: the gateway's next start finishes it.
      if (this.#stop.signal.aborted) return;
      const detail = String(error);
      const wait = retryWait(run, error);
      if (clock() + wait - run.begunAt <= GIVE_UP_MS) {
        log.warn("a scheduled run failed and will be retried", { id, dueAt, inMs: wait, detail });
        store.retry(run, clock() + wait, failureNote(error));
        return;
      }
      log.error("a scheduled run failed", { id, dueAt, to: spec.to, detail });
      store.end(run, "failed", `failed: ${failureNote(error)}`, clock());
    }
  }
}

/** Builds a run's announcement, the same for all attempts, so that a retry finds the previous attempt's records. */
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

/** Returns the milliseconds before the next attempt; `Infinity` if a retry cannot help. */
function retryWait({ attempts }: PendingRun, error: unknown): number {
  if (!(error instanceof RetryableError || isStoreError(error))) return Number.POSITIVE_INFINITY;
  const wait = backoffMs(RETRY, attempts + 1);
  return Math.max(wait, error instanceof RetryableError ? (error.retryAfterMs ?? 0) : 0);
}

/**
 * Describes a failure for the schedule's status. Omits messages of third-party libraries, which may contain secrets.
 */
function failureNote(error: unknown): string {
  return error instanceof StewardError ? error.message : "internal error, see the log";
}

/** ISO 8601 */
function isoTime(time: number): string {
  return new Date(time).toISOString();
}

interface SyncOptions {
  store: ScheduleStore;
  config: Pick<Config, "schedules" | "agent">;
  serves: string | undefined;
  now: number;
  log: Log;
}

/**
 * Synchronizes the stored schedules with the config. Unchanged schedules keep their times, so that a restart does not
 * repeat a run.
 */
async function syncSchedules({ store, config, serves, now, log }: SyncOptions): Promise<void> {
  const wanted = configSchedules(config, serves);
  const stored = store.list().filter(({ source }) => source === "config");
  for (const { id } of stored) if (!wanted.has(id)) store.remove(id);
  for (const [id, spec] of wanted) {
    const before = stored.find((one) => one.id === id);
    if (before !== undefined && JSON.stringify(before.spec) === JSON.stringify(spec)) continue;
    const nextAt = await firstTime(spec, now);
    if (nextAt === undefined && spec.enabled) log.warn("a schedule in the config has already passed", { id });
    store.put({ id, source: "config", spec, createdAt: now, ...(nextAt !== undefined && { nextAt }) });
  }
}

async function firstTime(spec: Schedule, now: number): Promise<number | undefined> {
  if (!spec.enabled) return undefined;
  return dueAfter(spec, now, spec.at === undefined ? now : now - JUST_NOW_MS);
}
