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

export interface ForwardTarget {
  /** Port to connect to, or an open connection that serves only this request. */
  to: number | Socket;
  path: string;
  headers: OutgoingHttpHeaders;
}

// Headers that concern a single connection and must not be forwarded:
// https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1
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

/** Maximum size, in bytes, of a body to send in one write. Larger bodies are streamed. */
const MAX_IN_ONE_PIECE = 2 * 1024 * 1024;

/** Forwards a request and streams back the response. Calls `failed` if the target is unreachable. */
export function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: ForwardTarget,
  failed: (error: Error) => void,
): void {
  const onward = requestTo(target, incoming.method, target.headers);
  onward.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
    // Send the headers now, because an event stream may send no data for a while.
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.on("error", () => outgoing.destroy());
  });
  onward.on("error", (error) => {
    if (outgoing.headersSent) outgoing.destroy();
    else failed(error);
  });
  outgoing.on("close", () => onward.destroy());
  if (Number(incoming.headers["content-length"] ?? Infinity) <= MAX_IN_ONE_PIECE)
    sendInOnePiece(incoming, onward);
  else incoming.pipe(onward);
}

/**
 * Sends the request body in one write. Otherwise, a server's early rejection could break a later write before the
 * response is read.
 */
function sendInOnePiece(incoming: IncomingMessage, onward: ClientRequest): void {
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  incoming.on("end", () => onward.end(Buffer.concat(chunks)));
}

/** Forwards an upgrade request and connects both sockets after the 101 response. */
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
    // Close the client's socket even if it has unread data, which would keep it open forever.
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

/** Returns the end-to-end headers. */
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
