import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Http2Bindings, HttpBindings } from "@hono/node-server";
import type { Client } from "../contract/client.ts";
import { closeServer, openServer, type PortTaken, refuseRequest } from "./server.ts";

/** A server that listens. */
export interface Listening {
  port: number;
  /** Takes no new connections, lets open requests end within `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>;
}

/** Time limits of a request: its headers, all of it, and how often that is looked at. */
interface RequestTimeLimits {
  headersMs: number;
  requestMs: number;
  lookMs: number;
}

/** Options of a server: what to serve, and where. */
export interface ListenOptions {
  fetch(request: Request, client: Client): Response | Promise<Response>;
  /** Answers to a GET of these paths as JSON, also before the rest is loaded. */
  atOnce?: Readonly<Record<string, () => object>>;
  hostname: string;
  /** 0 takes any free port. */
  port: number;
  /** The error if another process holds the port. Default: `port_in_use`. */
  taken?: PortTaken;
  timeLimits?: RequestTimeLimits;
  /** Takes over the connection of a request that asks for another protocol. Without it such a request is answered as a plain one. */
  onUpgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

/** Turns of the event loop: one reads the connection's end, the next two close it and tell its request. One to spare. */
const TURNS = 4;
/** A platform sends an event within a second; who takes longer keeps a connection from others. */
const REQUEST_TIME_LIMITS: RequestTimeLimits = { headersMs: 10_000, requestMs: 30_000, lookMs: 5_000 };

/**
 * Gives the event loop the time to read what a request's connection holds, so that `signal` is aborted if its sender is
 * gone. A killed process leaves requests behind; on a busy machine their turn comes seconds after its successor began,
 * and that one makes them again.
 */
export async function yieldForHangUp(signal: AbortSignal): Promise<void> {
  for (let turn = 0; turn < TURNS && !signal.aborted; turn += 1) await new Promise(setImmediate);
}

/**
 * Serves a fetch handler over HTTP. The port is open before the adapter is loaded, which brings undici
 * along and takes longer than all else; it follows at once, and requests wait for it.
 *
 * @throws StewardError `taken` if another process holds the port.
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
    connectionsCheckingInterval: timeLimits.lookMs,
  };
  const server = createServer(limits, (request, response) => {
    const answer = request.method === "GET" ? atOnce?.[request.url ?? ""] : undefined;
    if (answer !== undefined) return sendJson(response, answer());
    adapter ??= loadAdapter(fetch);
    void adapter.then((handle) => handle(request, response));
  });
  server.on("clientError", refuseRequest);
  // The server itself forgets these connections, and they would keep it from closing.
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
