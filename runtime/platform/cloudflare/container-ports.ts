import type { Container } from "@cloudflare/workers-types/index.ts";
import { CONTROL_ROUTES, type SandboxStatus } from "../../contract/control.ts";
import { PORTS } from "../../contract/names.ts";
import type { PortRequest, SandboxPort } from "../../edge/ports.ts";
import type { Notes } from "./notes.ts";

const STATUS_TIMEOUT_MS = 2_000;

/** What {@link ContainerPorts} works with. */
export interface ContainerPortsOptions {
  /** Read at each use: the platform hands the object out anew. */
  container(): Container;
  notes: Notes;
}

/** The container's two servers, asked with the control token of its start. */
export class ContainerPorts {
  readonly #options: ContainerPortsOptions;

  constructor(options: ContainerPortsOptions) {
    this.#options = options;
  }

  /** Sends one request. Throws where the port does not listen or the time is over. */
  async send(port: SandboxPort, request: PortRequest, timeoutMs: number): Promise<Response> {
    const { container, notes } = this.#options;
    // One object at run time; Node's and the platform's type packages describe its requests differently.
    const server = container().getTcpPort(PORTS[port]) as unknown as { fetch: typeof fetch };
    return server.fetch(`http://sandbox${request.path}`, {
      method: request.method,
      headers: {
        authorization: `Bearer ${notes.read("controlToken") ?? ""}`,
        ...(request.body !== undefined && { "content-type": "application/json" }),
      },
      ...(request.body !== undefined && { body: request.body }),
      signal: AbortSignal.timeout(timeoutMs),
    });
  }

  /** What the supervisor says, `undefined` while it does not answer. */
  async status(): Promise<SandboxStatus | undefined> {
    try {
      const request: PortRequest = { method: "GET", path: CONTROL_ROUTES.status };
      const response = await this.send("supervisor", request, STATUS_TIMEOUT_MS);
      if (!response.ok) return undefined;
      return { ...((await response.json()) as SandboxStatus), ...this.#options.notes.coldStart() };
    } catch {
      // Not listening yet: the container has only just been started.
      return undefined;
    }
  }
}
