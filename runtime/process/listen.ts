import type { Duplex } from "node:stream";
import type { Http2Bindings, HttpBindings } from "@hono/node-server";
import type { Client } from "../contract/client.ts";
import { PROBLEM_TYPE, type Problem } from "../contract/problem.ts";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { closeServer, openServer } from "./server.ts";

/** A server that listens. */
export interface Listening {
  port: number;
  /** Takes no new connections, lets open requests end within `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>;
}

/** What to serve, and where. */
export interface ListenOptions {
  fetch(request: Request, client: Client): Response | Promise<Response>;
  /** What a GET of these paths is answered with as JSON, also before the rest is loaded. */
  atOnce?: Readonly<Record<string, () => object>>;
  hostname: string;
  /** 0 takes any free port. */
  port: number;
  /** Takes over the connection of a request that asks for another protocol. Without it such a request is answered as a plain one. */
  onUpgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

/** What the other side may take to close a connection that is ended; the HTTP server watches over it no more. */
const CLOSE_MS = 5_000;

/** Ends a connection that was taken over, also where its other side never does. */
export function endSocket(socket: Duplex, text?: string): void {
  socket.end(text);
  const late = setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  socket.once("close", () => clearTimeout(late));
}

/** Answers an upgrade request with a problem document and ends its connection. */
export function refuseUpgrade(socket: Duplex, problem: Problem): void {
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} Refused`,
    "connection: close",
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    ...(problem.status === 503 || problem.status === 429 ? ["retry-after: 5"] : []),
  ];
  endSocket(socket, `${head.join("\r\n")}\r\n\r\n${body}`);
}

/**
 * Serves a fetch handler over HTTP. The port is open before the adapter is loaded, which brings undici
 * along and takes longer than all else; it follows at once, and requests wait for it.
 *
 * @throws StewardError `port_in_use` where another process holds the port.
 */
export async function listen({
  fetch,
  atOnce,
  hostname,
  port,
  onUpgrade,
}: ListenOptions): Promise<Listening> {
  let adapter: ReturnType<typeof loadAdapter> | undefined;
  const server = createServer((request, response) => {
    const answer = request.method === "GET" ? atOnce?.[request.url ?? ""] : undefined;
    if (answer !== undefined) return sendJson(response, answer());
    adapter ??= loadAdapter(fetch);
    void adapter.then((handle) => handle(request, response));
  });
  // The server itself forgets these connections, and they would keep it from closing.
  const upgraded = new Set<Duplex>();
  if (onUpgrade !== undefined) {
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      upgraded.add(socket);
      socket.on("close", () => upgraded.delete(socket)).on("error", () => socket.destroy());
      onUpgrade(request, socket, head).catch(() => socket.destroy());
    });
  }
  const opened = await openServer(server, hostname, port);
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
