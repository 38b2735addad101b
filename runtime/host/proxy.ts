import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { connect } from "../process/telegram/transport.ts";

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Returns what makes clients of an HTTP proxy. The last one is kept, with its connections: a config names one proxy. */
export function proxyClients(): (proxy: string) => Fetch {
  let last: { proxy: string; client: Fetch } | undefined;
  return (proxy) => {
    if (last?.proxy !== proxy) last = { proxy, client: fetchThrough(proxy) };
    return last.client;
  };
}

/** Returns a client for Telegram's requests, which have JSON bodies and no headers of their own. It follows no redirects. */
function fetchThrough(proxy: string): Fetch {
  const { send } = connect(proxy);
  return async (url, init) => {
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
