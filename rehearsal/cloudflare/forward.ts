import {
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { endSocket } from "../../runtime/process/server.ts";

/** Destination of a forwarded request, on loopback. */
export interface ForwardTarget {
  /** A port, or an open connection for this request alone. */
  to: number | Socket;
  path: string;
  headers: OutgoingHttpHeaders;
}

// https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 : these belong to one connection.
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Bytes of a body that are not streamed. */
const MOST_IN_ONE_PIECE = 2 * 1024 * 1024;

/**
 * Passes a request on and its answer back, both streamed but for small bodies. `failed` answers when the target cannot
 * be reached; an answer that breaks off is broken off for the client too.
 */
export function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: ForwardTarget,
  failed: (error: Error) => void,
): void {
  const onward = requestTo(target, incoming.method, target.headers);
  onward.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
    // Headers go out at once: an event stream may have nothing to say for a while.
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.on("error", () => outgoing.destroy());
  });
  onward.on("error", (error) => {
    if (outgoing.headersSent) outgoing.destroy();
    else failed(error);
  });
  outgoing.on("close", () => onward.destroy());
  if (Number(incoming.headers["content-length"] ?? Infinity) <= MOST_IN_ONE_PIECE)
    sendInOnePiece(incoming, onward);
  else incoming.pipe(onward);
}

/**
 * Whoever refuses a body unread closes the connection behind its answer, and a write after that would hide the
 * answer. In one piece nothing is left to write by then.
 */
function sendInOnePiece(incoming: IncomingMessage, onward: ClientRequest): void {
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  incoming.on("end", () => onward.end(Buffer.concat(chunks)));
}

/** Passes an upgrade (a WebSocket) on: after the 101 the two sockets are joined. */
export function forwardUpgrade(
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  target: ForwardTarget,
): void {
  const upgrade = { connection: "Upgrade", upgrade: incoming.headers.upgrade };
  const onward = requestTo(target, incoming.method, { ...target.headers, ...upgrade });
  onward.on("upgrade", (answer, other, otherHead) => {
    writeHead(socket, answer, answer.headers);
    other.write(head);
    socket.write(otherHead);
    other.pipe(socket).pipe(other);
    other.on("error", () => socket.destroy());
    // Nobody reads the socket from here on: what its client still sends would keep it open for ever.
    other.on("close", () => endSocket(socket));
    socket.on("error", () => other.destroy());
    socket.on("close", () => other.destroy());
  });
  onward.on("response", (answer) => {
    writeHead(socket, answer, { ...withoutHops(answer.headers), connection: "close" });
    answer.pipe(socket);
  });
  onward.on("error", () => socket.destroy());
  socket.on("error", () => onward.destroy());
  onward.end();
}

/** The headers that travel from end to end. */
export function withoutHops(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

function requestTo(
  { to, path }: ForwardTarget,
  method: string | undefined,
  headers: OutgoingHttpHeaders,
): ClientRequest {
  const where = typeof to === "number" ? { port: to } : { createConnection: () => to };
  return httpRequest({ host: "127.0.0.1", path, method, headers, ...where });
}

function writeHead(
  socket: Duplex,
  answer: IncomingMessage,
  headers: IncomingHttpHeaders | OutgoingHttpHeaders,
): void {
  const lines = Object.entries(headers).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value];
    return values.map((one) => `${name}: ${one}`);
  });
  socket.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${lines.join("\r\n")}\r\n\r\n`);
}
