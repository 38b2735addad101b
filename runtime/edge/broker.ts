import type { BrokerCounts } from "../contract/control.ts";
import type { ErrorCode } from "../contract/errors.ts";
import { problem, problemResponse } from "../contract/problem.ts";
import { createRedactor } from "../shared/redact.ts";
import {
  BROKER_PATH,
  directAddress,
  isSlackFile,
  PROXY_HEADER,
  SERVICES,
  type ServiceName,
} from "../contract/services.ts";
import { sameToken } from "../shared/token.ts";
import type { Environment } from "../contract/variables.ts";
import type { Log } from "../shared/log.ts";
import { readBytes } from "./admission/body.ts";

/** Anthropic's own limit, the largest of them: https://docs.claude.com/en/api/overview#request-size-limits */
const LONGEST_REQUEST_BYTES = 32 * 1024 * 1024;
const LONGEST_REFUSAL_BYTES = 256 * 1024;
/** Headers of a request that are forwarded. Neither cookies nor a proxy's statements about the client. */
const REQUEST_HEADERS = ["accept", "content-type", "user-agent", "anthropic-version", "anthropic-beta"];
/** Headers of an answer that are about the connection it came on. The body is decoded by then. */
const CONNECTION_HEADERS = [
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "set-cookie",
  "transfer-encoding",
];

const TELEGRAM_PATH = /^\/bot\d*:([^/:]+)\/(.+)$/;
const TELEGRAM_METHODS = new Set(["getMe", "sendMessage", "editMessageText", "sendChatAction", "getFile"]);

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Dependencies of the broker. */
export interface BrokerOptions {
  /** Holds the real keys. */
  environment: Environment;
  /** The token of the gateway that runs; empty while none does. */
  token(): string;
  fetch: Fetch;
  /** Returns a client that goes through an HTTP proxy. Default: proxies are refused. */
  fetchThrough?(proxy: string): Fetch;
  log: Log;
}

/** One request to a service, without its key. */
interface Asked {
  service: ServiceName;
  /** Pass in the key's place. */
  pass: string;
  /** Returns the address with the key, where the address holds it. */
  url(key: string): string;
  /** Returns the headers that hold the key. */
  headers(key: string): Record<string, string>;
}

/** Broker that runs. */
export interface Broker {
  /** Answers a request of the gateway. */
  handle(request: Request): Promise<Response>;
  /** Grows with each request. */
  readonly counts: BrokerCounts;
}

/**
 * Makes a broker. It sends the gateway's requests on to the services that the deployment has keys for, with the key in
 * place of the pass that the gateway has. Requests that the gateway does not make are refused, and so are addresses
 * other than the service's. An answer streams through; a refusal is read first, since services quote keys in them.
 */
export function createBroker(options: BrokerOptions): Broker {
  const { environment, token, log } = options;
  const redact = createRedactor(environment);
  const counts: BrokerCounts = { answered: 0, failed: 0, refused: 0 };
  const refuse = (code: ErrorCode): Response => {
    counts.refused += 1;
    return problemResponse(problem(code));
  };
  const handle = async (request: Request): Promise<Response> => {
    const asked = readAsked(request, environment);
    if (asked === undefined || !sameToken(asked.pass, token())) return refuse("broker_refused");
    const { service } = asked;
    const key = environment[SERVICES[service].key] ?? "";
    const proxy = request.headers.get(PROXY_HEADER);
    const send = proxy === null ? options.fetch : options.fetchThrough?.(proxy);
    if (send === undefined) return refuse("broker_no_proxy");
    const body = await readBytes(request, LONGEST_REQUEST_BYTES);
    if (body === undefined) return refuse("body_too_large");
    let answer: Response;
    try {
      answer = await send(asked.url(key), {
        method: request.method,
        headers: { ...picked(request.headers), ...asked.headers(key) },
        // A redirect would carry the key elsewhere; the caller may ask again.
        redirect: "manual",
        signal: request.signal,
        ...(request.method !== "GET" && { body }),
      });
    } catch (error) {
      counts.failed += 1;
      log.warn("a service did not answer", { service, error: redact(String(error)) });
      return problemResponse(problem("broker_no_answer", `${service} did not answer.`));
    }
    counts.answered += 1;
    const headers = new Headers(answer.headers);
    for (const name of CONNECTION_HEADERS) headers.delete(name);
    const { status } = answer;
    if (status < 400) return new Response(answer.body, { status, headers });
    const refusal = await readBytes(answer, LONGEST_REFUSAL_BYTES);
    return new Response(redact(new TextDecoder().decode(refusal)), { status, headers });
  };
  return { handle, counts };
}

/** Reads which service is asked for what, `undefined` for what the gateway does not ask. */
function readAsked(request: Request, environment: Environment): Asked | undefined {
  const { pathname, search, searchParams } = new URL(request.url);
  const [service, ...rest] = pathname.slice(BROKER_PATH.length + 1).split("/");
  const path = `/${rest.join("/")}`;
  // The config names a proxy for Telegram alone.
  if (service !== "telegram" && request.headers.has(PROXY_HEADER)) return undefined;
  const asked = `${request.method} ${path}`;
  const header = (name: string): string => request.headers.get(name) ?? "";
  const bearer = { pass: after("Bearer ", header("authorization")), headers: authorization("Bearer") };
  switch (service) {
    case "anthropic":
      if (!/^(?:POST \/v1\/messages|GET \/v1\/models\/[^/]+)$/.test(asked)) return undefined;
      return {
        service,
        pass: header("x-api-key"),
        url: () => `${directAddress(service, environment)}${path}${search}`,
        headers: (key) => ({ "x-api-key": key }),
      };
    case "openai":
      if (!/^(?:POST \/chat\/completions|GET \/models)$/.test(asked)) return undefined;
      return { service, ...bearer, url: () => `${directAddress(service, environment)}${path}${search}` };
    case "slack": {
      const file = asked === "GET /file" ? searchParams.get("url") : null;
      if (file !== null) {
        if (!URL.canParse(file) || !isSlackFile(new URL(file), environment)) return undefined;
        return { service, ...bearer, url: () => file };
      }
      if (!/^POST \/(?:auth\.test|chat\.postMessage|chat\.update)$/.test(asked)) return undefined;
      return { service, ...bearer, url: () => `${directAddress(service, environment)}${path}` };
    }
    case "discord":
      if (
        !/^(?:GET \/users\/@me|POST \/channels\/\d+\/messages|PATCH \/channels\/\d+\/messages\/\d+)$/.test(
          asked,
        )
      )
        return undefined;
      return {
        service,
        pass: after("Bot ", header("authorization")),
        url: () => `${directAddress(service, environment)}${path}`,
        headers: authorization("Bot"),
      };
    case "telegram": {
      const asksForFile = asked.startsWith("GET /file/");
      const [, pass = "", method = ""] =
        TELEGRAM_PATH.exec(asksForFile ? path.slice("/file".length) : path) ?? [];
      if (!asksForFile && !(request.method === "POST" && TELEGRAM_METHODS.has(method))) return undefined;
      const place = `${directAddress(service, environment)}${asksForFile ? "/file" : ""}`;
      return {
        service,
        pass,
        url: (key) => `${place}/bot${key.replace(/[^\w:-]/g, encodeURIComponent)}/${method}`,
        headers: () => ({}),
      };
    }
    default:
      return undefined;
  }
}

function after(scheme: string, value: string): string {
  return value.startsWith(scheme) ? value.slice(scheme.length) : "";
}

function authorization(scheme: string) {
  return (key: string): Record<string, string> => ({ authorization: `${scheme} ${key}` });
}

function picked(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    REQUEST_HEADERS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}
