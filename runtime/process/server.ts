import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { StewardError } from "../contract/errors.ts";
import { problem, type Problem, PROBLEM_TYPE } from "../contract/problem.ts";

/**
 * Time limit, in milliseconds, for the peer to close its side of an upgraded connection after the server has closed
 * its own side.
 */
const CLOSE_MS = 5_000;

/** Exceeds the usual 60 s of reverse proxies, whose next request would fail if this server closed first. */
export const KEEP_ALIVE_MS = 75_000;

/**
 * Error code for a port in use. `port_in_use`: the edge's public port. `inner_port_in_use`: a port to which only the
 * edge connects.
 */
export type PortTaken = "port_in_use" | "inner_port_in_use";

/**
 * Listens on a port. Port 0 selects any free port.
 *
 * @returns The port.
 * @throws StewardError with the code `taken` if another process holds the port.
 */
export async function openServer(
  server: Server,
  { hostname, port, taken }: { hostname: string; port: number; taken: PortTaken },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === "EADDRINUSE";
      const detail = `Port ${port} on ${hostname} is already in use by another process.`;
      reject(isTaken ? new StewardError(taken, detail, { cause: error }) : error);
    });
    server.listen(port, hostname, resolve);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

/** Stops accepting connections, gives open requests `graceMs` to finish, then closes the remaining connections. */
export function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** Ends an upgraded connection, and destroys it if the peer does not close its side in time. */
export function endSocket(socket: Duplex, text?: string): void {
  socket.end(text);
  const late = setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  socket.once("close", () => clearTimeout(late));
}

/** Sends a problem document on a connection that no HTTP handler serves, and ends the connection. */
export function refuseConnection(socket: Duplex, problem: Problem): void {
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} Refused`,
    "connection: close",
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    "x-content-type-options: nosniff",
    ...(problem.status === 503 || problem.status === 429 ? ["retry-after: 5"] : []),
  ];
  endSocket(socket, `${head.join("\r\n")}\r\n\r\n${body}`);
}

/** Answers malformed or incomplete HTTP requests: https://nodejs.org/api/http.html#event-clienterror */
export function refuseRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  refuseConnection(socket, problem(refusalOf(error.code)));
}

function refusalOf(code: string | undefined) {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_too_slow";
  return code === "HPE_HEADER_OVERFLOW" ? "headers_too_large" : "request_malformed";
}
