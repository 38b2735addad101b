import { join } from "node:path";
import type { ContainerConfig, ProcessList, SandboxStatus } from "../contract/control.ts";
import type { Environment } from "../contract/environment.ts";
import { type ErrorCode, reason, type Reason } from "../contract/errors.ts";
import type { Log } from "../shared/log.ts";
import { CONFIG_FILE } from "../contract/names.ts";
import { fileVersion } from "../process/files.ts";
import { problem, problemResponse } from "../contract/problem.ts";
import { createRedactor } from "../shared/redact.ts";
import type { DiskStore } from "../backups/stores/disk.ts";
import { startChild, type Child, type ProcessUser } from "./child.ts";
import type { ConfigEditor } from "./config-edit.ts";
import { showConfig, watchConfig } from "./config-file.ts";
import {
  DEFAULT_LIVENESS,
  type Exit,
  type LivenessPolicy,
  readFailure,
  type GatewayRun,
  startGatewayRun,
} from "./run.ts";
import { gatewayEnvironment } from "./gateway-command.ts";
import {
  advance,
  coldStartMs,
  DEFAULT_POLICY,
  initialLifecycle,
  type BackoffPolicy,
  type LifecycleEvent,
} from "./lifecycle.ts";
import { countOomKills } from "./memory.ts";
import { createOperations, type RunOperation } from "./operations.ts";
import { Output } from "./output.ts";
import { StartHistory } from "./history.ts";
import { processList, sandboxStatus } from "./report.ts";
import { systemTimers, type Timers } from "./timers.ts";
import { VolumeWatch } from "./volume.ts";

/** Times are in milliseconds. */
export interface SupervisorOptions {
  command: readonly [string, ...string[]];
  cli: readonly [string, ...string[]];
  /** Base of the gateway's environment. The supervisor adds `home`, `gatewayPort` and `controlToken`. */
  environment: Environment;
  /** Running gateway process that was started with `command` and `environment`. */
  started?: StartedGateway;
  /** The data directory. */
  home: string;
  /** Operating-system user that runs the gateway and commands. Default: this process's user. */
  user?: ProcessUser | undefined;
  /** Config file that commands edit. Default: the one in the data directory. */
  configPath?: string;
  /**
   * Directory of the logs. Default: `logs/` in the data directory. If this option is set, the supervisor omits its
   * regular check that the disk is writable.
   */
  logs?: string;
  gatewayPort: number;
  controlToken: string;
  bundle?: string;
  log: Log;
  /** Receives every redacted line of the gateway's output, without its line feed. */
  onOutput?(line: string): void;
  /** Size limit of `logs/gateway.log` before rotation, in bytes. Default 5 MiB. */
  logLimitBytes?: number;
  /** Timeout of a start. Default 120 s. */
  startTimeoutMs?: number;
  liveness?: LivenessPolicy;
  /** Returns the reason if the ledger cannot be written. Set only on a host, where this process owns the ledger. */
  ledgerProblem?(): Reason | undefined;
  /** Grace period before a stop is forced. Default 9 s. */
  stopGraceMs?: number;
  /**
   * Milliseconds from the process's start to the supervisor's creation. Included in the first cold start's duration.
   * Default: 0.
   */
  bootMs?: number;
  policy?: BackoffPolicy;
  timers?: Timers;
  /** From 0 up to 1. */
  random?(): number;
}

export interface StartedGateway {
  child: Child;
  /** Version of the config file before the start. */
  configVersion: string;
}

export interface Supervisor {
  /**
   * Starts the gateway, even after `crash-looping`, unless it is already running or `hold` prevents it. Returns
   * immediately.
   */
  start(): void;
  /** Ends the gateway and its descendants: SIGTERM, then SIGKILL after the grace period. */
  stop(): Promise<void>;
  /** Restarts the gateway, even after `crash-looping`, unless `hold` prevents it. Returns immediately. */
  restart(): void;
  /** Retries a crashed gateway at once, unless a retry cannot help. Returns immediately. */
  needed(): void;
  /** Stops the gateway until `release`, and shows the reason in the status. `stop` also ends the hold. */
  hold(why: Reason): Promise<void>;
  /** Checks in the background whether the data directory is writable. Call this method after a failed write. */
  checkVolume(): void;
  release(): void;
  status(): SandboxStatus;
  /** If `logs` is true, includes the log after the line `after`, an earlier list's `nextLog`. */
  processes(options?: { logs?: boolean; after?: number | undefined }): ProcessList;
  config(): Promise<ContainerConfig>;
  /**
   * Returns the backups of the state, loaded on first use.
   *
   * @param backupDirectory Default: `backups/` in the data directory.
   */
  backups(backupDirectory?: string): Promise<DiskStore>;
  editConfig(): Promise<ConfigEditor>;
  operate: RunOperation;
  /**
   * Sends a request to the gateway, with the control token added. Returns a problem document with status 503 if the
   * gateway is down.
   */
  fetchGateway(path: string, init?: RequestInit): Promise<Response>;
  /** Resolves with the status when the gateway is no longer starting, or after `timeoutMs`. */
  whenSettled(timeoutMs: number): Promise<SandboxStatus>;
  /** Calls `listener` after every status change. Returns a function that removes the listener. */
  onChange(listener: (status: SandboxStatus) => void): () => void;
}

const DEFAULT_LOG_LIMIT = 5 * 1024 * 1024;
const DEFAULT_START_TIMEOUT_MS = 120_000;
const DEFAULT_STOP_GRACE_MS = 9_000;
const HOST = "127.0.0.1";

/** Creates a supervisor. Nothing runs before `start`. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { home, gatewayPort, controlToken, log, timers = systemTimers, random = Math.random } = options;
  const { policy = DEFAULT_POLICY, stopGraceMs = DEFAULT_STOP_GRACE_MS, bundle } = options;
  const environment = gatewayEnvironment(options);
  const redact = createRedactor(environment);
  const { user, configPath = join(home, CONFIG_FILE), logs = join(home, "logs") } = options;
  const listeners = new Set<(status: SandboxStatus) => void>();
  const output = new Output({
    file: join(logs, "gateway.log"),
    limitBytes: options.logLimitBytes ?? DEFAULT_LOG_LIMIT,
    redact,
    firstNumber: timers.now(),
    onLine: (line) => options.onOutput?.(line),
    onFileError: (error) => log.warn("the gateway's log file cannot be written", { error: String(error) }),
  });
  const history = new StartHistory(logs, log);
  let lifecycle = initialLifecycle(timers.now());
  let version: string | undefined;
  let run: GatewayRun | undefined;
  /** Resolves when the previous run has ended and freed the port. */
  let dying: Promise<void> | undefined;
  /** Cancels the next retry or the watch on the config file. */
  let cancelWait: (() => void) | undefined;
  let bootMs = options.bootMs ?? 0;
  let started = options.started;
  let configVersion = "";
  let killsBefore = 0;

  const volume = new VolumeWatch(home, {
    timers,
    ledgerProblem: options.ledgerProblem,
    onChange: () => {
      if (volume.reason !== undefined)
        log.error("the data directory or the ledger cannot be written", { ...volume.reason });
      else log.info("the data directory and the ledger can be written again");
      changed();
    },
  });
  const status = (): SandboxStatus => ({
    ...sandboxStatus(lifecycle, {
      version,
      bundle,
      bootMs,
      coldStarts: history.coldStarts,
      earlierRestarts: history.earlierRestarts,
    }),
    ...(volume.reason && { volume: volume.reason }),
    ...(run?.isSilent && { silent: reason("gateway_not_ready", "The gateway's port does not answer.") }),
  });
  const changed = (): void => {
    for (const listener of listeners) listener(status());
  };

  const happened = (event: LifecycleEvent, now = timers.now()): void => {
    const before = lifecycle;
    const { state, effect } = advance(before, event, { now, random: random(), policy });
    if (state === before) return;
    lifecycle = state;
    cancelWait?.();
    cancelWait = undefined;
    if (effect.type === "wait") cancelWait = timers.after(effect.ms, () => happened({ type: "retry" }));
    if (effect.type === "spawn") void (dying === undefined ? launch() : dying.finally(launch));
    if (state.phase === "crash-looping" && state.reason?.code === "config_invalid") {
      cancelWait = watchConfig(configPath, configVersion, timers, () => happened({ type: "start" }));
    }
    changed();
  };

  /** Records the outcome of a start, unless the gateway has already become ready. */
  const keepStart = (ended: "ready" | ErrorCode, now: number): void => {
    if (lifecycle.phase !== "starting") return;
    const ms = coldStartMs(lifecycle, { bootMs }, now);
    history.add({ at: new Date(now - ms).toISOString(), ms, ended });
  };
  const ready = (found: string | undefined): void => {
    version = found;
    const now = timers.now();
    keepStart("ready", now);
    happened({ type: "ready", bootMs }, now);
    history.note(lifecycle.restarts, false);
    if (options.logs === undefined) volume.start();
    bootMs = 0;
    log.info("gateway is ready", { pid: run?.pid, coldStartMs: lifecycle.coldStartMs });
  };
  const ended = (exit: Exit): void => {
    run = undefined;
    const now = timers.now();
    const failure = readFailure({ ...exit, outOfMemory: countOomKills() > killsBefore });
    keepStart(failure.reason.code, now);
    log.error("gateway ended", { exitCode: exit.code, signal: exit.signal, ...failure.reason });
    happened({ type: "crashed", exitCode: exit.code, ...failure }, now);
  };
  const launch = (): void => {
    // Somebody may have stopped the gateway or started another run since.
    if (run !== undefined || lifecycle.phase !== "starting") return;
    configVersion = started?.configVersion ?? fileVersion(configPath);
    const child = started?.child ?? startChild({ command: options.command, environment, user });
    started = undefined;
    killsBefore = countOomKills();
    run = startGatewayRun({
      child,
      host: HOST,
      port: gatewayPort,
      user: user?.id,
      startTimeoutMs: options.startTimeoutMs ?? DEFAULT_START_TIMEOUT_MS,
      liveness: options.liveness ?? DEFAULT_LIVENESS,
      timers,
      output,
      onReady: ready,
      onSilent: (isSilent) => {
        log.warn(isSilent ? "the gateway does not answer" : "the gateway answers again", { pid: run?.pid });
        changed();
      },
      onEnd: ended,
    });
    happened({ type: "launched" });
  };
  const retire = (): void => {
    if (run === undefined) return;
    const end = run.stop(stopGraceMs).finally(() => {
      if (dying === end) dying = undefined;
    });
    dying = end;
    run = undefined;
  };
  const onChange = (listener: (status: SandboxStatus) => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  const holder = {
    hold: async (why: Reason): Promise<void> => {
      retire();
      happened({ type: "hold", reason: why });
      await dying;
    },
    release: () => happened({ type: "release" }),
    stop: async (): Promise<void> => {
      retire();
      volume.stop();
      happened({ type: "stop" });
      await dying;
      // Wait until the history is written, because the process may end afterwards.
      history.note(lifecycle.restarts, true);
      await history.written();
    },
  };
  // Loaded on demand, because the schema is large.
  const editConfig = async (): Promise<ConfigEditor> =>
    (await import("./config-edit.ts")).configEditor({ path: configPath, environment, clock: timers.now });
  let backups: Promise<DiskStore> | undefined;
  const openBackups = async (backupDirectory?: string): Promise<DiskStore> => {
    const { DiskStore } = await import("../backups/stores/disk.ts");
    const clock = (): number => timers.now();
    return new DiskStore({
      home,
      backupDirectory,
      supervisor: holder,
      editConfig,
      environment,
      redact,
      clock,
      log,
    });
  };

  return {
    start: () => happened({ type: "start" }),
    ...holder,
    restart: () => {
      retire();
      happened({ type: "restart" });
    },
    needed: () => happened({ type: "needed" }),
    checkVolume: () => volume.check(),
    status,
    processes: ({ logs = false, after } = {}) =>
      processList(
        lifecycle,
        run?.pid ?? null,
        logs ? { logs: output.tail(after), nextLog: output.next } : undefined,
      ),
    backups: (backupDirectory) =>
      backupDirectory === undefined ? (backups ??= openBackups()) : openBackups(backupDirectory),
    config: () => showConfig(configPath, environment, redact),
    editConfig,
    operate: createOperations({ cli: options.cli, environment, configPath, user, timers }),
    fetchGateway: async (path, init = {}) => {
      const { phase, reason } = lifecycle;
      if (phase !== "ready") return problemResponse(problem("gateway_unavailable", reason?.detail));
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${controlToken}`);
      try {
        return await fetch(`http://${HOST}:${gatewayPort}${path}`, { ...init, headers });
      } catch {
        return problemResponse(problem("gateway_unavailable", "The gateway did not answer."));
      }
    },
    whenSettled: (timeoutMs) =>
      new Promise((resolve) => {
        if (status().state !== "starting") return resolve(status());
        const settle = (): void => {
          stopListening();
          stopWaiting();
          resolve(status());
        };
        const stopWaiting = timers.after(timeoutMs, settle);
        const stopListening = onChange(({ state }) => state !== "starting" && settle());
      }),
    onChange,
  };
}
