import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { PORTS } from "../../../runtime/contract/names.ts";
import { forward, forwardUpgrade, withoutHops, type ForwardTarget } from "../forward.ts";
import { listenOnLoopback, type LoopbackServer } from "../../loopback.ts";
import { freePorts } from "../../ports.ts";
import type { Log } from "../runner.ts";
import { ContainerProcess } from "./process.ts";

/**
 * Error message if no container is available. The package cloudflare/containers looks for this text
 * (src/lib/container.ts).
 */
const NO_INSTANCE =
  "There is no container instance that can be provided to this Durable Object, try again later";
/**
 * Error message if the maximum number of containers is running. Cloudflare does not document the text, but its
 * sandbox-sdk recognizes it as `max_container_instances_exceeded` (packages/sandbox).
 */
const ALL_RUN =
  "Maximum number of running container instances exceeded. Try again later, or try configuring a higher value for max_instances";
const LOG_LINES = 500;

export interface ProcessHostOptions {
  /** Command that runs in place of a container. Absent if Docker runs the containers. */
  supervise?: { command: readonly string[]; dir: string; env?: Record<string, string> };
  /** Environment variables that mark a process as part of this rehearsal. */
  mark: Record<string, string>;
  /** Returns `undefined` if the namespace has no application. */
  mostContainers: (namespaceId: string) => number | undefined;
  log: Log;
}

interface Instance {
  process: ContainerProcess;
  /** Local port for each container port. */
  ports: ReadonlyMap<number, number>;
}

/** Runs a local process for each container, and forwards requests to it. */
export class ProcessHost {
  readonly #options: ProcessHostOptions;
  readonly #server: Server;
  // Part of the address, so that other local programs cannot start processes here.
  readonly #secret = randomBytes(24).toString("hex");
  readonly #instances = new Map<string, Instance>();
  readonly #lines: string[] = [];
  #listening: LoopbackServer | undefined;
  #closed = false;

  constructor(options: ProcessHostOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end(error instanceof Error ? error.message : String(error));
      });
    });
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Returns the address for the stand-ins. */
  async listen(): Promise<string> {
    this.#listening = await listenOnLoopback(this.#server, 0);
    return `${this.#listening.url}/${this.#secret}`;
  }

  /** `<namespace>/<object>` of every running container. */
  get running(): string[] {
    return [...this.#instances.keys()];
  }

  get lines(): string[] {
    return [...this.#lines];
  }

  /** Default: the containers of all namespaces. */
  async stop(namespaceId?: string): Promise<void> {
    const chosen = namespaceId === undefined ? this.running : this.#namesIn(namespaceId);
    await Promise.all(chosen.map((name) => this.#instances.get(name)?.process.stop()));
  }

  #namesIn(namespaceId: string): string[] {
    return this.running.filter((name) => name.startsWith(`${namespaceId}/`));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.stop();
    await this.#listening?.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = this.#parse(request);
    if (call === undefined) return void response.writeHead(404).end();
    const { name, action, rest } = call;
    if (action === "port") return this.#port(request, response, name, rest);
    const body = JSON.parse(await textOf(request)) as Record<string, unknown>;
    if (action === "start") {
      const refusal = await this.#start(name, body);
      return void response.writeHead(refusal ? 409 : 200).end(refusal ?? "{}");
    }
    const instance = this.#instances.get(name);
    if (action === "signal") instance?.process.signal(Number(body["signal"]));
    if (action === "destroy") await instance?.process.destroy();
    const exitCode = action === "monitor" ? ((await instance?.process.ended) ?? 0) : undefined;
    response.writeHead(200).end(JSON.stringify({ exitCode }));
  }

  async #start(name: string, body: Record<string, unknown>): Promise<string | undefined> {
    const { supervise, mark, mostContainers, log } = this.#options;
    const [namespaceId = "", objectId = ""] = name.split("/");
    const most = mostContainers(namespaceId);
    if (supervise === undefined || most === undefined) return NO_INSTANCE;
    const [gateway = 0, supervisor = 0] = await freePorts(2);
    // Check after the last `await`, because the state may have changed while the ports were chosen.
    if (this.#closed) return NO_INSTANCE;
    if (this.#instances.has(name)) return undefined;
    if (this.#namesIn(namespaceId).length >= most) return ALL_RUN;
    const dir = join(supervise.dir, objectId);
    const process = new ContainerProcess({
      command: supervise.command,
      dir,
      env: {
        PATH: globalThis.process.env["PATH"] ?? "",
        HOME: dir,
        ...(body["env"] as Record<string, string> | undefined),
        ...supervise.env,
        ...mark,
        STEWARD_HOME: dir,
        // A container may listen on all its interfaces. This process must not, because it shares the machine's network.
        STEWARD_BIND: "127.0.0.1",
        GATEWAY_PORT: String(gateway),
        SUPERVISOR_PORT: String(supervisor),
      },
      onLine: (line) => this.#keep(line),
    });
    const ports = new Map([
      [PORTS.gateway, gateway],
      [PORTS.supervisor, supervisor],
    ]);
    this.#instances.set(name, { process, ports });
    log("container process started", { container: name, gateway, supervisor });
    void this.#forgetAtEnd(name, process);
    return undefined;
  }

  async #forgetAtEnd(name: string, process: ContainerProcess): Promise<void> {
    const exitCode = await process.ended;
    this.#instances.delete(name);
    this.#options.log("container process ended", { container: name, exitCode });
  }

  #port(request: IncomingMessage, response: ServerResponse, name: string, rest: string): void {
    const refuse = (): void => {
      request.resume();
      const message = "The container is not listening on the requested port, consider retrying";
      response.writeHead(502, { "x-standin-error": message }).end();
    };
    const target = this.#target(request, name, rest);
    if (target) forward(request, response, target, refuse);
    else refuse();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const call = this.#parse(request);
    const target = call?.action === "port" ? this.#target(request, call.name, call.rest) : undefined;
    if (target) forwardUpgrade(request, socket, head, target);
    else socket.destroy();
  }

  #target(request: IncomingMessage, name: string, rest: string): ForwardTarget | undefined {
    const [, port = "", path = "/"] = /^(\d+)(\/.*)$/s.exec(rest) ?? [];
    const local = this.#instances.get(name)?.ports.get(Number(port));
    if (local === undefined) return undefined;
    const { "x-standin-host": host, ...headers } = withoutHops(request.headers);
    return { to: local, path, headers: { ...headers, host: String(host ?? "container") } };
  }

  #parse(request: IncomingMessage): { name: string; action: string; rest: string } | undefined {
    const [, secret, namespaceId, objectId, action, rest = ""] =
      /^\/([0-9a-f]+)\/([0-9a-f]+)\/([0-9a-f]+)\/([a-z]+)(?:\/(.*))?$/s.exec(request.url ?? "") ?? [];
    if (secret !== this.#secret || action === undefined) return undefined;
    return { name: `${namespaceId}/${objectId}`, action, rest };
  }

  #keep(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > LOG_LINES) this.#lines.shift();
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
