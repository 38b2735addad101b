import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { Readable } from "node:stream";
import { readConfigText } from "../contract/config/text.ts";
import type { Environment } from "../contract/environment.ts";
import { StewardError } from "../contract/errors.ts";
import { isProxyAddress } from "../process/addresses.ts";
import { fileVersion } from "../process/files.ts";
import { openConnection } from "../process/telegram/transport.ts";

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Resolves a host name; tests replace it. */
type Resolve = (host: string) => Promise<{ address: string }[]>;

const KEPT_MS = 60_000;

/**
 * Returns a function that reads Telegram's proxy from the config file. While the file is invalid, the function
 * returns the last valid value.
 */
export function configuredProxy(configPath: string, environment: Environment): () => string | undefined {
  let seen: string | undefined;
  let proxy: string | undefined;
  return () => {
    const version = fileVersion(configPath);
    if (version === "missing" || version === seen) return proxy;
    const { result } = readConfigText(readFileSync(configPath, "utf8"), environment);
    seen = version;
    if (result.ok) proxy = result.config.channels.telegram?.proxy;
    return proxy;
  };
}

interface ProxyOptions {
  /** Milliseconds since the epoch. */
  clock(): number;
  resolve?: Resolve;
}

/**
 * Creates a function that returns an HTTP client for a proxy. Consecutive calls with the same proxy share a client
 * for a minute. The function checks the proxy's address before it creates a client.
 */
export function proxyClients({ clock, resolve = resolveAll }: ProxyOptions): (proxy: string) => Fetch {
  let last: { proxy: string; until: number; client: Promise<Fetch> } | undefined;
  return (proxy) => async (url, init) => {
    if (last?.proxy !== proxy || clock() >= last.until) {
      const client = checkedAddress(proxy, resolve).then(fetchThrough);
      last = { proxy, until: clock() + KEPT_MS, client };
      client.catch(() => {
        if (last?.client === client) last = undefined;
      });
    }
    return (await last.client)(url, init);
  };
}

const resolveAll: Resolve = (host) => lookup(host, { all: true });

/**
 * Returns a proxy's URL. An HTTP URL gets an IP address instead of the host name. An HTTPS URL keeps the host name
 * for verifying the certificate.
 *
 * @throws StewardError `broker_proxy_refused` if the address is not allowed for a proxy
 */
async function checkedAddress(proxy: string, resolve: Resolve): Promise<string> {
  const url = new URL(proxy);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found = isIP(host) === 0 ? await resolve(host) : [{ address: host }];
  const [first] = found;
  if (first === undefined || !found.every(({ address }) => isProxyAddress(address))) {
    throw new StewardError(
      "broker_proxy_refused",
      "The proxy's address is link-local or does not belong to a single host.",
    );
  }
  if (url.protocol === "http:") {
    url.hostname = isIP(first.address) === 6 ? `[${first.address}]` : first.address;
  }
  return url.href;
}

/**
 * Returns a client that sends requests through a proxy. Supports only string and byte bodies, and follows no
 * redirects.
 */
function fetchThrough(proxy: string): Fetch {
  const { send } = openConnection(proxy);
  return async (url, { method, headers, body, signal }) => {
    if (body != null && typeof body !== "string" && !(body instanceof Uint8Array)) {
      throw new TypeError("the body is neither a string nor bytes");
    }
    const message = await send(url, {
      method: method === "GET" ? "GET" : "POST",
      headers: Object.fromEntries(new Headers(headers)),
      signal: signal ?? new AbortController().signal,
      ...(body != null && { body }),
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
