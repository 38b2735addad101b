import http, { type IncomingMessage } from "node:http";
import https from "node:https";

const IDLE_MS = 15_000;

/** One request. */
interface TransportRequest {
  method: "GET" | "POST";
  /** Its type is among the headers. */
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  /** Ends the request and the reading of its answer. */
  signal: AbortSignal;
}

/** A way to the server. */
export interface TelegramConnection {
  /** Sends a request; the answer's body is still to be read. */
  send(url: string, request: TransportRequest): Promise<IncomingMessage>;
  /** Reads a body of at most `maxBytes`. Rejects with a RangeError where there is more. */
  readBody(message: IncomingMessage, maxBytes: number): Promise<Uint8Array>;
}

/**
 * Requests over Node's own client, since it takes a proxy without a package more
 * (https://nodejs.org/docs/latest-v24.x/api/http.html#built-in-proxy-support). Follows no redirects.
 */
export function openConnection(proxy?: string): TelegramConnection {
  const options = {
    keepAlive: true,
    // Of an idle connection: one that the network has dropped meanwhile would swallow the next request.
    timeout: IDLE_MS,
    ...(proxy !== undefined && { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }),
  };
  const plain = new http.Agent(options);
  const secure = new https.Agent(options);
  return {
    readBody,
    send: (url, { method, body, headers: given, signal }) =>
      new Promise((resolve, reject) => {
        const isSecure = url.startsWith("https:");
        const headers = {
          ...given,
          ...(body !== undefined && {
            "content-length": String(Buffer.byteLength(body)),
          }),
        };
        const { request } = isSecure ? https : http;
        request(url, { method, headers, signal, agent: isSecure ? secure : plain }, resolve)
          .on("error", reject)
          .end(body);
      }),
  };
}

async function readBody(message: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    // Leaving the loop destroys the stream, and with it the connection.
    if (size > maxBytes) throw new RangeError(`more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
