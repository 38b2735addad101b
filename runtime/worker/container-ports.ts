import type { Container, Response as PlatformResponse } from "@cloudflare/workers-types/index.ts";
import * as z from "zod/mini";
import { CONTROL_ROUTES, type SandboxStatus } from "../contract/control.ts";
import { PORTS } from "../contract/names.ts";
import type { PortRequest, SandboxPort } from "../edge/ports.ts";
import { once } from "../shared/once.ts";
import type { ContainerMemory } from "./container-memory.ts";

const STATUS_TIMEOUT_MS = 2_000;
const UPGRADE_TIMEOUT_MS = 10_000;

/** Validates only the fields that the Durable Object uses, because the supervisor may be a different version. */
const statusForm = once(() =>
  z.object({ state: z.enum(["stopped", "starting", "ready", "crash-looping"]), restarts: z.number() }),
);
const supervisorStatus = z.custom<SandboxStatus>((value) => statusForm().safeParse(value).success);

interface ContainerPortsOptions {
  /** Returns the platform's container, each time as a new object. Do not keep the object. */
  container(): Container;
  notes: ContainerMemory;
}

/** Client of the container's two servers, with the current run's control token. */
export class ContainerPorts {
  readonly #options: ContainerPortsOptions;

  constructor(options: ContainerPortsOptions) {
    this.#options = options;
  }

  /** Rejects if nothing listens on the port or the timeout expires. */
  async send(port: SandboxPort, request: PortRequest, timeoutMs: number): Promise<Response> {
    return this.#server(port).fetch(`http://sandbox${request.path}`, {
      method: request.method,
      headers: {
        ...this.#authorization(),
        ...(request.body !== undefined && { "content-type": "application/json" }),
      },
      ...(request.body !== undefined && { body: request.body }),
      signal: AbortSignal.timeout(timeoutMs),
    });
  }

  /** Sends a request to the supervisor. Unlike `send`, accepts any method, headers and streamed bodies. */
  async control(path: string, init: RequestInit, timeoutMs: number): Promise<Response> {
    return this.#server("supervisor").fetch(`http://sandbox${path}`, {
      ...init,
      headers: { ...(init.headers as Record<string, string> | undefined), ...this.#authorization() },
      signal: AbortSignal.timeout(timeoutMs),
    });
  }

  /** Requests a WebSocket from the gateway, which may refuse it. Rejects if nothing listens or a timeout expires. */
  async upgrade(path: string, headers: Record<string, string>): Promise<PlatformResponse> {
    // Use a timer that can be stopped: a timeout signal would also close the open socket.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), UPGRADE_TIMEOUT_MS);
    try {
      const response = await this.#server("gateway").fetch(`http://sandbox${path}`, {
        headers: { ...headers, ...this.#authorization(), upgrade: "websocket" },
        signal: late.signal,
      });
      return response as unknown as PlatformResponse;
    } finally {
      clearTimeout(timer);
    }
  }

  // Casts the port, because Node's and Cloudflare's types of `fetch` differ.
  #server(port: SandboxPort): { fetch: typeof fetch } {
    return this.#options.container().getTcpPort(PORTS[port]) as unknown as { fetch: typeof fetch };
  }

  #authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.#options.notes.read("controlToken") ?? ""}` };
  }

  /** `undefined` if the supervisor does not answer. */
  async status(): Promise<SandboxStatus | undefined> {
    try {
      const request: PortRequest = { method: "GET", path: CONTROL_ROUTES.status };
      const response = await this.send("supervisor", request, STATUS_TIMEOUT_MS);
      return response.ok ? supervisorStatus.parse(await response.json()) : undefined;
    } catch {
      // Expected during a start: the supervisor is not listening yet.
      return undefined;
    }
  }
}
