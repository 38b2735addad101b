import type { Log } from "../../contract/log.ts";
import type { Container, DurableObjectState } from "@cloudflare/workers-types/index.ts";
import { DurableObject } from "cloudflare:workers";
import type { SandboxStatus } from "../../contract/control.ts";
import type { Delivery } from "../../contract/delivery.ts";
import { gatewayEnvironment } from "../../contract/environment.ts";
import { StewardError } from "../../contract/errors.ts";
import { Dispatcher, type AttemptResult } from "../../edge/ledger/dispatcher.ts";
import { deliverTo } from "../../edge/ledger/deliver.ts";
import { LedgerStore } from "../../edge/ledger/store.ts";
import type {
  Admission,
  Ledger,
  LedgerCounts,
  LedgerPage,
  LedgerQuery,
  PortRequest,
  ReplayResult,
  Sandbox as SandboxPorts,
  SandboxPort,
} from "../../edge/ports.ts";
import { ContainerLife } from "./container-life.ts";
import { durableSql } from "./durable-sql.ts";
import { readWorker, type WorkerEnvironment } from "./environment.ts";
import { consoleLog } from "./log.ts";
import { Notes } from "./notes.ts";

/** Deliveries under way at the same time: above the chats that are answered side by side. */
const CONCURRENCY = 32;
const READY_TIMEOUT_MS = 120_000;
/** While events are open the object looks after them at least this often, even if it was evicted. */
const GUARD_MS = 15_000;
/** A gateway that cannot start is asked again after this time while events wait for it, then twice as late each time. */
const NOT_READY_RETRY_MS = 10_000;
const LONGEST_NOT_READY_MS = 30 * 60_000;
/** Keeps an alarm that finds its work under way from calling itself without a pause. */
const SHORTEST_ALARM_MS = 500;

/** Owns the container, records events and carries them to it. One object serves the whole deployment. */
export class Sandbox extends DurableObject<WorkerEnvironment> implements Ledger, SandboxPorts {
  readonly #clock = Date.now;
  readonly #log: Log;
  readonly #notes: Notes;
  readonly #store: LedgerStore;
  readonly #life: ContainerLife;
  readonly #dispatcher: Dispatcher;
  readonly #sleepAfterMs: number;
  #lastUse: number;
  #alarmAt = Number.POSITIVE_INFINITY;
  /** While the gateway cannot start: when it is asked again, and the wait that led there. */
  #askAgainAt = 0;
  #askAgainMs = NOT_READY_RETRY_MS / 2;

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    const sql = durableSql(ctx.storage);
    const { variables, settings } = readWorker(env);
    this.#log = consoleLog(variables);
    this.#sleepAfterMs = settings.sleepAfterMs;
    this.#lastUse = this.#clock();
    this.#notes = new Notes(sql);
    this.#store = new LedgerStore(sql);
    this.#life = new ContainerLife({
      container: () => this.#container(),
      environment: gatewayEnvironment(variables),
      notes: this.#notes,
      clock: this.#clock,
      log: this.#log,
    });
    this.#dispatcher = new Dispatcher({
      store: this.#store,
      deliver: (delivery) => this.#deliver(delivery),
      wakeAt: (time) => this.#wakeAt(time),
      clock: this.#clock,
      random: Math.random,
      log: this.#log,
      concurrency: CONCURRENCY,
    });
    // Read, not set: an alarm that is set while this object is being made for it cancels the one that is due.
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = (await ctx.storage.getAlarm()) ?? Number.POSITIVE_INFINITY;
    });
  }

  /** See {@link Ledger}. The alarm is set with the entry, so an evicted object comes back for it. */
  async admit(event: Delivery): Promise<Admission> {
    const duplicate = !this.#store.record(event);
    this.#use();
    const { state } = await this.#life.status();
    this.ctx.waitUntil(this.#dispatch());
    return { duplicate, ready: state === "ready" };
  }

  /** See {@link Ledger}. */
  async counts(): Promise<LedgerCounts> {
    return this.#store.counts();
  }

  /** See {@link Ledger}. */
  async list(query: LedgerQuery): Promise<LedgerPage> {
    return this.#store.list(query);
  }

  /** See {@link Ledger}. Starts a stopped container, as the event itself did. */
  async replay(key: string): Promise<ReplayResult> {
    const result = this.#store.replay(key, this.#clock());
    if (result === "replayed") {
      this.#use();
      this.ctx.waitUntil(this.#dispatch());
    }
    return result;
  }

  /** See {@link SandboxPorts}. */
  async status(): Promise<SandboxStatus> {
    const status = await this.#life.status();
    if (status.state === "ready" && this.#failing) {
      this.#recovered();
      this.ctx.waitUntil(this.#dispatch());
    }
    // Also after a new version brought another SANDBOX_SLEEP_AFTER, and after an object was lost.
    this.#schedule();
    return status;
  }

  /** See {@link SandboxPorts}. A visitor starts a stopped container at most three times an hour. */
  async wake(): Promise<boolean> {
    // A container on its way down still runs, and its supervisor says that it is stopped.
    if ((await this.#life.status()).state !== "stopped") return true;
    if (!this.#notes.grantVisitor(this.#clock())) return false;
    this.#use();
    this.ctx.waitUntil(this.#life.whenReady(READY_TIMEOUT_MS).then(() => this.#use()));
    return true;
  }

  /** See {@link SandboxPorts}. */
  async request(port: SandboxPort, request: PortRequest): Promise<Response> {
    const response = await this.#life.request(port, request);
    this.#use();
    return response;
  }

  /** See {@link SandboxPorts}. Not a use: a scrape every few seconds must not keep the container awake. */
  async peek(request: PortRequest): Promise<Response | undefined> {
    return this.#life.peek(request);
  }

  /** Runs what is due: deliveries, then sleep. */
  async alarm(): Promise<void> {
    this.#alarmAt = Number.POSITIVE_INFINITY;
    // Not waited for: alarms of one object follow one another, and a slow answer must not hold up the others.
    await this.#dispatch();
    const idleMs = this.#clock() - this.#lastUse;
    const wanted = this.#life.starting || (this.#store.hasOpen() && !this.#failing);
    if (idleMs >= this.#sleepAfterMs && !wanted) await this.#life.stop();
    this.#schedule();
  }

  // Waits for the gateway before it takes an entry: a gateway that is down is no failed attempt.
  async #dispatch(): Promise<void> {
    const due = this.#store.nextDue();
    if (due === undefined) return;
    const from = Math.max(due, this.#askAgainAt);
    if (from > this.#clock()) {
      this.#wakeAt(from);
      return;
    }
    const { state } = await this.#life.whenReady(READY_TIMEOUT_MS);
    if (state === "ready") {
      this.#recovered();
      this.#dispatcher.run();
      return;
    }
    // Everyone who waited for this start ends here; one of them says when to ask again.
    if (this.#clock() < this.#askAgainAt) return;
    this.#dispatcher.tidy();
    this.#askAgainMs = Math.min(this.#askAgainMs * 2, LONGEST_NOT_READY_MS);
    this.#askAgainAt = this.#clock() + this.#askAgainMs;
    this.#wakeAt(this.#askAgainAt);
  }

  /** The gateway cannot start, although it was asked to: it may sleep even with events that wait for it. */
  get #failing(): boolean {
    return this.#askAgainAt > 0;
  }

  #recovered(): void {
    this.#askAgainMs = NOT_READY_RETRY_MS / 2;
    this.#askAgainAt = 0;
  }

  async #deliver(delivery: Delivery): Promise<AttemptResult> {
    const result = await deliverTo(this.#life, delivery, this.#clock());
    this.#use();
    return result;
  }

  #container(): Container {
    const { container } = this.ctx;
    if (container === undefined) {
      throw new StewardError("gateway_unavailable", "This Durable Object class is not container-enabled.");
    }
    return container;
  }

  /** Something of worth happened: the container stays awake for another while. */
  #use(): void {
    this.#lastUse = this.#clock();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#store.hasOpen()) this.#wakeAt(Math.max(this.#clock() + GUARD_MS, this.#askAgainAt));
    if (this.#life.running && Number.isFinite(this.#sleepAfterMs)) {
      this.#wakeAt(Math.max(this.#lastUse + this.#sleepAfterMs, this.#clock() + SHORTEST_ALARM_MS));
    }
  }

  // An object has one alarm: the earliest wish wins, and each alarm asks anew for the others.
  #wakeAt(time: number): void {
    if (time >= this.#alarmAt) return;
    this.#alarmAt = time;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(time));
  }
}
