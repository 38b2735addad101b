import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Http2Bindings, HttpBindings } from "@hono/node-server";
import type { Client } from "../contract/client.ts";
import { closeServer, KEEP_ALIVE_MS, openServer, type PortTaken, refuseRequest } from "./server.ts";

export interface Listening {
  port: number;
  /** Stops accepting new connections. Cuts connections that are still open after `graceMs` milliseconds. */
  close(graceMs: number): Promise<void>;
}

/** Time limits for a request's headers and the whole request, and the interval between checks. */
interface RequestTimeLimits {
  headersMs: number;
  requestMs: number;
  lookMs: number;
}

export interface ListenOptions {
  fetch(request: Request, client: Client): Response | Promise<Response>;
  /** JSON responses by path. They are sent even before the request handler is loaded. */
  atOnce?: Readonly<Record<string, () => object>>;
  hostname: string;
  /** 0 selects any free port. */
  port: number;
  /** Default: `port_in_use`. */
  taken?: PortTaken;
  timeLimits?: RequestTimeLimits;
  /** Handles an upgrade request. If absent, such a request is handled like a plain one. */
  onUpgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

/** Event loop turns until a closed connection has aborted its request: up to three, and one to spare. */
const TURNS = 4;
/** Default limits. They keep slow senders from occupying connections. */
const REQUEST_TIME_LIMITS: RequestTimeLimits = { headersMs: 10_000, requestMs: 30_000, lookMs: 5_000 };

/**
 * Waits briefly, so that `signal` can abort if the sender has disconnected. A killed gateway's requests must not be
 * handled: its successor repeats them.
 */
export async function yieldForHangUp(signal: AbortSignal): Promise<void> {
  for (let turn = 0; turn < TURNS && !signal.aborted; turn += 1) await new Promise(setImmediate);
}

/**
 * Serves HTTP. Opens the port before loading the request handler, because loading is slow. Requests not answered by
 * `atOnce` wait for the handler.
 *
 * @throws StewardError with the code `taken` if another process holds the port.
 */
export async function listen({
  fetch,
  atOnce,
  hostname,
  port,
  taken = "port_in_use",
  timeLimits = REQUEST_TIME_LIMITS,
  onUpgrade,
}: ListenOptions): Promise<Listening> {
  let adapter: ReturnType<typeof loadAdapter> | undefined;
  const limits = {
    headersTimeout: timeLimits.headersMs,
    requestTimeout: timeLimits.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: timeLimits.lookMs,
  };
  const server = createServer(limits, (request, response) => {
    const answer = request.method === "GET" ? atOnce?.[request.url ?? ""] : undefined;
    if (answer !== undefined) return sendJson(response, answer());
    adapter ??= loadAdapter(fetch);
    void adapter.then((handle) => handle(request, response));
  });
  server.on("clientError", refuseRequest);
  // Track upgraded connections: the server does not close them, and waits for them when it closes.
  const upgraded = new Set<Duplex>();
  if (onUpgrade !== undefined) {
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      upgraded.add(socket);
      socket.on("close", () => upgraded.delete(socket)).on("error", () => socket.destroy());
      onUpgrade(request, socket, head).catch(() => socket.destroy());
    });
  }
  const opened = await openServer(server, { hostname, port, taken });
  setImmediate(() => (adapter ??= loadAdapter(fetch)));
  return {
    port: opened,
    close: async (graceMs) => {
      const cut = setTimeout(() => upgraded.forEach((socket) => socket.destroy()), graceMs);
      await closeServer(server, graceMs);
      clearTimeout(cut);
    },
  };
}

async function loadAdapter(fetch: ListenOptions["fetch"]) {
  const { getRequestListener } = await import("@hono/node-server");
  const answer = (request: Request, { incoming }: HttpBindings | Http2Bindings) =>
    fetch(request, { clientAddress: incoming.socket.remoteAddress });
  return getRequestListener(answer, { overrideGlobalObjects: false });
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}
