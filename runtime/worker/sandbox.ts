import type { Log } from "../shared/log.ts";
import { settledWithin } from "../shared/within.ts";
import type { Container, DurableObjectState } from "@cloudflare/workers-types/index.ts";
import { DurableObject } from "cloudflare:workers";
import { AWAIT_RESTORE_VARIABLE } from "../contract/backup.ts";
import type { SandboxStatus } from "../contract/control.ts";
import type { Delivery } from "../contract/delivery.ts";
import { gatewayEnvironment, type Environment } from "../contract/environment.ts";
import { FROM_SOURCE, VERSION } from "../contract/names.ts";
import { BUNDLE_VARIABLE } from "../contract/variables.ts";
import { BROKER_PATH, BROKER_VARIABLE } from "../contract/services.ts";
import { StewardError, type ErrorCode } from "../contract/errors.ts";
import { problem, problemResponse } from "../contract/problem.ts";
import { createBroker, type Broker } from "../edge/broker.ts";
import { REFUSED_WAKE_SECONDS } from "../edge/home-route.ts";
import type { AttemptResult } from "../edge/ledger/dispatcher.ts";
import { deliverTo } from "../edge/ledger/deliver.ts";
import type { Deliver } from "../edge/ledger/dispatcher.ts";
import { Alerts, LOOK_EVERY_MS } from "../edge/alerts.ts";
import { ActivityStore } from "../edge/ledger/activity.ts";
import { AnswerStore } from "../edge/ledger/answers.ts";
import { SignatureStore } from "../edge/ledger/signatures.ts";
import { Notices, type Tell } from "../edge/ledger/notices.ts";
import { LedgerStore } from "../edge/ledger/store.ts";
import { Teller } from "../edge/ledger/tell.ts";
import type {
  Activity,
  ActivityEntry,
  Admission,
  AnswerMemory,
  Backups,
  LastAnswer,
  Ledger,
  LedgerCounts,
  LedgerPage,
  LedgerQuery,
  PortRequest,
  ReplayResult,
  Sandbox as SandboxPorts,
  SandboxPort,
  Signatures,
  SignatureUse,
} from "../edge/ports.ts";
import { Alarm, AskAgain } from "./alarm.ts";
import { callBackups, type BackupsDoor, type BackupsOutcome } from "./backups/remote.ts";
import { SandboxBackups } from "./backups/sandbox-backups.ts";
import { StateSync } from "./backups/state-sync.ts";
import { ChatRelay } from "./chat.ts";
import { ContainerLife } from "./container-life.ts";
import { ContainerPorts } from "./container-ports.ts";
import { Deliveries } from "./deliveries.ts";
import { DueSchedule } from "./due-schedule.ts";
import { DutyCycle } from "./duty-cycle.ts";
import { durableSql } from "./durable-sql.ts";
import { LastUse, ContainerMemory } from "./container-memory.ts";
import { type ChatDoor, consoleLog, emailOf, readWorker, type WorkerEnvironment } from "./environment.ts";

const READY_TIMEOUT_MS = 120_000;
/** Interval in milliseconds at which the object checks open events, even after an eviction. */
const GUARD_MS = 15_000;
/** Delay before a page retries a refused chat socket; the same as on a host. */
const ASK_AGAIN_SECONDS = 5;
/** Keeps an alarm whose work is still in progress from firing in a tight loop. */
const SHORTEST_ALARM_MS = 500;
/** Backoff for restarting an always-on container that keeps ending. */
const KEEP_RUNNING = { firstMs: 1_000, longestMs: 60_000 };
/** Interval in milliseconds at which an always-on container is checked, even after an eviction. */
const WATCH_MS = 5 * 60_000;

/** Owns the container, records events and delivers them to it. One object serves the whole deployment. */
export class Sandbox
  extends DurableObject<WorkerEnvironment>
  implements Ledger, Activity, AnswerMemory, Signatures, SandboxPorts, ChatDoor, BackupsDoor
{
  readonly #clock = Date.now;
  readonly #log: Log;
  readonly #notes: ContainerMemory;
  readonly #store: LedgerStore;
  readonly #activity: ActivityStore;
  readonly #answers: AnswerStore;
  readonly #signatures: SignatureStore;
  readonly #state: StateSync;
  readonly #backups: SandboxBackups;
  readonly #duty: DutyCycle;
  readonly #life: ContainerLife;
  readonly #deliveries: Deliveries;
  readonly #notices: Notices;
  readonly #broker: Broker;
  readonly #chat: ChatRelay;
  readonly #due: DueSchedule;
  readonly #alarm: Alarm;
  readonly #alerts: Alerts | undefined;
  readonly #sleepAfterMs: number;
  readonly #lastUse: LastUse;
  /** Time of the next restart of an always-on container. */
  readonly #restart = new AskAgain(KEEP_RUNNING);

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    const sql = durableSql(ctx.storage);
    const { variables, settings } = readWorker(env);
    this.#log = consoleLog(variables);
    this.#sleepAfterMs = settings.sleepAfterMs;
    this.#notes = new ContainerMemory(sql);
    this.#lastUse = new LastUse(this.#notes, this.#clock);
    this.#store = new LedgerStore(sql);
    this.#activity = new ActivityStore(sql, this.#clock);
    this.#answers = new AnswerStore(sql, this.#clock);
    this.#signatures = new SignatureStore(sql, this.#clock);
    this.#activity.deployed(VERSION, variables[BUNDLE_VARIABLE] ?? FROM_SOURCE);
    const inside = { container: () => this.#container(), notes: this.#notes };
    const ports = new ContainerPorts(inside);
    this.#chat = new ChatRelay({
      upgrade: (path, headers) => ports.upgrade(path, headers),
      use: () => this.#use(),
    });
    const shared = { notes: this.#notes, clock: this.#clock, log: this.#log };
    const stored = { bucket: env.STATE, waitUntil: (promise: Promise<unknown>) => ctx.waitUntil(promise) };
    this.#alarm = new Alarm({ storage: ctx.storage, waitUntil: (promise) => ctx.waitUntil(promise) });
    this.#state = new StateSync({ ...shared, ...stored, ports, running: () => this.#container().running });
    this.#life = new ContainerLife({
      ...shared,
      ...inside,
      environment: containerEnvironment(variables),
      state: this.#state,
      recoversConfig: settings.configRecovery === "auto",
    });
    this.#duty = new DutyCycle({ ...shared, ...stored, sleepAfterMs: settings.sleepAfterMs });
    this.#life.listen(this.#duty);
    this.#backups = new SandboxBackups({ state: this.#state, life: this.#life });
    this.#broker = createBroker({
      environment: variables,
      token: () => (this.#life.running ? (this.#notes.read("brokerToken") ?? "") : ""),
      fetch: (url, init) => fetch(url, init),
      log: this.#log,
    });
    const teller = new Teller({
      sandbox: {
        status: () => this.#life.status(),
        request: (port, request) => this.#life.request(port, request),
      },
      environment: variables,
      fetch: (url, init) => fetch(url, init),
    });
    const tell: Tell = (...told) => {
      const result = teller.tell(...told);
      ctx.waitUntil(result.catch(() => undefined));
      return result;
    };
    this.#deliveries = new Deliveries({
      store: this.#store,
      deliver: (...request) => this.#deliver(...request),
      tell,
      whenReady: () => this.#life.whenReady(READY_TIMEOUT_MS),
      wakeAt: (time) => this.#alarm.wakeAt(time),
      clock: this.#clock,
      log: this.#log,
    });
    this.#notices = new Notices({
      store: this.#store,
      tell,
      wakeAt: (time) => this.#alarm.wakeAt(time),
      clock: this.#clock,
      log: this.#log,
    });
    this.#due = new DueSchedule({
      notes: this.#notes,
      peek: (request) => this.#life.peek(request),
      clock: this.#clock,
    });
    this.#alerts =
      settings.alerts &&
      new Alerts({
        settings: settings.alerts,
        fetch: (input, init) => fetch(input, init),
        sendEmail: emailOf(env),
        neverSleeps: !Number.isFinite(this.#sleepAfterMs),
        sandbox: {
          status: () => this.#life.status(),
          peek: (request, port) => this.#life.peek(request, port),
        },
        backups: this.#backups,
        oldestEvent: () => this.#store.oldestOpen(),
        memory: {
          read: () => this.#notes.read("alerts"),
          write: (text) => this.#notes.write("alerts", text),
        },
        clock: this.#clock,
        log: this.#log,
      });
    this.#life.listen({ ended: () => this.#schedule() });
    void ctx.blockConcurrencyWhile(() => this.#alarm.load());
  }

  /** See {@link Ledger}. Sets the alarm together with the entry, so that an evicted object wakes for it. */
  async admit(event: Delivery): Promise<Admission> {
    const recorded = this.#store.record(event);
    if (recorded === "left") return { duplicate: true, ready: true };
    this.#use();
    const { state } = await this.#life.status();
    this.ctx.waitUntil(this.#deliveries.run());
    this.#notices.run();
    return { duplicate: recorded === "known", ready: state === "ready" };
  }

  /** See {@link Ledger}. */
  async counts(): Promise<LedgerCounts> {
    return this.#store.counts();
  }

  /** See {@link Ledger}. */
  async list(query: LedgerQuery): Promise<LedgerPage> {
    return this.#store.list(query);
  }

  /** See {@link Ledger}. */
  async recent(limit: number): Promise<(string | undefined)[]> {
    return this.#store.recent(limit);
  }

  /** See {@link Ledger}. Starts a stopped container, as the event itself did. */
  async replay(key: string): Promise<ReplayResult> {
    const result = this.#store.replay(key, this.#clock());
    if (result === "replayed") {
      this.#use();
      this.ctx.waitUntil(this.#deliveries.run());
    }
    return result;
  }

  /** See {@link Activity}. */
  async record(entry: Omit<ActivityEntry, "at">): Promise<void> {
    this.#activity.record(entry);
  }

  /** See {@link Activity}. */
  async activity(limit: number): Promise<ActivityEntry[]> {
    return this.#activity.list(limit);
  }

  /** See {@link AnswerMemory}. */
  async keepAnswer(question: string, text: string): Promise<void> {
    this.#answers.keep(question, text);
  }

  /** See {@link AnswerMemory}. */
  async lastAnswer(question: string): Promise<LastAnswer | undefined> {
    return this.#answers.last(question);
  }

  /** See {@link Signatures}. */
  async useSignature(mac: string, expiresAt: number): Promise<SignatureUse> {
    return this.#signatures.use(mac, expiresAt);
  }

  /** See {@link SandboxPorts}. */
  async status(): Promise<SandboxStatus> {
    const status = await this.#life.status();
    if (status.state === "ready" && this.#deliveries.recovered()) {
      this.ctx.waitUntil(this.#deliveries.run());
    }
    // Applies a new SANDBOX_SLEEP_AFTER, and sets the alarm again after the object was lost.
    this.#schedule();
    return {
      ...status,
      restarts: status.restarts + this.#notes.restarts,
      duty: this.#duty.duty,
      broker: { ...this.#broker.counts },
    };
  }

  /** See {@link SandboxPorts}. */
  async wake(by: "visitor" | "operator"): Promise<boolean> {
    // A container that is shutting down still runs, while its supervisor already reports "stopped".
    const { state } = await this.#life.status();
    if (state === "crash-looping" && by === "operator")
      this.ctx.waitUntil(this.#life.whenReady(READY_TIMEOUT_MS));
    if (state !== "stopped") return true;
    if (by === "visitor" && !this.#notes.grantVisitor(this.#clock())) return false;
    this.#start();
    return true;
  }

  /** See {@link SandboxPorts}. Copies the state to the bucket first, since a container loses its disk. */
  async restart(): Promise<ErrorCode | undefined> {
    try {
      await this.#life.restart();
    } catch (error) {
      return error instanceof StewardError ? error.code : "gateway_unavailable";
    }
    this.#start();
    return undefined;
  }

  /** See {@link SandboxPorts}. */
  async request(port: SandboxPort, request: PortRequest): Promise<Response> {
    const response = await this.#life.request(port, request);
    // A refused request, perhaps a stranger's, must not keep the container awake.
    if (response.ok) this.#use();
    return response;
  }

  /** See {@link SandboxPorts}. Does not count as use: frequent scrapes must not keep the container awake. */
  async peek(request: PortRequest, port?: SandboxPort): Promise<Response | undefined> {
    return this.#life.peek(request, port);
  }

  /**
   * Handles the gateway's requests to the broker and the sockets of chat pages. A page wakes a sleeping container as a
   * visitor does, and retries later.
   */
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname.startsWith(`${BROKER_PATH}/`)) return this.#broker.handle(request);
    const { state, reason } = await this.status();
    if (state === "ready") return this.#chat.open(request.headers);
    const seconds = (await this.wake("visitor")) ? ASK_AGAIN_SECONDS : REFUSED_WAKE_SECONDS;
    const document = problem("gateway_unavailable", reason?.detail);
    return problemResponse(document, { "retry-after": String(seconds) });
  }

  /** See {@link BackupsDoor}. */
  async callBackups(method: keyof Backups, parameters: unknown[]): Promise<BackupsOutcome> {
    const called = callBackups(this.#backups, method, parameters).finally(() => this.#schedule());
    // Finish the work even if the page stops waiting for it.
    this.ctx.waitUntil(called);
    return called;
  }

  /** Runs what is due: deliveries, a start for a schedule, a backup, and finally sleep. */
  async alarm(): Promise<void> {
    this.#alarm.fired();
    try {
      await this.#runDue();
    } catch (error) {
      // Log instead of throwing: Cloudflare stops retrying a failing alarm, and nothing would wake the object for its events.
      this.#log.error("the alarm's work failed", { error: String(error) });
    }
    this.#schedule();
  }

  async #runDue(): Promise<void> {
    if (this.#alerts !== undefined) this.ctx.waitUntil(this.#alerts.look());
    if (this.#life.running && (await this.#life.status()).state === "ready") this.#deliveries.recovered();
    this.#notices.run();
    // Alarms of one object run one after another: a slow answer or start must not delay the next alarm.
    const delivered = this.#deliveries.run().catch((error: unknown) => {
      this.#log.error("the deliveries failed", { error: String(error) });
    });
    this.ctx.waitUntil(delivered);
    await settledWithin(GUARD_MS, delivered);
    if (!this.#life.running && (this.#due.startAt ?? Number.POSITIVE_INFINITY) <= this.#clock()) {
      this.#log.info("a schedule is due");
      this.#due.begun();
      this.#start();
    }
    if (this.#isDown && this.#restart.at <= this.#clock()) {
      this.#log.info("the always-on container is started");
      this.#restart.failed(this.#clock());
      this.#start();
    }
    this.#life.stay();
    this.#duty.look(this.#life.running);
    if (this.#life.running) this.#state.look();
    // Check again after each slow step: the container may be in use again.
    if (this.#idle && !(await this.#due.look()) && this.#idle && (await this.#state.leave()) && this.#idle) {
      this.#chat.sleep();
      await this.#life.stop();
    }
  }

  get #idle(): boolean {
    const expected = this.#store.hasOpen() && !this.#deliveries.failing;
    const wanted = this.#life.starting || expected || this.#chat.answering || this.#backups.busy;
    return this.#life.running && !wanted && this.#clock() - this.#lastUse.at >= this.#sleepAfterMs;
  }

  /** True if an always-on container is not running. */
  get #isDown(): boolean {
    return !Number.isFinite(this.#sleepAfterMs) && !this.#life.running && !this.#life.starting;
  }

  #start(): void {
    this.#use();
    this.ctx.waitUntil(this.#started());
  }

  async #started(): Promise<void> {
    const { state } = await this.#life.whenReady(READY_TIMEOUT_MS);
    if (state === "ready") this.#restart.recovered();
    this.#use();
  }

  async #deliver(...[request, on]: Parameters<Deliver>): Promise<AttemptResult> {
    const record = (entry: Omit<ActivityEntry, "at">): void => this.#activity.record(entry);
    const result = await deliverTo({ sandbox: this.#life, record, clock: this.#clock }, request, on);
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

  /** Records activity, which postpones sleep. */
  #use(): void {
    this.#lastUse.now();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#alerts !== undefined && (this.#life.running || this.#store.hasOpen() || this.#alerts.isOpen))
      this.#alarm.wakeAt(this.#clock() + LOOK_EVERY_MS);
    // A running container may have recovered; a stopped one is started for its events with increasing delays.
    const againAt = this.#life.running ? 0 : this.#deliveries.againAt;
    if (this.#store.hasOpen()) this.#alarm.wakeAt(Math.max(this.#clock() + GUARD_MS, againAt));
    const soon = this.#clock() + SHORTEST_ALARM_MS;
    const noticeAt = this.#store.nextNotice();
    if (noticeAt !== undefined) this.#alarm.wakeAt(Math.max(noticeAt, soon));
    const dueAt = this.#life.running ? undefined : this.#due.startAt;
    if (dueAt !== undefined) this.#alarm.wakeAt(Math.max(dueAt, soon));
    if (this.#isDown) this.#alarm.wakeAt(Math.max(this.#restart.at, soon));
    if (!this.#life.running) return;
    if (!Number.isFinite(this.#sleepAfterMs)) this.#alarm.wakeAt(this.#clock() + WATCH_MS);
    this.#alarm.wakeAt(Math.max(this.#state.nextAt ?? Number.POSITIVE_INFINITY, soon));
    if (Number.isFinite(this.#sleepAfterMs))
      this.#alarm.wakeAt(Math.max(this.#lastUse.at + this.#sleepAfterMs, this.#state.againAt, soon));
  }
}

/**
 * Returns the container's variables. At each start, keys are replaced by passes if the container can reach the Worker.
 */
function containerEnvironment(variables: Environment): Record<string, string> {
  const { PUBLIC_ORIGIN: origin } = variables;
  return {
    ...gatewayEnvironment(variables),
    [AWAIT_RESTORE_VARIABLE]: "true",
    ...(origin && { [BROKER_VARIABLE]: `${origin}${BROKER_PATH}` }),
  };
}
