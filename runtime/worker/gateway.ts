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
/** The supervisor may run a command for its answer. */
const PEEK_SUPERVISOR_MS = 10_000;
const PORT_TIMEOUT_MS = 60_000;

/** Dependencies of {@link ContainerGateway}. */
export interface ContainerGatewayOptions {
  container: SandboxContainer;
  ports: ContainerPorts;
  memory: ContainerMemory;
  /** Milliseconds without use after which the container sleeps; `Infinity` for `never`. */
  sleepAfterMs: number;
  /** A start in the background has ended with a gateway that is ready. */
  onReady(): void;
  /** The container is in use. */
  onUse(): void;
  /** An operator may have changed the config file or other state, such as who has access. */
  onChange(): void;
  /** Keeps the object until a start in the background is over. */
  waitUntil(promise: Promise<unknown>): void;
  clock: Clock;
}

/** The gateway in the container: starts the container for those who need it, and counts who uses it. */
export class ContainerGateway implements Sandbox {
  readonly #options: ContainerGatewayOptions;
  readonly #lastUse: LastUse;
  #requests = 0;

  constructor(options: ContainerGatewayOptions) {
    this.#options = options;
    this.#lastUse = new LastUse(options.memory, options.clock);
  }

  /** False for a container that must always run. */
  get sleeps(): boolean {
    return Number.isFinite(this.#options.sleepAfterMs);
  }

  /** Time at which the container may sleep, in milliseconds since the epoch; `Infinity` if it never does. */
  get activityExpiresAt(): number {
    return this.#lastUse.at + this.#options.sleepAfterMs;
  }

  /** Time of the last use, ISO 8601. */
  get usedAt(): string {
    return new Date(this.#lastUse.at).toISOString();
  }

  /** True while a request waits for the container's answer. It may have started the container, and is no use before. */
  get isAsked(): boolean {
    return this.#requests > 0;
  }

  /** Records activity, which postpones sleep. */
  renewActivityTimeout(): void {
    this.#lastUse.now();
    this.#options.onUse();
  }

  /** Starts the container in the background, unless it runs. Counts as activity. */
  start(): void {
    this.renewActivityTimeout();
    this.#options.waitUntil(this.#start());
  }

  async #start(): Promise<void> {
    const { state } = await this.#options.container.whenReady();
    if (state === "ready") this.#options.onReady();
    this.renewActivityTimeout();
  }

  /** See {@link Sandbox}. */
  async status(): Promise<SandboxStatus> {
    const { container, memory } = this.#options;
    const status = await container.status();
    return { ...status, restarts: status.restarts + memory.restarts };
  }

  /**
   * Restarts the gateway; starts a stopped container. If the cached config was replaced, the container is ended after a
   * backup of its state: its next start takes that config.
   *
   * @throws StewardError `backup_failed` if that backup fails, `gateway_unavailable` if the supervisor does not answer,
   * `tenant_unknown` for a chat that was not let in.
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

  /** Starts a container that sleeps, and returns whether its gateway answers with this version's variables. */
  async lookAsDeployed(): Promise<RenewalOutcome> {
    const { state } = await this.status();
    if (state === "stopped") await this.wake("operator");
    if (this.#options.container.isOutdated) return "starts";
    if (state === "crash-looping") return "fails";
    return state === "ready" ? "answers" : "starts";
  }

  /** See {@link Sandbox}. */
  async wake(by: "visitor" | "operator"): Promise<boolean> {
    const { container, memory, clock, waitUntil } = this.#options;
    // A container that is shutting down still runs, while its supervisor already reports "stopped".
    const { state } = await this.status();
    if (state === "crash-looping" && by === "operator") waitUntil(container.whenReady());
    if (state !== "stopped") return true;
    if (!container.mayRun) return false;
    if (by === "visitor" && !memory.grantVisitor(clock())) return false;
    this.start();
    return true;
  }

  /**
   * Starts the container and waits until it has its data: a change made before would be lost.
   *
   * @throws StewardError `restore_failed` if that takes too long.
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

  /** Sends a request to one of the container's servers; starts a stopped container and waits for the port. */
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
    // Before the restore there is nothing to read or change but the processes. A request is never sent twice: only a
    // question that may be repeated finds out that the port listens.
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
   * Sends a request to the gateway if it is ready, or to the supervisor if the container runs. Starts nothing.
   *
   * @returns `undefined` if no answer came.
   */
  async peek(request: PortRequest, port: SandboxPort = "gateway"): Promise<Response | undefined> {
    const { container, ports } = this.#options;
    await container.adopted;
    if (port === "gateway" && (await this.status()).state !== "ready") return undefined;
    if (!container.running) return undefined;
    // The container may end between its status and this request.
    const timeoutMs = port === "gateway" ? PEEK_TIMEOUT_MS : PEEK_SUPERVISOR_MS;
    return ports.send(port, request, timeoutMs).catch(() => undefined);
  }

  async #untilSent(port: SandboxPort, request: PortRequest, needsData = false): Promise<Response> {
    const { container, ports, clock } = this.#options;
    await container.prepare();
    const deadline = clock() + PORT_TIMEOUT_MS;
    for (;;) {
      container.start();
      // The container that had its data may have ended meanwhile, and this one has none yet.
      if (needsData && !container.restored) {
        await this.whenRestored();
        continue;
      }
      try {
        return await ports.send(port, request, REQUEST_TIMEOUT_MS);
      } catch (error) {
        // A port that does not listen yet refuses at once, and only the supervisor's is worth the wait:
        // the gateway's readiness is known from its status.
        const retry = port === "supervisor" && request.method === "GET" && clock() < deadline;
        if (!retry) throw error;
        await pause(POLL_MS);
      }
    }
  }
}
