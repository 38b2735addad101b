import type { BrokerCounts, BrokerOutcomes } from "../contract/control.ts";
import { StewardError, type ErrorCode } from "../contract/errors.ts";
import { problem, problemResponse } from "../contract/problem.ts";
import {
  directRequest,
  serviceOperation,
  type OperationArguments,
  type OperationName,
  type ServiceOperation,
} from "../contract/service-operations.ts";
import { BROKER_PATH, PROXY_HEADER, SERVICES, type ServiceName } from "../contract/services.ts";
import type { TenantChat } from "../contract/tenant.ts";
import type { Environment } from "../contract/variables.ts";
import type { Log } from "../shared/log.ts";
import { readBytes } from "../shared/read-bytes.ts";
import { createRedactor } from "../shared/redact.ts";
import { openSlackFile } from "../shared/slack-file.ts";
import { isSameToken } from "../shared/token.ts";
import { ChatPass } from "./chat-pass.ts";
import { readServiceBody } from "./admission/body.ts";

const LONGEST_REFUSAL_BYTES = 256 * 1024;
/** Maximum characters logged of an unknown operation. */
const LONGEST_NAME = 80;
/** Permitted values of the `anthropic-beta` header. Other values could expose the account's files or run code. */
const ANTHROPIC_BETAS = new Set(["structured-outputs-2025-11-13"]);
/** Upstream headers that do not apply to the relayed response. */
const CONNECTION_HEADERS = [
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "set-cookie",
  "transfer-encoding",
];

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface BrokerOptions {
  /** Contains the real keys. */
  environment: Environment;
  /** Returns the token with which the running gateway authenticates; empty if no gateway runs. */
  token(): string;
  fetch: Fetch;
  /** The only chat that requests may concern. Default: any chat. */
  chat?: TenantChat | undefined;
  /**
   * Returns true while the gateway is about to be replaced by one per chat. Requests outside {@link chat} then get a
   * temporary error, so that the gateway keeps its unsent messages for its successors.
   */
  isReplaced?(): boolean;
  /** HTTP proxy for Telegram. If absent, requests that name a proxy are refused. */
  proxy?: {
    address(): string | undefined;
    client(address: string): Fetch;
  };
  log: Log;
}

export interface Broker {
  /**
   * Performs a service request for the gateway.
   *
   * @param url The request's URL without its tenant part. Default: the URL of `request`.
   */
  handle(request: Request, url?: string): Promise<Response>;
  readonly counts: BrokerCounts;
}

interface BrokerOperation {
  name: OperationName;
  operation: ServiceOperation;
  values: OperationArguments;
}

/**
 * Creates the broker, which gives the gateway access to services without their keys. The gateway names an operation
 * from service-operations.ts, and the broker builds the request from validated arguments and the real key. It redacts
 * error responses, because services may quote keys.
 */
export function createBroker(options: BrokerOptions): Broker {
  const { environment, token, log } = options;
  const redact = createRedactor(environment);
  const pass = options.chat && new ChatPass(options.chat);
  const counts: BrokerCounts = { answered: 0, failed: 0, refused: 0, operations: {} };
  const count = (outcome: keyof BrokerOutcomes, name?: OperationName): void => {
    counts[outcome] += 1;
    if (name === undefined) return;
    const own = (counts.operations[name] ??= { answered: 0, failed: 0, refused: 0 });
    own[outcome] += 1;
  };

  const perform = async (
    request: Request,
    { name, operation, values }: BrokerOperation,
  ): Promise<Response> => {
    const key = environment[SERVICES[serviceIn(name)].key] ?? "";
    const send = clientFor(request.headers.get(PROXY_HEADER), name, options);
    const body = await readServiceBody(request, operation);
    const given = { ...body?.fields, ...values };
    if (pass?.allows(name, given) === false)
      throw new StewardError(options.isReplaced?.() ? "gateway_unavailable" : "broker_other_chat");
    const { signal } = request;
    if (name === "slack/file") {
      const own = pass && { chat: pass.chat };
      return openSlackFile(values["id"] ?? "", { key, environment, fetch: send, signal, ...own });
    }
    const { method, url, headers } = directRequest(name, values, { key, environment });
    const answer = await send(url, {
      method,
      headers: { ...headers, ...body?.headers, ...betas(name, request.headers) },
      // Following a redirect would send the key to another address.
      redirect: "manual",
      signal,
      ...(body && { body: body.bytes }),
    });
    return pass === undefined ? answer : pass.read(name, answer);
  };

  const handle = async (request: Request, url = request.url): Promise<Response> => {
    const { path, query, headers } = brokerRequest(url, request.headers);
    if (!hasPass(path, headers, token())) {
      count("refused");
      return problemResponse(problem("broker_refused"));
    }
    const name = serviceOperation(path)?.name;
    try {
      const answer = await perform(request, readOperation(request.method, path, query));
      count("answered", name);
      return await relayResponse(answer, redact);
    } catch (error) {
      const code = error instanceof StewardError ? error.code : "broker_no_answer";
      const isRefusal = REFUSALS.has(code);
      count(isRefusal ? "refused" : "failed", name);
      const operation = name ?? path.slice(0, LONGEST_NAME);
      const told = isRefusal ? "the broker refused a request" : "a service did not answer";
      log.warn(told, { operation, code, error: redact(String(error)) });
      if (error instanceof StewardError) return problemResponse(problem(code, error.message));
      return problemResponse(problem(code, `${serviceIn(path)} did not answer.`));
    }
  };
  return { handle, counts };
}

/** Errors caused by the request, not by the service. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "broker_operation_unknown",
  "broker_arguments_invalid",
  "broker_other_chat",
  "broker_no_proxy",
  "broker_proxy_refused",
  "body_too_large",
  "slack_file_elsewhere",
]);

function serviceIn(path: string): ServiceName {
  return path.split("/", 1)[0] as ServiceName;
}

/** Returns true if the request contains `token` in the header that normally carries the service's key. */
function hasPass(path: string, headers: Headers, token: string): boolean {
  const service = serviceIn(path);
  if (!Object.hasOwn(SERVICES, service)) return false;
  const [header, before] = SERVICES[service].header;
  const value = headers.get(header) ?? "";
  return value.startsWith(before) && isSameToken(value.slice(before.length), token);
}

/**
 * Parses a request's operation.
 *
 * @throws StewardError for an unknown operation or invalid arguments.
 */
function readOperation(method: string, path: string, query: URLSearchParams): BrokerOperation {
  const found = serviceOperation(path);
  if (found === undefined || method !== found.operation.method) {
    throw new StewardError("broker_operation_unknown");
  }
  const { takes } = found.operation;
  const given = [...query];
  const isTaken = given.every(([name, value]) => Object.hasOwn(takes, name) && takes[name]?.(value));
  const values = Object.fromEntries(given);
  const isWhole = Object.keys(takes).every((name) => Object.hasOwn(values, name));
  if (!isTaken || !isWhole || given.length !== Object.keys(takes).length) {
    throw new StewardError("broker_arguments_invalid");
  }
  return { ...found, values };
}

function betas(name: OperationName, headers: Headers): Record<string, string> {
  if (name !== "anthropic/messages") return {};
  const asked = (headers.get("anthropic-beta") ?? "").split(",").map((beta) => beta.trim());
  const passed = asked.filter((beta) => ANTHROPIC_BETAS.has(beta));
  return passed.length === 0 ? {} : { "anthropic-beta": passed.join(",") };
}

/** Returns the HTTP client for an operation. A request may name only Telegram's proxy from the config file. */
function clientFor(proxy: string | null, name: OperationName, { fetch, proxy: own }: BrokerOptions): Fetch {
  if (proxy === null) return fetch;
  if (serviceIn(name) !== "telegram") throw new StewardError("broker_arguments_invalid");
  if (own === undefined) throw new StewardError("broker_no_proxy");
  if (proxy !== own.address()) throw new StewardError("broker_proxy_refused");
  return own.client(proxy);
}

async function relayResponse(answer: Response, redact: (text: string) => string): Promise<Response> {
  const headers = new Headers(answer.headers);
  for (const name of CONNECTION_HEADERS) headers.delete(name);
  const { status } = answer;
  if (status < 300) return new Response(answer.body, { status, headers });
  // Remove the redirect's target, which the gateway cannot use without the key.
  headers.delete("location");
  const refusal = redact(new TextDecoder().decode(await readBytes(answer, LONGEST_REFUSAL_BYTES)));
  return new Response(refusal === "" ? null : refusal, { status, headers });
}

/** `/telegram/bot<id>:<pass>/<method>`, or `/telegram/file/bot<id>:<pass>/<path>` */
const TELEGRAM = /^\/telegram(?<file>\/file)?\/bot\d*:(?<pass>[^/:]+)\/(?<place>.+)$/;
const DISCORD_MESSAGE = /^\/discord\/channels\/(?<channel>\d+)\/messages(?:\/(?<message>\d+))?$/;
const ANTHROPIC_MODEL = /^\/anthropic\/v1\/models\/(?<id>[^/]+)$/;

interface BrokerRequest {
  /** Relative to the broker's base: `<service>/<operation>`. */
  path: string;
  query: URLSearchParams;
  headers: Headers;
}

/**
 * Parses a broker request. Until the next release, also accepts the upstream APIs' own paths, which older gateways
 * send.
 */
function brokerRequest(url: string, headers: Headers): BrokerRequest {
  const { pathname, searchParams } = new URL(url);
  const path = pathname.slice(BROKER_PATH.length);
  const named = (name: string, values: Record<string, string | undefined> = {}): BrokerRequest => {
    const given = Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return { path: name, query: new URLSearchParams(given), headers };
  };
  const { file, pass, place = "" } = TELEGRAM.exec(path)?.groups ?? {};
  if (pass !== undefined) {
    const asked =
      file === undefined ? named(`telegram/${place}`) : named("telegram/file", { path: decoded(place) });
    return { ...asked, headers: withHeader(headers, "authorization", `Bearer ${pass}`) };
  }
  const message = DISCORD_MESSAGE.exec(path)?.groups;
  if (message)
    return named(`discord/message.${message["message"] === undefined ? "create" : "edit"}`, message);
  const model = ANTHROPIC_MODEL.exec(path)?.groups;
  if (model) return named("anthropic/model", { id: decoded(model["id"] ?? "") });
  if (path === "/discord/users/@me") return named("discord/user");
  if (path === "/anthropic/v1/messages") return named("anthropic/messages");
  return { path: path.slice(1), query: searchParams, headers };
}

function withHeader(headers: Headers, name: string, value: string): Headers {
  const changed = new Headers(headers);
  changed.set(name, value);
  return changed;
}

/** Decodes a URL component. Returns malformed text unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
