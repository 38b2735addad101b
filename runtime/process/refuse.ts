import type { Duplex } from "node:stream";
import { problem, PROBLEM_TYPE, type Problem } from "../contract/problem.ts";

/** What the other side may take to close a connection that is ended; the HTTP server watches over it no more. */
const CLOSE_MS = 5_000;

/** Ends a connection that was taken over, also where its other side never does. */
export function endSocket(socket: Duplex, text?: string): void {
  socket.end(text);
  const late = setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  socket.once("close", () => clearTimeout(late));
}

/** Answers a request with a problem document, where no handler does, and ends its connection. */
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

/** Answers what is no HTTP request, or does not come to its end: https://nodejs.org/api/http.html#event-clienterror */
export function refuseRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  refuseConnection(socket, problem(refusalOf(error.code)));
}

function refusalOf(code: string | undefined) {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_too_slow";
  return code === "HPE_HEADER_OVERFLOW" ? "headers_too_large" : "request_malformed";
}
