import http, { type IncomingMessage } from "node:http";
import https from "node:https";

const IDLE_MS = 15_000;

interface TransportRequest {
  method: "GET" | "POST";
  /** `headers` must contain its type. */
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  /** Also aborts reading the response. */
  signal: AbortSignal;
}

export interface TelegramConnection {
  send(url: string, request: TransportRequest): Promise<IncomingMessage>;
  /** Reads the whole body. Rejects with a RangeError if it exceeds `maxBytes`. */
  readBody(message: IncomingMessage, maxBytes: number): Promise<Uint8Array>;
}

/**
 * Returns a client based on Node's HTTP client, which supports proxies without another package
 * (https://nodejs.org/docs/latest-v24.x/api/http.html#built-in-proxy-support). The client follows no redirects.
 */
export function openConnection(proxy?: string): TelegramConnection {
  const options = {
    keepAlive: true,
    // Close idle connections early: the network may silently drop them, and the next request would be lost.
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
    // Throwing ends the loop, and ending the loop destroys the stream and its connection.
    if (size > maxBytes) throw new RangeError(`more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
