import type { Container } from "@cloudflare/workers-types/index.ts";
import type { ContainerBackups } from "../backups/container-backups.ts";
import { withErrorCode } from "../backups/remote-state.ts";
import { CONTROL_ROUTES, CONTROL_TOKEN_VARIABLE, type SandboxStatus } from "../contract/control.ts";
import { sha256Hex } from "../contract/digest.ts";
import { reason, type Reason, StewardError } from "../contract/errors.ts";
import { withPasses } from "../contract/services.ts";
import type { Clock, PortRequest } from "../edge/ports.ts";
import type { Log } from "../shared/log.ts";
import { pause } from "../shared/backoff.ts";
import {
  advance,
  afterStatus,
  type ContainerEffect,
  type ContainerEvent,
  type ContainerFacts,
  givenUpStatus,
  isGivenUp,
  NO_RUN,
  runningStatus,
  stoppedStatus,
} from "./container-lifecycle.ts";
import type { ContainerMemory } from "./container-memory.ts";
import type { ContainerPorts } from "./container-ports.ts";

const STATUS_FRESH_MS = 1_000;
const READY_TIMEOUT_MS = 120_000;
const NEEDED_TIMEOUT_MS = 2_000;
const STOP_GRACE_MS = 15_000;
const WATCH_AGAIN_MS = 1_000;
const SIGTERM = 15;
/**
 * Time, in milliseconds, that a container keeps running after its Durable Object was evicted. Must exceed the
 * interval between the object's alarms while the container runs.
 */
const OUTLIVE_MS = 15 * 60_000;
const DRAIN_RETRY_MS = 5_000;
const DRAINED_TIMEOUT_MS = 90_000;
const DRAINED_POLL_MS = 200;
/** Interval, in milliseconds, at which an outdated container asks whether it may be replaced. */
const RENEW_AGAIN_MS = 10_000;

export interface SandboxContainerOptions {
  /** Returns the platform's container, each time as a new object. Do not keep the object. */
  platform(): Container;
  ports: Pick<ContainerPorts, "status" | "send">;
  memory: ContainerMemory;
  environment: Record<string, string>;
  state: ContainerBackups;
  /** Saves the tail of the gateway's output, which would be lost with the container. Never rejects. */
  keepLog(): Promise<unknown>;
  /** True to restore the last good config if the current one prevents the gateway's start. */
  recoversConfig: boolean;
  onStart(): void;
  onStop(): void;
  /** Called when the instance limit is reached. */
  onRefusal(): void;
  /** False for a chat that is not admitted. */
  mayRun(): boolean;
  /** Copies into the bucket the data that the container's first start needs. */
  prepare(): Promise<void>;
  /**
   * Resolves to true if this container may restart on the new version, and to false while that version is still being
   * tested in other containers.
   */
  mayRenew(): Promise<boolean>;
  clock: Clock;
  log: Log;
}

/** Manages the container's lifecycle: passes events to {@link advance} and carries out the resulting effects. */
export class SandboxContainer {
  /** Resolves when it is known whether the running container is outdated. */
  readonly adopted: Promise<void>;
  readonly #options: SandboxContainerOptions;
  #state = NO_RUN;
  #known: { status: SandboxStatus; at: number } | undefined;
  #asked: Promise<SandboxStatus> | undefined;
  #fingerprint = "";
  /** Resolves when the current run ends. Also identifies the run, because each run has its own promise. */
  #end: Promise<void> | undefined;
  #starting: Promise<SandboxStatus> | undefined;
  #preparing: Promise<void> | undefined;
  #prepareFailure: Reason | undefined;

  constructor(options: SandboxContainerOptions) {
    this.#options = options;
    const { memory, clock } = options;
    // Without a stored time, the object is new: store the current time as the container's stop time.
    if (memory.read("stoppedAt") === undefined) memory.write("stoppedAt", String(clock()));
    if (this.running) this.#advance({ type: "adopted" });
    this.adopted = this.#adopt();
  }

  get running(): boolean {
    return this.#options.platform().running;
  }

  get mayRun(): boolean {
    return this.#options.mayRun();
  }

  /** True if the running container has an earlier version's variables or is being replaced. */
  get isOutdated(): boolean {
    const { draining } = this.#state;
    return this.running && (draining || this.#options.memory.read("environment") !== this.#fingerprint);
  }

  get starting(): boolean {
    return this.#starting !== undefined;
  }

  /** Returns the status, at most one second old, without starting the container. */
  async status(): Promise<SandboxStatus> {
    await this.adopted;
    if (!this.running) return stoppedStatus(this.#facts());
    if (this.#known && this.#options.clock() - this.#known.at < STATUS_FRESH_MS) return this.#known.status;
    this.#asked ??= this.#freshStatus().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  expireStatus(): void {
    this.#known = undefined;
  }

  /** @throws StewardError `tenant_unknown` if the chat is not admitted. */
  start(): void {
    if (!this.#options.mayRun()) throw new StewardError("tenant_unknown");
    this.#advance({ type: "start", running: this.running });
  }

  /**
   * Prepares the bucket for the container's start, unless the container is already running or the chat is not
   * admitted. Concurrent callers share one attempt.
   *
   * @throws StewardError `restore_failed` if the preparation fails.
   */
  async prepare(): Promise<void> {
    const { prepare, mayRun, log } = this.#options;
    if (this.running || !mayRun()) return;
    this.#preparing ??= prepare().finally(() => {
      this.#preparing = undefined;
    });
    try {
      await this.#preparing;
      this.#prepareFailure = undefined;
    } catch (error) {
      const { message } = withErrorCode(error, "restore_failed");
      this.#prepareFailure = reason("restore_failed", message);
      log.error("the container cannot be started yet", { error: message });
      throw new StewardError("restore_failed", message);
    }
  }

  /** Starts the container. Resolves when the gateway is ready or cannot start, or after two minutes. */
  async whenReady(): Promise<SandboxStatus> {
    const status = await this.status();
    if (status.state === "ready") return status;
    if (status.state === "crash-looping") await this.#retryGateway();
    this.#starting ??= this.#untilSettled().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /**
   * Makes the final backup and saves the log.
   *
   * @returns true if the container may be stopped
   */
  async backUp(): Promise<boolean> {
    const { state, keepLog } = this.#options;
    const [mayStop] = await Promise.all([state.makeFinalBackup(), keepLog()]);
    return mayStop;
  }

  /** Sends SIGTERM. After a grace period, destroys the container unless this run has ended. */
  async stop(): Promise<void> {
    const { platform, log } = this.#options;
    const end = this.#end;
    if (end === undefined || !this.running) return;
    log.info("container is being stopped");
    platform().signal(SIGTERM);
    await Promise.race([end, pause(STOP_GRACE_MS)]);
    if (this.#end === end) await platform().destroy();
  }

  /**
   * Waits for an outdated container to end after its final backup.
   *
   * @throws StewardError `gateway_unavailable` after 90 seconds.
   */
  async whenDrained(): Promise<void> {
    const { clock } = this.#options;
    await this.adopted;
    const deadline = clock() + DRAINED_TIMEOUT_MS;
    while (this.isOutdated) {
      if (clock() >= deadline)
        throw new StewardError(
          "gateway_unavailable",
          "The container of the previous version is still running.",
        );
      await pause(DRAINED_POLL_MS);
    }
  }

  get restored(): boolean {
    return this.#options.state.restored;
  }

  get restoreFailure(): Reason | undefined {
    return this.#options.state.restoreFailure;
  }

  isConfigReplaced(): Promise<boolean> {
    return this.#options.state.isCacheReplaced();
  }

  /**
   * Keeps the container running if its object is evicted, until an alarm recreates the object. By default, both end
   * together (https://developers.cloudflare.com/durable-objects/api/container/#setinactivitytimeout).
   */
  keepAlive(): void {
    if (!this.running) return;
    this.#options
      .platform()
      .setInactivityTimeout(OUTLIVE_MS)
      .catch((error: unknown) =>
        this.#options.log.warn("the container will end with its object", { error: String(error) }),
      );
  }

  async #freshStatus(): Promise<SandboxStatus> {
    const { ports, clock } = this.#options;
    const reported = await ports.status();
    if (reported !== undefined) this.#advance({ type: "answered", restarts: reported.restarts });
    const status = runningStatus(this.#state, reported, this.#facts());
    this.#known = { status, at: clock() };
    return status;
  }

  #facts(): ContainerFacts {
    const { restored, restoreFailure = this.#prepareFailure } = this;
    return { ...this.#options.memory.facts(), restored, restoreFailure };
  }

  /** Asks the supervisor to retry a crashed gateway immediately. An invalid config still keeps the gateway stopped. */
  async #retryGateway(): Promise<void> {
    const needed: PortRequest = { method: "POST", path: CONTROL_ROUTES.needed };
    await this.#options.ports.send("supervisor", needed, NEEDED_TIMEOUT_MS).catch(() => undefined);
    this.expireStatus();
  }

  async #untilSettled(): Promise<SandboxStatus> {
    const { clock } = this.#options;
    const failed = await this.prepare().then(
      () => false,
      () => true,
    );
    if (failed) return stoppedStatus(this.#facts());
    const deadline = clock() + READY_TIMEOUT_MS;
    this.#advance({ type: "needed" });
    for (;;) {
      if (isGivenUp(this.#state)) return this.#finishStart(givenUpStatus(this.#facts()));
      this.start();
      const status = await this.#freshStatus();
      const { running, restoreFailure } = this;
      const context = { now: clock(), deadline, running, restoreFailed: restoreFailure !== undefined };
      const next = afterStatus(this.#state, status, context);
      if (next.type === "wait") {
        await pause(next.ms);
        continue;
      }
      if (next.type === "replaceConfig" && (await this.#replaceConfig(next.why))) continue;
      if (next.type === "expire" && next.stop) await this.stop();
      return this.#finishStart(status);
    }
  }

  #finishStart(status: SandboxStatus): SandboxStatus {
    const { memory, clock } = this.#options;
    const outcome = status.state === "ready" ? "ready" : (status.reason?.code ?? "gateway_not_ready");
    memory.startEnds(outcome, clock());
    return { ...status, ...memory.coldStart() };
  }

  /**
   * Replaces a config that prevented the gateway's start.
   *
   * @returns false if no other config is available
   */
  async #replaceConfig(why: Reason): Promise<boolean> {
    const { state, recoversConfig } = this.#options;
    if (recoversConfig && (await state.service.recoverConfig(why))) return true;
    if (!(await this.#hasOldConfig()) || !(await this.backUp())) return false;
    await this.stop();
    return true;
  }

  // A container outlives the Worker version that started it and keeps that version's environment. End the container
  // if a variable or the cached config has changed.
  async #adopt(): Promise<void> {
    const { environment, memory, log } = this.#options;
    this.#fingerprint = await sha256Hex(JSON.stringify(environment));
    if (!this.running) return;
    const isSame = memory.read("environment") === this.#fingerprint;
    if (isSame && !(await this.#hasOldConfig())) {
      // Start again, to resume a restore that the previous object may have left unfinished.
      if (this.running && this.mayRun) this.start();
      return;
    }
    log.info(isSame ? "the cached config was replaced" : "the container's environment is outdated");
    // Do not wait for the container to stop. Once it begins to stop, the status shows no ready gateway, so callers
    // wait until the gateway has started again.
    void this.#drainInTurn().catch((error: unknown) =>
      log.error("the container does not stop", { error: String(error) }),
    );
  }

  /**
   * Returns true if the container's config was replaced or deleted in the bucket. A bucket that does not answer
   * counts as unchanged.
   */
  async #hasOldConfig(): Promise<boolean> {
    return this.isConfigReplaced().catch((error: unknown) => {
      this.#options.log.warn("the cached config could not be read", { error: String(error) });
      return false;
    });
  }

  /** Drains the outdated container once it may be replaced. Until then, it keeps serving. */
  async #drainInTurn(): Promise<void> {
    const { mayRenew } = this.#options;
    const outdated = this.#end;
    while (!(await mayRenew().catch(() => false))) {
      await pause(RENEW_AGAIN_MS);
      if (this.#end !== outdated) return;
    }
    await this.#drain();
  }

  // If the final backup fails, the container keeps serving until the retry.
  async #drain(): Promise<void> {
    const outdated = this.#end;
    while (this.#end === outdated) {
      this.#advance({ type: "drain" });
      if (!this.running || (await this.backUp())) break;
      this.#advance({ type: "drainFailed" });
      await pause(DRAIN_RETRY_MS);
    }
    // Do not stop a new run that has started in the meantime.
    if (this.#end === outdated) await this.stop();
  }

  #advance(event: ContainerEvent): void {
    const { state, effects } = advance(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: ContainerEffect): void {
    const { memory, state, onStart, onStop, onRefusal, clock, log } = this.#options;
    switch (effect.type) {
      case "launch":
        this.#launch();
        break;
      case "watch":
        this.keepAlive();
        this.#end = this.#untilEnded().then((crash) => this.#advance({ type: "ended", crash }));
        break;
      case "restore":
        state.beginRestore();
        break;
      case "onRefusal":
        onRefusal();
        break;
      case "onStart":
        onStart();
        log.info("container started");
        break;
      case "onStop":
        this.#end = undefined;
        this.expireStatus();
        memory.runEnds(effect, clock());
        log.info("container stopped", { crash: effect.crash });
        onStop();
    }
  }

  #launch(): void {
    const { platform, environment, memory, state, clock } = this.#options;
    state.started();
    const { token, brokerToken } = memory.startBegins(this.#fingerprint, clock());
    this.expireStatus();
    platform().start({
      enableInternet: true,
      env: { ...withPasses(environment, brokerToken), [CONTROL_TOKEN_VARIABLE]: token },
    });
    this.#advance({ type: "launched" });
  }

  /** Waits until the run has ended. Resolves with the cause; empty if the end was requested. */
  async #untilEnded(): Promise<string> {
    const { platform, log } = this.#options;
    for (;;) {
      const crash = await platform()
        .monitor()
        .then(
          () => "",
          (error: unknown) => (error instanceof Error ? error.message : "The container ended."),
        );
      // If the monitor fails while the container runs, watch the container again. An unwatched container would count
      // as ended and never be put to sleep.
      if (!this.running) return crash;
      log.warn("watching the container again", { cause: crash });
      await pause(WATCH_AGAIN_MS);
    }
  }
}
