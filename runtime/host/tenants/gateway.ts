import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import type { SandboxStatus } from "../../contract/control.ts";
import { reason, type Reason, StewardError } from "../../contract/errors.ts";
import { chatOfTenant, type TenantId } from "../../contract/tenant.ts";
import { ChatRelay } from "../../edge/chat-relay.ts";
import type { PageSocket } from "../../edge/page-sockets.ts";
import { type Broker, createBroker, type BrokerOptions } from "../../edge/broker.ts";
import { DueSchedule } from "../../edge/due-schedule.ts";
import type { Clock, Notes, PortRequest, Sandbox, SandboxPort } from "../../edge/ports.ts";
import type { ChatData } from "./chat-data.ts";
import { type TenantRun, type TenantRunOptions, startTenantRun } from "./run.ts";

/** Timeout of a gateway's start, in milliseconds. After the timeout, the gateway's events are retried. */
const START_MS = 60_000;
const NOTE_MS = 60_000;
const USED_NOTE = "usedAt";

interface TenantGatewayOptions extends TenantRunOptions {
  data: Pick<ChatData, "prepare" | "begin" | "restoreReadable">;
  broker: Omit<BrokerOptions, "token" | "chat">;
  notes: Notes;
  clock: Clock;
  /** Called when the gateway may be stopped to make room for another. */
  onIdle(): void;
  /**
   * Runs `start` if there is room for another gateway.
   *
   * @returns false if there is no room
   */
  whenRoom(start: () => void): Promise<boolean>;
}

/**
 * A chat's gateway: a process that runs as the chat's own operating-system user, starts on demand and stops when
 * idle.
 */
export class TenantGateway implements Sandbox {
  readonly tenant: TenantId;
  readonly broker: Broker;
  readonly schedule: DueSchedule;
  readonly pages = new ChatRelay({ onUse: () => this.recordUse() });
  readonly #options: TenantGatewayOptions;
  #run: TenantRun | undefined;
  #stopping: Promise<void> | undefined;
  #stoppedAt: number;
  #usedAt = 0;
  #notedAt = 0;
  #endedBy: Reason | undefined;
  #wentBack = false;
  #busy = 0;

  constructor(options: TenantGatewayOptions) {
    const { tenant, notes, clock } = options;
    this.#options = options;
    this.tenant = tenant;
    this.#stoppedAt = clock();
    this.#usedAt = Number(notes.read(USED_NOTE) ?? 0);
    this.schedule = new DueSchedule({
      memory: {
        read: (name) => notes.read(name),
        write: (name, value) => notes.write(name, value),
        coldStart: () => this.#run?.supervisor.status() ?? {},
      },
      sandbox: this,
      clock,
    });
    const { platform, chat } = chatOfTenant(tenant);
    this.broker = createBroker({
      ...options.broker,
      // Read the id on each use: it changes when a group becomes a supergroup.
      chat: {
        platform,
        get chat() {
          return notes.read("chat") ?? chat;
        },
      },
      token: () => this.#run?.pass ?? "",
    });
  }

  /** True from the gateway's start until its complete stop. */
  get isRunning(): boolean {
    return this.#run !== undefined || this.#stopping !== undefined;
  }

  get isBusy(): boolean {
    return this.#busy > 0 || this.pages.answering;
  }

  get #state(): SandboxStatus["state"] | undefined {
    return this.#run?.supervisor.status().state;
  }

  /** Milliseconds since the epoch. */
  get usedAt(): number {
    return this.#usedAt;
  }

  get isReady(): boolean {
    return this.#state === "ready";
  }

  get version(): string | undefined {
    return this.#run?.supervisor.status().version;
  }

  /** Reason why the gateway does not answer; for a stopped gateway, the reason that applied just before the stop. */
  get problem(): Reason | undefined {
    return this.#run === undefined ? this.#endedBy : problemIn(this.#run);
  }

  /**
   * Stores the times of the gateway's last use and next schedule. Does nothing if called again within a minute,
   * unless the gateway has finished work in the meantime.
   */
  async noteSchedule(): Promise<void> {
    const { clock } = this.#options;
    if (clock() - this.#notedAt < NOTE_MS) return;
    this.#notedAt = clock();
    this.#storeUse();
    await this.schedule.poll();
  }

  async status(): Promise<SandboxStatus> {
    const counts = { broker: { ...this.broker.counts } };
    if (this.#run !== undefined) return { ...this.#run.supervisor.status(), ...counts };
    const why = this.#endedBy && { reason: this.#endedBy };
    return {
      state: "stopped",
      since: new Date(this.#stoppedAt).toISOString(),
      restarts: 0,
      ...why,
      ...counts,
    };
  }

  /** Records activity, which postpones the stop. */
  recordUse(): void {
    this.#usedAt = this.#options.clock();
  }

  start(): void {
    this.whenReady().catch((error: unknown) => {
      this.#options.log.error("a chat's gateway cannot be started", {
        tenant: this.tenant,
        error: String(error),
      });
    });
  }

  /**
   * Starts the gateway if necessary and waits until it is ready.
   *
   * @returns its status, with the reason if it is not ready
   */
  async whenReady(): Promise<SandboxStatus> {
    this.recordUse();
    await this.#stopping;
    if (this.#run === undefined) {
      await this.#options.data.prepare(this.tenant);
      const port = await freePort();
      const hasRoom = await this.#options.whenRoom(() => this.#start(port));
      if (!hasRoom) return { ...(await this.status()), reason: reason("sandboxes_full") };
    }
    const run = this.#run;
    if (run === undefined) return this.status();
    run.supervisor.needed();
    const status = await run.supervisor.whenSettled(START_MS);
    this.recordUse();
    if (status.reason?.code === "data_newer" && (await this.#restoreReadable())) return this.whenReady();
    // The next start uses another port.
    if (status.reason?.code === "inner_port_in_use") await this.stop();
    return status;
  }

  /**
   * Restores the newest backup that this version can read. Only the first call has an effect.
   *
   * @returns true if a backup was restored
   */
  async #restoreReadable(): Promise<boolean> {
    if (this.#wentBack) return false;
    this.#wentBack = true;
    return (await this.#options.data.restoreReadable(this.tenant, () => this.stop())) !== undefined;
  }

  #start(port: number): void {
    const { data } = this.#options;
    // `begin` returns false if a restore has begun to replace the chat's data.
    if (this.#run !== undefined || !data.begin(this.tenant)) return;
    this.#run = startTenantRun(this.#options, { port, broker: this.broker });
    this.schedule.begun();
  }

  /** Ends the gateway and invalidates its broker pass. */
  async stop(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return this.#stopping;
    this.#endedBy = problemIn(run);
    this.#storeUse();
    this.#run = undefined;
    this.pages.closePages("asleep");
    this.#stopping = run.supervisor.stop().finally(() => {
      this.#stopping = undefined;
      this.#stoppedAt = this.#options.clock();
      this.#options.onChange();
    });
    await this.#stopping;
  }

  #storeUse(): void {
    const { notes, log } = this.#options;
    try {
      notes.write(USED_NOTE, String(this.#usedAt));
    } catch (error) {
      // A full disk must not prevent the stop.
      log.debug("a chat's last use was not noted", { tenant: this.tenant, error: String(error) });
    }
  }

  async wake(by: "visitor" | "operator"): Promise<boolean> {
    if (by === "visitor" || !this.#isAdmitted) return false;
    this.start();
    return true;
  }

  get #isAdmitted(): boolean {
    return this.#options.notes.read("admitted") === "yes";
  }

  async restart(): Promise<void> {
    if (this.#run !== undefined) this.#run.supervisor.restart();
    else if (!(await this.wake("operator"))) throw new StewardError("tenant_unknown");
  }

  async request(port: SandboxPort, request: PortRequest): Promise<Response> {
    if (!this.isRunning && !this.#isAdmitted) throw new StewardError("tenant_unknown");
    return this.whileBusy(async () => {
      const { reason: why } = await this.whenReady();
      if (this.#run === undefined) throw new StewardError(why?.code ?? "gateway_unavailable", why?.detail);
      return this.#run.sandbox.request(port, request);
    });
  }

  /**
   * Connects a chat page to the gateway, which is started if necessary.
   *
   * @returns false if the gateway does not answer
   */
  joinPage(page: PageSocket, headers: Record<string, string>): Promise<boolean> {
    return this.whileBusy(async () => {
      const { state } = await this.whenReady();
      if (state !== "ready" || this.#run === undefined) return false;
      return this.#run
        .openSocket(headers, (socket) => this.pages.join(page, socket))
        .then(() => true)
        .catch(() => false);
    });
  }

  /** Prevents an idle stop of the gateway while `work` runs. */
  async whileBusy<T>(work: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
      this.recordUse();
      // Look for the next schedule soon, because `work` may have added one.
      this.#notedAt = 0;
      if (!this.isBusy) this.#options.onIdle();
    }
  }

  async peek(request: PortRequest, port?: SandboxPort): Promise<Response | undefined> {
    return this.#run?.sandbox.peek(request, port);
  }
}

function problemIn({ supervisor }: TenantRun): Reason | undefined {
  const { state, reason: why } = supervisor.status();
  return state === "ready" ? undefined : why;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
