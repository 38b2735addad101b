import type { ContainerBackups } from "../backups/container-backups.ts";
import { type Alerts, LOOK_EVERY_MS } from "../edge/alerts.ts";
import type { DueSchedule } from "../edge/due-schedule.ts";
import type { LedgerStore } from "../edge/ledger/store.ts";
import type { TenantReporter } from "../edge/tenants/reporter.ts";
import type { Clock } from "../edge/ports.ts";
import type { Log } from "../shared/log.ts";
import { waitAtMost } from "../shared/timeout.ts";
import type { Alarm, Backoff } from "./alarm.ts";
import type { SandboxContainer } from "./container.ts";
import type { DutyCycle } from "./duty-cycle.ts";
import type { ContainerGateway } from "./gateway.ts";
import type { ContainerLedger } from "./ledger.ts";
import type { ScheduledChats } from "./scheduled-chats.ts";
import type { Sleep } from "./sleep.ts";

/** Milliseconds between checks of open events. */
const GUARD_MS = 15_000;
/** Milliseconds between checks of an always-on container. */
const WATCH_MS = 5 * 60_000;
const LOG_EVERY_MS = 60_000;
/** Minimum time until the next alarm, to prevent a tight loop. */
const SHORTEST_ALARM_MS = 500;

export interface AgendaItem {
  name: string;
  /** Returns the due time in milliseconds since the epoch; `undefined` if the item needs no alarm. */
  dueAt(now: number): number | undefined;
  /** True if every alarm runs the item, even if the item is not due. */
  everyAlarm?: true;
  run(): void | Promise<void>;
}

/** Runs the items when they are due. The object has only one alarm, set to the earliest due time. */
export class Agenda {
  readonly #options: { alarm: Alarm; clock: Clock; log: Log };
  #items: readonly AgendaItem[] = [];

  constructor(options: { alarm: Alarm; clock: Clock; log: Log }) {
    this.#options = options;
  }

  /** Replaces the agenda with these items, which run in the given order. */
  fill(items: readonly AgendaItem[]): void {
    this.#items = items;
  }

  schedule(): void {
    const { alarm, clock } = this.#options;
    const now = clock();
    for (const item of this.#items) {
      const dueAt = item.dueAt(now);
      if (dueAt !== undefined) alarm.wakeAt(Math.max(dueAt, now + SHORTEST_ALARM_MS));
    }
  }

  async run(): Promise<void> {
    const { alarm, clock, log } = this.#options;
    alarm.markFired();
    try {
      for (const item of this.#items) {
        const now = clock();
        if (item.everyAlarm || (item.dueAt(now) ?? Number.POSITIVE_INFINITY) <= now) await item.run();
      }
    } catch (error) {
      // Log instead of throwing: Cloudflare stops retrying an alarm that keeps failing, so waiting events would not
      // be delivered.
      log.error("the alarm's work failed", { error: String(error) });
    }
    this.schedule();
  }
}

export interface AgendaParts {
  alerts: Alerts | undefined;
  store: LedgerStore;
  ledger: ContainerLedger;
  schedule: DueSchedule;
  container: SandboxContainer;
  gateway: ContainerGateway;
  restart: Backoff;
  duty: DutyCycle;
  state: ContainerBackups;
  sleep: Sleep;
  reporter: TenantReporter | undefined;
  scheduled: ScheduledChats;
  /** Never rejects. */
  keepLog(): Promise<unknown>;
  waitUntil(promise: Promise<unknown>): void;
  clock: Clock;
  log: Log;
}

export function agendaItems(parts: AgendaParts): AgendaItem[] {
  const { alerts, store, ledger, schedule, container, gateway, restart, duty, state, sleep, reporter } =
    parts;
  const { scheduled, keepLog, waitUntil, clock, log } = parts;
  let loggedAt = clock();
  const isWatched = () => alerts && (container.running || store.hasOpen() || alerts.isOpen);
  const isWanted = () => !gateway.sleeps && container.mayRun;
  const isMissing = () => isWanted() && !container.running && !container.starting;
  return [
    {
      name: "alerts",
      dueAt: (now) => (isWatched() ? now + LOOK_EVERY_MS : undefined),
      everyAlarm: true,
      run: () => alerts && waitUntil(alerts.look()),
    },
    { name: "notices", dueAt: () => store.nextNotice(), run: () => ledger.notify() },
    {
      name: "deliveries",
      dueAt: (now) => {
        if (!store.hasOpen()) return undefined;
        // Retry soon if the container runs, because its gateway may have recovered. Start a stopped container only
        // after its backoff.
        return Math.max(now + GUARD_MS, container.running ? 0 : ledger.startAgain.at);
      },
      everyAlarm: true,
      run: async () => {
        if (container.running && (await container.status()).state === "ready") ledger.onReady();
        const delivered = ledger.deliver().catch((error: unknown) => {
          log.error("the deliveries failed", { error: String(error) });
        });
        waitUntil(delivered);
        // Limit the wait: an object runs one alarm at a time, so a slow delivery would delay the next alarm.
        await waitAtMost(GUARD_MS, delivered);
      },
    },
    {
      name: "schedule",
      dueAt: () => (container.running || !container.mayRun ? undefined : schedule.startAt),
      run: () => {
        log.info("a schedule is due");
        schedule.begun();
        gateway.start();
      },
    },
    {
      name: "scheduled chats",
      dueAt: () => scheduled.dueAt,
      // Run in the background: starting the chats' containers may take minutes.
      run: () => waitUntil(scheduled.run()),
    },
    {
      name: "always-on",
      dueAt: () => (isMissing() ? restart.at : undefined),
      run: () => {
        log.info("the always-on container is started");
        restart.failed(clock());
        gateway.start();
      },
    },
    {
      name: "keep alive",
      dueAt: (now) => (container.running && !gateway.sleeps ? now + WATCH_MS : undefined),
      everyAlarm: true,
      run: () => {
        container.keepAlive();
        duty.update(container.running);
      },
    },
    {
      name: "backup",
      dueAt: () => (container.running ? state.nextAt : undefined),
      run: () => state.poll(),
    },
    {
      name: "log",
      dueAt: () => undefined,
      // The item runs at every alarm, so it needs no due time: other items set alarms while the container runs.
      everyAlarm: true,
      run: () => {
        if (!container.running || clock() - loggedAt < LOG_EVERY_MS) return;
        loggedAt = clock();
        waitUntil(keepLog());
      },
    },
    {
      name: "sleep",
      dueAt: () => sleep.dueAt,
      everyAlarm: true,
      run: () => sleep.sleepIfIdle(),
    },
    {
      name: "report",
      dueAt: (now) => (container.mayRun ? reporter?.dueAt(now) : undefined),
      run: () => reporter && waitUntil(reporter.report()),
    },
  ];
}
