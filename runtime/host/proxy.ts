import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { connect } from "../process/telegram/transport.ts";

/** Returns a client that sends its requests through an HTTP proxy. It follows no redirects. */
export function fetchThrough(proxy: string) {
  const { send } = connect(proxy);
  return async (url: string, init: RequestInit): Promise<Response> => {
    const body = init.body instanceof Uint8Array ? Buffer.from(init.body).toString() : undefined;
    const message = await send(url, {
      method: init.method === "GET" ? "GET" : "POST",
      signal: init.signal ?? new AbortController().signal,
      ...(body !== undefined && { body }),
    });
    return asResponse(message);
  };
}

function asResponse(message: IncomingMessage): Response {
  const headers = Object.entries(message.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const { statusCode: status = 502 } = message;
  const body = status === 204 || status === 304 ? null : (Readable.toWeb(message) as ReadableStream);
  return new Response(body, { status, headers });
}
