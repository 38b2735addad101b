import path from "node:path";
import type { DiskStore } from "../../backups/stores/disk.ts";
import type { Delivery } from "../../contract/delivery.ts";
import { BROWSER_HEADER, browserHeader } from "../../contract/chat.ts";
import { reason, StewardError } from "../../contract/errors.ts";
import { problem, problemResponse } from "../../contract/problem.ts";
import { type TenantId, tenantOfBrowser } from "../../contract/tenant.ts";
import type { EdgeOptions } from "../../edge/app.ts";
import type { BrokerOptions } from "../../edge/broker.ts";
import { type DeliverOptions, deliverTo } from "../../edge/ledger/deliver.ts";
import type { AttemptResult, Deliver, NotifyChat } from "../../edge/ledger/dispatcher.ts";
import { ChatNotifier } from "../../edge/ledger/chat-notifier.ts";
import type { Clock, Sandbox } from "../../edge/ports.ts";
import { refusedResult, TenantGate } from "../../edge/tenants/gate.ts";
import { withDeploymentParts } from "../../edge/tenants/operations.ts";
import type { TenantQuery, Tenants } from "../../edge/tenants/ports.ts";
import { TenantReception } from "../../edge/tenants/reception.ts";
import { readBrokerUrl, tenantOfEvent } from "../../edge/tenants/routing.ts";
import type { NodeSql, RunningLedger } from "../ledger.ts";
import { Timer } from "../timer.ts";
import { chatStateCommand } from "../chat-state/run.ts";
import { chatBackups, edgeOfChat } from "./chat-edge.ts";
import { ChatData } from "./chat-data.ts";
import { ChatBackupDirectory } from "./chat-backup-directory.ts";
import { TenantGateway } from "./gateway.ts";
import type { BrowserGateways } from "./pages.ts";
import { TenantLedgers } from "./ledgers.ts";
import { GatewayPool } from "./gateway-pool.ts";
import type { RunSurroundings } from "./run.ts";
import { exists } from "../../process/files.ts";
import { ScheduledStarts } from "./scheduled-starts.ts";
import { SharedConfig } from "./shared-config.ts";
import { TenantNotes } from "./tenant-notes.ts";

/**
 * Interval, in milliseconds, of checks for idle gateways, due schedules, a changed config and room for waiting chats.
 */
const LOOK_MS = 1_000;
const PRUNE_MS = 3_600_000;
const MAX_CHATS = 1_000;
/** Milliseconds until an event's retry if the host runs its maximum number of gateways. */
const FULL_AGAIN_MS = 5_000;
const FULL = reason("sandboxes_full");

/** Subfolders of a data directory that contain approvals. */
const APPROVALS = ["credentials", "devices"];

export interface HostTenancyOptions extends Omit<RunSurroundings, "sharedConfig"> {
  sql: NodeSql;
  broker: Omit<BrokerOptions, "token" | "chat">;
  stores(folder?: string): Promise<DiskStore>;
  home: string;
  sandbox: Sandbox;
  record: DeliverOptions["record"];
  /** Limit of running gateways, without the deployment's. */
  maxSandboxes: number;
  /** Idle timeout in milliseconds; `Infinity` for `never`. */
  sleepAfterMs: number;
  clock: Clock;
}

interface Chat {
  gate: TenantGate;
  gateway: TenantGateway;
  notifier: ChatNotifier;
}

/** The chats of a host, each with its own gateway. One ledger contains all their events. */
export class HostTenancy {
  readonly #options: HostTenancyOptions;
  readonly #reception: TenantReception;
  readonly #ledgers: TenantLedgers;
  readonly #chats = new Map<TenantId, Chat>();
  readonly #outboxAt: Timer;
  readonly #deploymentNotifier: ChatNotifier;
  readonly #config: SharedConfig;
  readonly #notes: TenantNotes;
  readonly #scheduled: ScheduledStarts;
  readonly #backupDirectory: ChatBackupDirectory;
  readonly #data: ChatData;
  readonly #pool: GatewayPool;
  /** Chats whose row in the list of tenants is outdated. */
  readonly #changed: Set<TenantId>;
  #ledger: Pick<RunningLedger, "makeDue"> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #prunedAt = 0;
  #isLooking = false;

  constructor(options: HostTenancyOptions) {
    this.#options = options;
    const { sql, users, configPath, broker, home, stores, maxSandboxes, sandbox, clock, log } = options;
    this.#notes = new TenantNotes(sql);
    this.#ledgers = new TenantLedgers(sql);
    this.#config = new SharedConfig(configPath, users.folder);
    this.#backupDirectory = new ChatBackupDirectory(home);
    this.#data = new ChatData({
      backupDirectory: this.#backupDirectory,
      users,
      open: stores,
      program: chatStateCommand(),
      environment: { PATH: broker.environment["PATH"] },
      clock,
      log,
    });
    this.#pool = new GatewayPool({
      most: maxSandboxes,
      gateways: () => [...this.#chats.values()].map(({ gateway }) => gateway),
      begin: (tenant) => this.#beginWaiting(tenant),
      log,
    });
    this.#deploymentNotifier = this.#notifier(sandbox);
    this.#outboxAt = new Timer(clock, () => void this.#reception.flush());
    this.#reception = new TenantReception({
      sql,
      notes: this.#notes.deployment,
      environment: broker.environment,
      readConfig: async () => this.#config.read(),
      sandbox,
      servedAllSince: async () =>
        this.#backupDirectory.servedAllSince ??
        (APPROVALS.some((folder) => exists(path.join(home, folder))) ? "yes" : undefined),
      storeApprovals: async (approvals) => this.#backupDirectory.storeApprovals(approvals),
      changeRights: (tenant, grant) => {
        const { gate, gateway } = this.#chat(tenant);
        return gate.change(grant, gateway);
      },
      changeBrowser: async (tenant, role) => {
        const { gate, gateway } = this.#chat(tenant);
        gate.changeBrowser(role, gateway.pages);
      },
      wakeAt: (time) => this.#outboxAt.set(time),
      fetch: broker.fetch,
      clock,
      log,
    });
    this.#scheduled = new ScheduledStarts({
      mark: () => `${this.#backupDirectory.servedAllSince ?? ""} ${this.#config.digest}`,
      notes: (tenant) => this.#notes.of(tenant),
      find: async () => (await this.#data.known()).scheduled,
      begin: (tenant) => this.#beginSchedules(tenant),
      clock,
      log,
    });
    // The previous process may have ended without updating these chats' rows.
    this.#changed = new Set(this.#reception.roster.running());
  }

  /** Starts the regular checks of the chats' gateways. Call after the ledger has opened. */
  start(ledger: Pick<RunningLedger, "makeDue">): void {
    this.#ledger = ledger;
    this.#ledgers.prepare();
    this.#notes.servedAllSince(this.#backupDirectory.servedAllSince ?? "");
    this.#prunedAt = this.#options.clock();
    this.#outboxAt.set(this.#options.clock());
    this.#config.publish();
    for (const tenant of this.#notes.tenantsWith("scheduleAt")) this.#chat(tenant);
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  /**
   * Stops all gateways permanently, then backs up the chats' data. A switch to one shared gateway needs these
   * backups.
   */
  async stop(): Promise<void> {
    this.#pool.close();
    clearInterval(this.#timer);
    this.#outboxAt.clear();
    await Promise.all([...this.#chats.values()].map(({ gateway }) => gateway.stop()));
    await this.copyChats();
  }

  /** Never rejects. */
  copyChats(): Promise<void> {
    return this.#data.copyChanged(this.#isRunning, { all: true });
  }

  readonly #isRunning = (tenant: TenantId): boolean => this.#chats.get(tenant)?.gateway.isRunning === true;

  /** Returns an event's tenant; `undefined` for an event without a chat, which goes to the deployment's gateway. */
  tenantOf(event: Delivery): TenantId | undefined {
    const tenant = tenantOfEvent(event);
    return tenant && (this.#reception.roster.movedTo(tenant) ?? tenant);
  }

  async arrives(event: Delivery): Promise<void> {
    const tenant = this.tenantOf(event);
    if (tenant === undefined) return;
    this.#ledgers.arrives(tenant, event);
    this.#changed.add(tenant);
    await this.#chat(tenant).gate.followMove(event);
  }

  /**
   * Returns true if the gateway of the event's chat is ready or not needed; `undefined` for an event without a
   * chat.
   */
  isReady(event: Delivery): boolean | undefined {
    const tenant = this.tenantOf(event);
    if (tenant === undefined) return undefined;
    const { gate, gateway } = this.#chat(tenant);
    return !gate.isOpen || gateway.isReady;
  }

  /** Notifies a chat of a delayed or dropped message: through its gateway if running, otherwise directly. */
  readonly notify: NotifyChat = (event, ...notice) => {
    const tenant = this.tenantOf(event);
    const notifier = tenant === undefined ? this.#deploymentNotifier : this.#chat(tenant).notifier;
    return notifier.notify(event, ...notice);
  };

  #notifier(sandbox: Sandbox): ChatNotifier {
    const { environment, fetch } = this.#options.broker;
    return new ChatNotifier({ sandbox, environment, fetch });
  }

  /** Delivers a chat's events to its own gateway once the chat is admitted. Starts the gateway if necessary. */
  readonly deliver: Deliver = async (request, on) => {
    const { sandbox, record, clock } = this.#options;
    const [first] = request.deliveries;
    const tenant = this.tenantOf(first);
    if (tenant === undefined) return deliverTo({ sandbox, record, clock }, request, on);
    const { gate, gateway } = this.#chat(tenant);
    if (!gate.isOpen) {
      const standing = await gate.ask(first);
      if (!standing.admitted) {
        // The group's id has just changed. The next attempt finds the gateway by the new id.
        if (standing.movedTo !== undefined) return { kind: "retry", note: standing.note, absent: true };
        return refusedResult(standing);
      }
    }
    return gateway.whileBusy(async (): Promise<AttemptResult> => {
      const { state, reason: why } = await gateway.whenReady();
      if (state !== "ready") {
        const isFull = why?.code === FULL.code;
        const note = why?.detail ?? "the chat's gateway does not start";
        return { kind: "retry", note, absent: true, ...(isFull && { afterMs: FULL_AGAIN_MS }) };
      }
      if (!(await gate.passOnGrant(gateway)))
        return { kind: "retry", note: "the gateway did not receive the approval", absent: true };
      try {
        return await deliverTo({ sandbox: gateway, record, clock }, request, on);
      } finally {
        this.#changed.add(tenant);
      }
    });
  };

  readonly tenants: Tenants = {
    totals: async () => {
      this.#report();
      return this.#reception.roster.totals();
    },
    tenants: async (query: TenantQuery) => {
      this.#report();
      return this.#reception.roster.list(query);
    },
    knows: async (tenant) => this.#reception.roster.has(tenant),
  };

  readonly browsers: BrowserGateways = {
    enter: (...asked) => this.#reception.enter(...asked),
    join: (browser, page, headers) => {
      const { gate, gateway } = this.#chat(tenantOfBrowser(browser.deviceId));
      gate.open();
      const named = { ...headers, [BROWSER_HEADER]: browserHeader(browser) };
      return gateway.joinPage(page, named);
    },
  };

  /** Returns the gateway of a paired browser; `undefined` if the browser is not paired. */
  readonly sandboxOf = async (deviceId: string): Promise<Sandbox | undefined> => {
    const tenant = tenantOfBrowser(deviceId);
    return this.#reception.roster.has(tenant) ? this.#chat(tenant).gateway : undefined;
  };

  /** Handles a request from a chat's gateway to the broker. Returns `undefined` if the request names no chat. */
  answerBroker(request: Request): Promise<Response> | undefined {
    const { tenant, url } = readBrokerUrl(request.url);
    if (tenant === undefined) return undefined;
    if (!this.#reception.roster.has(tenant))
      return Promise.resolve(problemResponse(problem("broker_refused")));
    return this.#chat(tenant).gateway.broker.handle(request, url);
  }

  edgeOf(tenant: TenantId, deployment: EdgeOptions): EdgeOptions {
    const { gateway } = this.#chat(tenant);
    const { clock, log } = this.#options;
    return edgeOfChat(tenant, deployment, {
      ledger: this.#ledgers.of(tenant, deployment.ledger),
      sandbox: this.asShown(gateway),
      backups: chatBackups({
        tenant,
        gateway: () => this.#chat(tenant).gateway,
        data: this.#data,
        clock,
        log,
      }),
    });
  }

  /** Wraps a sandbox so that requests about the whole deployment go to the deployment's sandbox. */
  asShown(sandbox: Sandbox): Sandbox {
    return withDeploymentParts(sandbox, {
      deployment: this.#options.sandbox,
      operate: (request) => this.#reception.operate(request),
    });
  }

  #chat(tenant: TenantId): Chat {
    const known = this.#chats.get(tenant);
    if (known !== undefined) return known;
    const { clock } = this.#options;
    const notes = this.#notes.of(tenant);
    const { roster } = this.#reception;
    const gate = new TenantGate({
      tenant,
      directory: {
        introduce: (...asked) => this.#reception.introduce(...asked),
        moved: async (from, to) => roster.move(from, to),
      },
      notes,
      clock,
    });
    const gateway = new TenantGateway({
      ...this.#options,
      sharedConfig: this.#config.path,
      data: this.#data,
      tenant,
      notes,
      whenRoom: (start) => this.#pool.take(tenant, start),
      onChange: () => void this.#changed.add(tenant),
      onIdle: () => void this.#pool.offer(),
    });
    const chat = { gate, gateway, notifier: this.#notifier(gateway) };
    this.#forgetIdle();
    this.#chats.set(tenant, chat);
    return chat;
  }

  /** Drops one idle chat from memory if there are too many chats. It is recreated on demand. */
  #forgetIdle(): void {
    if (this.#chats.size < MAX_CHATS) return;
    for (const [tenant, { gateway }] of this.#chats) {
      if (gateway.isRunning || gateway.isBusy || gateway.schedule.startAt !== undefined) continue;
      this.#chats.delete(tenant);
      return;
    }
  }

  async #look(): Promise<void> {
    const { clock, sleepAfterMs, log } = this.#options;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      this.#config.publish();
      if (clock() - this.#prunedAt > PRUNE_MS) {
        this.#prunedAt = clock();
        this.#ledgers.prune();
      }
      const chats = [...this.#chats.values()];
      await Promise.all(chats.map((chat) => this.#checkChat(chat, clock() - sleepAfterMs)));
      // Do not wait: copying a large chat takes a long time.
      void this.#data.copyChanged(this.#isRunning);
      void this.#scheduled.run();
      // A gateway that has finished its schedule may now be stopped to make room for waiting chats.
      void this.#pool.offer();
    } catch (error) {
      log.error("the checks of the chats' gateways failed", { error: String(error) });
    } finally {
      this.#isLooking = false;
    }
  }

  /**
   * Starts a gateway that has waited for room.
   *
   * @returns false if there is still no room
   */
  async #beginWaiting(tenant: TenantId): Promise<boolean> {
    const { gateway } = this.#chat(tenant);
    return gateway.whileBusy(async () => {
      const { reason: why } = await gateway.whenReady();
      if (why?.code === FULL.code) return false;
      // Call this inside `whileBusy`, or the gateway could be stopped for another chat before it gets the messages.
      this.#ledger?.makeDue(this.#ledgers.conversations(tenant), FULL.detail);
      return true;
    });
  }

  async #beginSchedules(id: TenantId): Promise<void> {
    const { roster } = this.#reception;
    const tenant = roster.movedTo(id) ?? id;
    const { gate, gateway } = this.#chat(tenant);
    gate.expectSchedules();
    if (!gate.mayRun) return;
    roster.meet(tenant);
    const { state, reason: why } = await gateway.whenReady();
    if (state !== "ready") throw new StewardError(why?.code ?? "gateway_not_ready", why?.detail);
    await gateway.schedule.poll();
  }

  async #checkChat({ gate, gateway }: Chat, idleSince: number): Promise<void> {
    const { clock } = this.#options;
    const { schedule } = gateway;
    if (!gateway.isRunning) {
      // The start takes seconds and must not delay the other gateways' checks.
      if (gate.mayRun && (schedule.startAt ?? Number.POSITIVE_INFINITY) <= clock()) gateway.start();
      return;
    }
    if (gateway.isBusy) return;
    if (gateway.usedAt <= idleSince) await this.#pool.stopIdle(gateway);
    // The process may end at any moment, so the next due time must be stored now.
    else if (gateway.isReady) await gateway.noteSchedule();
  }

  #report(): void {
    const { roster } = this.#reception;
    for (const tenant of this.#changed) {
      if (!roster.has(tenant)) continue;
      const { isRunning: running, version, usedAt, problem: why } = this.#chat(tenant).gateway;
      const counts = this.#ledgers.counts(tenant);
      roster.report(tenant, {
        running,
        version,
        counts,
        usedAt: new Date(usedAt).toISOString(),
        problem: why,
      });
    }
    this.#changed.clear();
  }
}
