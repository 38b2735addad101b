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
/** Longer than the time from one alarm to the next while the container runs. */
const OUTLIVE_MS = 15 * 60_000;
/** Wait before the next last backup of an outdated container, after one that failed. */
const DRAIN_RETRY_MS = 5_000;
/** Longest wait for the end of an outdated container. */
const DRAINED_TIMEOUT_MS = 90_000;
const DRAINED_POLL_MS = 200;
/** Wait before an outdated container asks again if it may be replaced. */
const RENEW_AGAIN_MS = 10_000;

/** Dependencies of {@link SandboxContainer}. */
export interface SandboxContainerOptions {
  /** Read at each use: the platform hands out a new object each time. */
  platform(): Container;
  ports: Pick<ContainerPorts, "status" | "send">;
  memory: ContainerMemory;
  /** The gateway's variables. */
  environment: Record<string, string>;
  /** Gives the container its data, without which its gateway does not start, and backs it up before an end. */
  state: ContainerBackups;
  /** Keeps the end of the gateway's output, which is lost with the container. Never rejects. */
  keepLog(): Promise<unknown>;
  /** Replaces a config that stopped the gateway with the last good one. */
  recoversConfig: boolean;
  /** The platform has started the container. */
  onStart(): void;
  /** The container has ended. */
  onStop(): void;
  /** The platform does not start the container, because as many run as may. */
  onRefusal(): void;
  /** False for a chat that is not let in: nothing starts its container. */
  mayRun(): boolean;
  /** Puts into the bucket what a first start has to find there. */
  prepare(): Promise<void>;
  /** Resolves to false while other containers have to show first that this version answers. */
  mayRenew(): Promise<boolean>;
  clock: Clock;
  log: Log;
}

/** The container's run: carries out the effects of {@link advance}, and reports its events. */
export class SandboxContainer {
  /** Resolves when a container of another version or config has been found. */
  readonly adopted: Promise<void>;
  readonly #options: SandboxContainerOptions;
  #state = NO_RUN;
  /** The last status, and its time. */
  #known: { status: SandboxStatus; at: number } | undefined;
  #asked: Promise<SandboxStatus> | undefined;
  #fingerprint = "";
  /** The end of the run that is watched; a later run has its own. */
  #end: Promise<void> | undefined;
  #starting: Promise<SandboxStatus> | undefined;
  #preparing: Promise<void> | undefined;
  #prepareFailure: Reason | undefined;

  constructor(options: SandboxContainerOptions) {
    this.#options = options;
    const { memory, clock } = options;
    // The first object of a deployment counts as stopped from now on.
    if (memory.read("stoppedAt") === undefined) memory.write("stoppedAt", String(clock()));
    if (this.running) this.#advance({ type: "adopted" });
    this.adopted = this.#adopt();
  }

  /** True while the platform runs the container, ready or not. */
  get running(): boolean {
    return this.#options.platform().running;
  }

  /** False for a chat that is not let in. */
  get mayRun(): boolean {
    return this.#options.mayRun();
  }

  /** True if the container that runs was started with an earlier version's variables, or is being replaced. */
  get isOutdated(): boolean {
    const { draining } = this.#state;
    return this.running && (draining || this.#options.memory.read("environment") !== this.#fingerprint);
  }

  /** True while somebody waits for a start. */
  get starting(): boolean {
    return this.#starting !== undefined;
  }

  /** The status, from the supervisor if it answers. At most a second old; starts nothing. */
  async status(): Promise<SandboxStatus> {
    await this.adopted;
    if (!this.running) return stoppedStatus(this.#facts());
    if (this.#known && this.#options.clock() - this.#known.at < STATUS_FRESH_MS) return this.#known.status;
    this.#asked ??= this.#freshStatus().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  /** Drops the last status: the gateway is about to change. */
  expireStatus(): void {
    this.#known = undefined;
  }

  /** Starts the container, unless it runs. Throws if it may not run, or the platform refuses it. */
  start(): void {
    if (!this.#options.mayRun()) throw new StewardError("tenant_unknown");
    this.#advance({ type: "start", running: this.running });
  }

  /**
   * Waits until the container may be started. The calls that wait meanwhile share one attempt.
   *
   * @throws StewardError `restore_failed` if what it needs cannot be put into the bucket now.
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

  /** Starts the container and waits until the gateway is ready, cannot start, or two minutes are over. */
  async whenReady(): Promise<SandboxStatus> {
    const status = await this.status();
    if (status.state === "ready") return status;
    if (status.state === "crash-looping") await this.#tryNow();
    // Everyone who waits meanwhile waits for the same start.
    this.#starting ??= this.#untilSettled().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Makes the last backup before a stop. @returns true if the container may be stopped. */
  async backUp(): Promise<boolean> {
    const { state, keepLog } = this.#options;
    const [mayStop] = await Promise.all([state.makeFinalBackup(), keepLog()]);
    return mayStop;
  }

  /** Asks the container to stop and kills it if it does not. A run that starts meanwhile is left alone. */
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
   * Waits until an outdated container has ended, after its last backup.
   *
   * @throws StewardError `gateway_unavailable` after a minute and a half.
   */
  async whenDrained(): Promise<void> {
    const { clock } = this.#options;
    await this.adopted;
    const deadline = clock() + DRAINED_TIMEOUT_MS;
    while (this.isOutdated) {
      if (clock() >= deadline)
        throw new StewardError("gateway_unavailable", "The container of the version before still runs.");
      await pause(DRAINED_POLL_MS);
    }
  }

  /** True if the container has its data. */
  get restored(): boolean {
    return this.#options.state.restored;
  }

  /** Why the last restore failed; absent after a success. */
  get restoreFailure(): Reason | undefined {
    return this.#options.state.restoreFailure;
  }

  /** Returns true if the next start would take another config, because the cached one was replaced. */
  isConfigReplaced(): Promise<boolean> {
    return this.#options.state.isCacheReplaced();
  }

  /**
   * Lets the container outlive an evicted object until the next alarm creates the object again: a pending
   * monitor() keeps it for 15 minutes at most, and without this the platform ends the container with it
   * (https://developers.cloudflare.com/durable-objects/api/container/#setinactivitytimeout).
   */
  keepAlive(): void {
    if (!this.running) return;
    this.#options
      .platform()
      .setInactivityTimeout(OUTLIVE_MS)
      .catch((error: unknown) =>
        this.#options.log.warn("the container ends with its object", { error: String(error) }),
      );
  }

  /** Asks for the status, however recent the last one is. */
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

  /** The supervisor tries a crashed gateway at once; one that a broken config has stopped stays so. */
  async #tryNow(): Promise<void> {
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
      if (isGivenUp(this.#state)) return this.#settled(givenUpStatus(this.#facts()));
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
      return this.#settled(status);
    }
  }

  /** Records how a start ended. */
  #settled(status: SandboxStatus): SandboxStatus {
    const { memory, clock } = this.#options;
    const outcome = status.state === "ready" ? "ready" : (status.reason?.code ?? "gateway_not_ready");
    memory.startEnds(outcome, clock());
    return { ...status, ...memory.coldStart() };
  }

  /**
   * Gives the container another config in place of one that stopped its gateway.
   *
   * @returns false if there is no other one.
   */
  async #replaceConfig(why: Reason): Promise<boolean> {
    const { state, recoversConfig } = this.#options;
    if (recoversConfig && (await state.service.recoverConfig(why))) return true;
    if (!(await this.#hasOldConfig()) || !(await this.backUp())) return false;
    await this.stop();
    return true;
  }

  // A container outlives the Worker's version that started it and keeps its environment: with other variables, such as
  // a rotated secret, or another config in the bucket, it is ended, and the next use starts it again.
  async #adopt(): Promise<void> {
    const { environment, memory, log } = this.#options;
    this.#fingerprint = await sha256Hex(JSON.stringify(environment));
    if (!this.running) return;
    const isSame = memory.read("environment") === this.#fingerprint;
    if (isSame && !(await this.#hasOldConfig())) {
      // The former object may have been lost during the restore, and nothing else was waiting for the gateway.
      if (this.running && this.mayRun) this.start();
      return;
    }
    log.info(isSame ? "the cached config was replaced" : "the container's environment is outdated");
    // Not awaited: meanwhile the gateway reports that it is stopping, and its users wait for the next start.
    void this.#drainInTurn().catch((error: unknown) =>
      log.error("the container does not stop", { error: String(error) }),
    );
  }

  /** Returns true if the config was replaced; false too if the bucket does not answer. */
  async #hasOldConfig(): Promise<boolean> {
    return this.isConfigReplaced().catch((error: unknown) => {
      this.#options.log.warn("the cached config could not be looked up", { error: String(error) });
      return false;
    });
  }

  /** Lets the container serve until it may be replaced. */
  async #drainInTurn(): Promise<void> {
    const { mayRenew } = this.#options;
    const outdated = this.#end;
    while (!(await mayRenew().catch(() => false))) {
      await pause(RENEW_AGAIN_MS);
      if (this.#end !== outdated) return;
    }
    await this.#drain();
  }

  // After a last backup that fails, the container serves until the next attempt.
  async #drain(): Promise<void> {
    const outdated = this.#end;
    while (this.#end === outdated) {
      this.#advance({ type: "drain" });
      if (!this.running || (await this.backUp())) break;
      this.#advance({ type: "drainFailed" });
      await pause(DRAIN_RETRY_MS);
    }
    // The next run is not outdated.
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

  /** Resolves with why the container has ended; empty if the end was requested. */
  async #untilEnded(): Promise<string> {
    const { platform, log } = this.#options;
    for (;;) {
      const crash = await platform()
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
