import type { Log } from "../shared/log.ts";
import { CONTROL_ROUTES, CONTROL_TOKEN_VARIABLE, type SandboxStatus } from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";
import { withPasses } from "../contract/services.ts";
import type { Clock, PortRequest, SandboxPort } from "../edge/ports.ts";
import type { StateSync } from "./backups/state-sync.ts";
import { ContainerPorts, type ContainerPortsOptions } from "./container-ports.ts";
import { ContainerReport, fingerprintOf, RecentAnswer } from "./container-report.ts";
import { pause } from "./alarm.ts";

const STATUS_FRESH_MS = 1_000;
const REQUEST_TIMEOUT_MS = 10 * 60_000;
const PEEK_TIMEOUT_MS = 2_000;
/** The supervisor may run a command for its answer. */
const PEEK_SUPERVISOR_MS = 10_000;
const PORT_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
const MAX_BOOT_FAILURES = 4;
const BOOT_RETRY_MS = 1_000;
const STOP_GRACE_MS = 15_000;
const WATCH_AGAIN_MS = 1_000;
const SIGTERM = 15;
/** Longer than the time from one alarm to the next while the container runs. */
const OUTLIVE_MS = 15 * 60_000;
/** Before an outdated container whose last copy failed is asked again. */
const LEAVE_RETRY_MS = 5_000;

/** Dependencies of {@link ContainerLife}. */
export interface ContainerLifeOptions extends ContainerPortsOptions {
  /** The gateway's variables. */
  environment: Record<string, string>;
  /** Gives the container its data, without which its gateway does not start, and copies it before an end. */
  state: Pick<StateSync, "restorer" | "recoverConfig" | "isCacheReplaced" | "leave">;
  /** Replaces a config that stopped the gateway with the last good one. */
  recoversConfig: boolean;
  clock: Clock;
  log: Log;
}

/** Listener of the container's runs. */
export interface RunListener {
  /** The platform has started the container. */
  started?(): void;
  /** The container has ended. */
  ended?(): void;
}

/** Starts, watches and stops the container; the Durable Object's only way to it. */
export class ContainerLife {
  readonly #options: ContainerLifeOptions;
  readonly #ports: ContainerPorts;
  readonly #report: ContainerReport;
  readonly #status: RecentAnswer<SandboxStatus>;
  readonly #adopted: Promise<void>;
  readonly #listeners: RunListener[] = [];
  #fingerprint = "";
  /** The supervisor of the run under way has answered. */
  #answered = false;
  /** The gateway's restarts in this run, as the supervisor told them last. */
  #restarts = 0;
  /** Runs since the last wish for a start that ended before the supervisor answered. */
  #bootFailures = 0;
  /** The end of the run under way; a later run has one of its own. */
  #end: Promise<void> | undefined;
  #starting: Promise<SandboxStatus> | undefined;
  /** The last copy of an outdated container is being made. */
  #leaving = false;

  constructor(options: ContainerLifeOptions) {
    this.#options = options;
    this.#ports = new ContainerPorts(options);
    this.#report = new ContainerReport({ ...options, restorer: options.state.restorer });
    this.#status = new RecentAnswer({ ask: () => this.#ask(), forMs: STATUS_FRESH_MS, clock: options.clock });
    // An object that is made for the first time has been stopped since now.
    if (options.notes.read("stoppedAt") === undefined)
      options.notes.write("stoppedAt", String(options.clock()));
    if (options.container().running) this.#watch();
    this.#adopted = this.#adopt();
  }

  /** Tells a listener of each start and end from now on. */
  listen(listener: RunListener): void {
    this.#listeners.push(listener);
  }

  /** True while the platform runs the container, ready or not. */
  get running(): boolean {
    return this.#options.container().running;
  }

  // A container outlives the Worker's version that started it and keeps its environment: with other variables, such as
  // a rotated secret, or another config in the bucket, it is ended, and the next use starts it again.
  async #adopt(): Promise<void> {
    const { environment, notes, log } = this.#options;
    this.#fingerprint = await fingerprintOf(environment);
    if (!this.running) return;
    const isSame = notes.read("environment") === this.#fingerprint;
    if (isSame && !(await this.#isReplaced())) return;
    log.info(isSame ? "the cached config was replaced" : "the container's environment is outdated");
    // Not awaited: meanwhile the gateway reports that it is stopping, and its users wait for the next start.
    void this.#endOutdated().catch((error: unknown) =>
      log.error("the container does not stop", { error: String(error) }),
    );
  }

  async #isReplaced(): Promise<boolean> {
    return this.#options.state.isCacheReplaced().catch((error: unknown) => {
      this.#options.log.warn("the cached config could not be looked up", { error: String(error) });
      return false;
    });
  }

  /**
   * Restarts the gateway. If the cached config was replaced, the container is ended after a copy of its state: its next
   * start takes that config.
   *
   * @throws StewardError `backup_failed` if that copy fails, `gateway_unavailable` if the supervisor does not answer.
   */
  async restart(): Promise<void> {
    await this.#adopted;
    if (!this.running) return;
    if (await this.#options.state.isCacheReplaced()) {
      if (!(await this.#options.state.leave())) throw new StewardError("backup_failed");
      await this.stop();
      return;
    }
    const response = await this.request("supervisor", { method: "POST", path: CONTROL_ROUTES.restart });
    this.#status.forget();
    if (!response.ok) throw new StewardError("gateway_unavailable");
  }

  // Where the last copy fails it serves on until the next attempt.
  async #endOutdated(): Promise<void> {
    for (;;) {
      this.#leaving = true;
      if (!this.running || (await this.#options.state.leave())) break;
      this.#leaving = false;
      await pause(LEAVE_RETRY_MS);
    }
    await this.stop();
  }

  /** True while a start is waited for. */
  get starting(): boolean {
    return this.#starting !== undefined;
  }

  #start(): void {
    const { container, environment, notes, clock, log } = this.#options;
    const { restorer } = this.#options.state;
    // An object that was lost during a restore starts it again.
    if (container().running) restorer.begin();
    // A run whose end is not noticed yet is waited for: each run has its own watch.
    if (container().running || this.#end !== undefined) return;
    restorer.started();
    const token = crypto.randomUUID();
    const brokerToken = crypto.randomUUID();
    notes.write("controlToken", token);
    notes.write("brokerToken", brokerToken);
    notes.startBegins(clock());
    notes.write("environment", this.#fingerprint);
    this.#status.forget();
    container().start({
      enableInternet: true,
      env: { ...withPasses(environment, brokerToken), [CONTROL_TOKEN_VARIABLE]: token },
    });
    for (const listener of this.#listeners) listener.started?.();
    log.info("container started");
    this.#watch();
    restorer.begin();
  }

  /** Asks the container to stop and kills it if it does not. A run that starts meanwhile is left alone. */
  async stop(): Promise<void> {
    const { container, log } = this.#options;
    const end = this.#end;
    if (end === undefined || !container().running) return;
    log.info("container is being stopped");
    container().signal(SIGTERM);
    await Promise.race([end, pause(STOP_GRACE_MS)]);
    if (this.#end === end) await container().destroy();
  }

  /** The state, from the supervisor where it answers. At most a second old; starts nothing. */
  async status(): Promise<SandboxStatus> {
    await this.#adopted;
    if (!this.running) return this.#report.stopped();
    return this.#status.get();
  }

  async #ask(): Promise<SandboxStatus> {
    const status = await this.#ports.status();
    if (status !== undefined) {
      this.#answered = true;
      this.#restarts = status.restarts;
    }
    const begun =
      this.#options.state.restorer.done && status !== undefined
        ? status
        : this.#report.booting(this.#answered);
    // Whoever needs it amid its last copy waits for the next start, as for that of one that is stopping.
    const told = this.#leaving ? this.#report.stopped() : this.#report.fromItsStart(begun);
    return { ...told, restarts: this.#restarts };
  }

  /** Starts the container and waits until the gateway is ready, cannot start, or `timeoutMs` is over. */
  async whenReady(timeoutMs: number): Promise<SandboxStatus> {
    const status = await this.status();
    if (status.state === "ready") return status;
    if (status.state === "crash-looping") await this.#tryNow();
    // Everyone who waits meanwhile waits for the same start.
    this.#starting ??= this.#untilSettled(timeoutMs).finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** The supervisor tries a crashed gateway at once; one that a broken config has stopped stays so. */
  async #tryNow(): Promise<void> {
    const needed: PortRequest = { method: "POST", path: CONTROL_ROUTES.needed };
    await this.#ports.send("supervisor", needed, PEEK_TIMEOUT_MS).catch(() => undefined);
    this.#status.forget();
  }

  async #untilSettled(timeoutMs: number): Promise<SandboxStatus> {
    const { container, clock, state, recoversConfig } = this.#options;
    const deadline = clock() + timeoutMs;
    this.#bootFailures = 0;
    for (;;) {
      if (this.#bootFailures >= MAX_BOOT_FAILURES) return this.#ended(this.#report.givenUp());
      this.#start();
      const status = await this.#status.ask();
      const settled = status.state === "ready" || status.state === "crash-looping";
      const { reason: why } = status;
      if (settled && why?.code === "config_invalid") {
        if (recoversConfig && (await state.recoverConfig(why))) continue;
        if ((await this.#isReplaced()) && (await state.leave())) {
          await this.stop();
          continue;
        }
      }
      if (settled) return this.#ended(status);
      if (clock() >= deadline) {
        // Without its state it is of no use: the next start tries again.
        if (state.restorer.reason !== undefined) await this.stop();
        return this.#ended(status);
      }
      const failed = !container().running && this.#bootFailures > 0;
      await pause(failed ? BOOT_RETRY_MS * this.#bootFailures : POLL_MS);
    }
  }

  /** Keeps how the start went. */
  #ended(status: SandboxStatus): SandboxStatus {
    const { notes, clock } = this.#options;
    notes.startEnds(
      status.state === "ready" ? "ready" : (status.reason?.code ?? "gateway_not_ready"),
      clock(),
    );
    return { ...status, ...notes.coldStart() };
  }

  /** Asks one of the container's servers; starts the container and waits for the port where it is stopped. */
  async request(port: SandboxPort, request: PortRequest): Promise<Response> {
    await this.#adopted;
    // Before the restore there is nothing to read or change but the processes. What was sent is never sent twice: a
    // question that may be asked again finds out that the port listens.
    if (port === "supervisor" && !request.path.startsWith(CONTROL_ROUTES.processes))
      await this.whenRestored();
    return this.#untilSent(port, request);
  }

  /**
   * Starts the container and waits until it has its data: what is changed before would be lost.
   *
   * @throws StewardError `restore_failed` where that takes too long.
   */
  async whenRestored(): Promise<void> {
    await this.#adopted;
    const { clock } = this.#options;
    const { restorer } = this.#options.state;
    const deadline = clock() + PORT_TIMEOUT_MS;
    const listening = await this.#untilSent("supervisor", { method: "GET", path: CONTROL_ROUTES.status });
    await listening.body?.cancel();
    while (!restorer.done) {
      if (!this.running || clock() >= deadline)
        throw new StewardError("restore_failed", restorer.reason?.detail);
      await pause(POLL_MS);
    }
  }

  /** Asks the gateway where it is ready, or the supervisor; starts nothing. `undefined` where no answer came. */
  async peek(request: PortRequest, port: SandboxPort = "gateway"): Promise<Response | undefined> {
    await this.#adopted;
    if (port === "gateway" && (await this.status()).state !== "ready") return undefined;
    if (!this.running) return undefined;
    // It may end between its status and this question.
    const timeoutMs = port === "gateway" ? PEEK_TIMEOUT_MS : PEEK_SUPERVISOR_MS;
    return this.#ports.send(port, request, timeoutMs).catch(() => undefined);
  }

  async #untilSent(port: SandboxPort, request: PortRequest): Promise<Response> {
    const deadline = this.#options.clock() + PORT_TIMEOUT_MS;
    for (;;) {
      this.#start();
      try {
        return await this.#ports.send(port, request, REQUEST_TIMEOUT_MS);
      } catch (error) {
        // A port that does not listen yet refuses at once, and only the supervisor's is worth the wait:
        // the gateway's readiness is known from its status.
        const retry = port === "supervisor" && request.method === "GET" && this.#options.clock() < deadline;
        if (!retry) throw error;
        await pause(POLL_MS);
      }
    }
  }

  /**
   * Lets the container outlive an evicted object until the next alarm creates the object again: a pending
   * monitor() keeps it for 15 minutes at most, and without this the platform ends the container with it
   * (https://developers.cloudflare.com/durable-objects/api/container/#setinactivitytimeout).
   */
  stay(): void {
    const { container, log } = this.#options;
    if (!this.running) return;
    container()
      .setInactivityTimeout(OUTLIVE_MS)
      .catch((error: unknown) => log.warn("the container ends with its object", { error: String(error) }));
  }

  #watch(): void {
    const { notes, clock, log } = this.#options;
    this.stay();
    const ended = (crash: string): void => {
      this.#end = undefined;
      this.#leaving = false;
      const restarts = this.#restarts + (crash === "" ? 0 : 1);
      // The next run's supervisor counts from zero.
      this.#restarts = 0;
      this.#status.forget();
      if (!this.#answered) this.#bootFailures += 1;
      notes.write("stoppedAt", String(clock()));
      notes.write("crash", crash);
      if (restarts > 0) notes.write("restarts", String(notes.restarts + restarts));
      log.info("container stopped", { crash });
      for (const listener of this.#listeners) listener.ended?.();
    };
    if (this.#end === undefined) this.#answered = false;
    this.#end ??= this.#untilEnded().then(ended);
  }

  /** Resolves with why the container has ended; empty where it was asked to. */
  async #untilEnded(): Promise<string> {
    const { container, log } = this.#options;
    for (;;) {
      const crash = await container()
        .monitor()
        .then(
          () => "",
          (error: unknown) => (error instanceof Error ? error.message : "The container ended."),
        );
      // The monitor may fail while the container runs: taken for its end, it would never be put to sleep.
      if (!this.running) return crash;
      log.warn("watching the container again", { cause: crash });
      await pause(WATCH_AGAIN_MS);
    }
  }
}
