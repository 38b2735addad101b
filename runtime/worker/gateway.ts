import { CONTROL_ROUTES, type SandboxStatus } from "../contract/control.ts";
import { StewardError } from "../contract/errors.ts";
import type { Clock, PortRequest, Sandbox, SandboxPort } from "../edge/ports.ts";
import type { RenewalOutcome } from "../edge/tenants/ports.ts";
import { pause } from "../shared/backoff.ts";
import { POLL_MS } from "./container-lifecycle.ts";
import { type ContainerMemory, LastUse } from "./container-memory.ts";
import type { ContainerPorts } from "./container-ports.ts";
import type { SandboxContainer } from "./container.ts";

const REQUEST_TIMEOUT_MS = 10 * 60_000;
const PEEK_TIMEOUT_MS = 2_000;
/** Timeout of a request to the supervisor, whose answer may require running a command. */
const PEEK_SUPERVISOR_MS = 10_000;
const PORT_TIMEOUT_MS = 60_000;

export interface ContainerGatewayOptions {
  container: SandboxContainer;
  ports: ContainerPorts;
  memory: ContainerMemory;
  /** Idle timeout in milliseconds; `Infinity` for `never`. */
  sleepAfterMs: number;
  /** Called when the gateway is ready after a background start. */
  onReady(): void;
  onUse(): void;
  /** Called after a request that may have changed the config file or other data, such as approvals. */
  onChange(): void;
  waitUntil(promise: Promise<unknown>): void;
  clock: Clock;
}

/** The gateway in the container. Starts the container on demand and tracks its use. */
export class ContainerGateway implements Sandbox {
  readonly #options: ContainerGatewayOptions;
  readonly #lastUse: LastUse;
  #requests = 0;

  constructor(options: ContainerGatewayOptions) {
    this.#options = options;
    this.#lastUse = new LastUse(options.memory, options.clock);
  }

  get sleeps(): boolean {
    return Number.isFinite(this.#options.sleepAfterMs);
  }

  /** End of the idle timeout in milliseconds since the epoch; `Infinity` if the container never sleeps. */
  get activityExpiresAt(): number {
    return this.#lastUse.at + this.#options.sleepAfterMs;
  }

  /** ISO 8601 time of the last use. */
  get usedAt(): string {
    return new Date(this.#lastUse.at).toISOString();
  }

  /** True while a request to the container is pending. The container is not put to sleep during a request. */
  get isAsked(): boolean {
    return this.#requests > 0;
  }

  /** Records activity, which postpones sleep. */
  renewActivityTimeout(): void {
    this.#lastUse.now();
    this.#options.onUse();
  }

  /** Starts the container in the background unless it is already running. Restarts the idle timeout. */
  start(): void {
    this.renewActivityTimeout();
    this.#options.waitUntil(this.#start());
  }

  async #start(): Promise<void> {
    const { state } = await this.#options.container.whenReady();
    if (state === "ready") this.#options.onReady();
    this.renewActivityTimeout();
  }

  /** Adds the restarts of earlier runs. */
  async status(): Promise<SandboxStatus> {
    const { container, memory } = this.#options;
    const status = await container.status();
    return { ...status, restarts: status.restarts + memory.restarts };
  }

  /**
   * Restarts the gateway, or starts a stopped container. If the config in the bucket was edited or deleted after the
   * container read it, backs up the container's data and restarts the container.
   *
   * @throws StewardError `backup_failed`, `gateway_unavailable` if the supervisor does not answer, `tenant_unknown`
   * for a chat that is not admitted.
   */
  async restart(): Promise<void> {
    const { container } = this.#options;
    await container.adopted;
    if (!container.running && !container.mayRun) throw new StewardError("tenant_unknown");
    if (container.running) await this.#restartRunning();
    this.start();
  }

  async #restartRunning(): Promise<void> {
    const { container } = this.#options;
    if (await container.isConfigReplaced()) {
      if (!(await container.backUp())) throw new StewardError("backup_failed");
      await container.stop();
      return;
    }
    const response = await this.request("supervisor", { method: "POST", path: CONTROL_ROUTES.restart });
    container.expireStatus();
    if (!response.ok) throw new StewardError("gateway_unavailable");
  }

  async lookAsDeployed(): Promise<RenewalOutcome> {
    const { state } = await this.status();
    if (state === "stopped") await this.wake("operator");
    if (this.#options.container.isOutdated) return "starts";
    if (state === "crash-looping") return "fails";
    return state === "ready" ? "answers" : "starts";
  }

  async wake(by: "visitor" | "operator"): Promise<boolean> {
    const { container, memory, clock, waitUntil } = this.#options;
    // Check the status instead of `running`: a container that is shutting down still runs but must be started again.
    const { state } = await this.status();
    if (state === "crash-looping" && by === "operator") waitUntil(container.whenReady());
    if (state !== "stopped") return true;
    if (!container.mayRun) return false;
    if (by === "visitor" && !memory.grantVisitor(clock())) return false;
    this.start();
    return true;
  }

  /**
   * Starts the container and waits until its data is restored. Call this before changing data: a restore overwrites
   * earlier changes.
   *
   * @throws StewardError `restore_failed` if the container ends or one minute passes.
   */
  async whenRestored(): Promise<void> {
    const { clock, container } = this.#options;
    await container.adopted;
    const deadline = clock() + PORT_TIMEOUT_MS;
    const listening = await this.#untilSent("supervisor", { method: "GET", path: CONTROL_ROUTES.status });
    await listening.body?.cancel();
    while (!container.restored) {
      if (!container.running || clock() >= deadline)
        throw new StewardError("restore_failed", container.restoreFailure?.detail);
      await pause(POLL_MS);
    }
  }

  /** Sends a request. Starts the container first if it is stopped. */
  async request(port: SandboxPort, request: PortRequest): Promise<Response> {
    this.#requests += 1;
    try {
      return await this.#request(port, request);
    } finally {
      this.#requests -= 1;
    }
  }

  async #request(port: SandboxPort, request: PortRequest): Promise<Response> {
    await this.#options.container.adopted;
    // All supervisor routes need the restored data, except the one that lists processes.
    const { method, path } = request;
    const needsData = port === "supervisor" && !path.startsWith(CONTROL_ROUTES.processes);
    if (needsData) await this.whenRestored();
    const response = await this.#untilSent(port, request, needsData);
    const changes = [CONTROL_ROUTES.configFile, CONTROL_ROUTES.operations].some((route) =>
      path.startsWith(route),
    );
    if (port === "supervisor" && method !== "GET" && changes && response.ok) this.#options.onChange();
    return response;
  }

  /**
   * Sends a request to a running container without ever starting it.
   *
   * @returns `undefined` if the gateway is not ready or does not answer.
   */
  async peek(request: PortRequest, port: SandboxPort = "gateway"): Promise<Response | undefined> {
    const { container, ports } = this.#options;
    await container.adopted;
    if (port === "gateway" && (await this.status()).state !== "ready") return undefined;
    if (!container.running) return undefined;
    const timeoutMs = port === "gateway" ? PEEK_TIMEOUT_MS : PEEK_SUPERVISOR_MS;
    // Ignore a failure: the container may have ended after its status was read.
    return ports.send(port, request, timeoutMs).catch(() => undefined);
  }

  async #untilSent(port: SandboxPort, request: PortRequest, needsData = false): Promise<Response> {
    const { container, ports, clock } = this.#options;
    await container.prepare();
    const deadline = clock() + PORT_TIMEOUT_MS;
    for (;;) {
      container.start();
      // Wait again: the restored container may have ended, and a new one has no data yet.
      if (needsData && !container.restored) {
        await this.whenRestored();
        continue;
      }
      try {
        return await ports.send(port, request, REQUEST_TIMEOUT_MS);
      } catch (error) {
        // Retry only the supervisor, which may not be listening yet.
        const retry = port === "supervisor" && request.method === "GET" && clock() < deadline;
        if (!retry) throw error;
        await pause(POLL_MS);
      }
    }
  }
}
