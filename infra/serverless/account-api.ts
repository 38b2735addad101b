import type { Input } from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";
import { StewardError } from "../../runtime/contract/errors.ts";
import { parseJson } from "../../runtime/shared/json.ts";
import { retryAfterMs } from "../../runtime/shared/retry-after.ts";
import { connection } from "../shell/connection.ts";
import { failureOf } from "../shell/failure.ts";

export interface CloudflareAccess {
  apiToken: string;
  /** Default: Cloudflare's public API address. */
  baseURL: string | undefined;
}

/** API credentials set in the Pulumi program. Missing ones come from the environment. */
export interface ApiCredentials {
  apiToken?: Input<string | undefined>;
  baseUrl?: Input<string | undefined>;
}

export interface AccountAccess extends CloudflareAccess {
  accountId: string;
}

const CLOUDFLARE = "https://api.cloudflare.com/client/v4";
const READ_MS = 10_000;
const CHANGE_MS = 60_000;
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/;

interface AccountRequest {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** JSON, as a value or as text. */
  body?: object | string;
  /**
   * Maximum number of attempts. Only {@link isTransient} errors are retried. Use 1 if a repeated request would do
   * harm.
   */
  attempts?: number;
}

/**
 * Sends one request to a path below the account's address. Uses `fetch`, because Cloudflare's client loads slowly.
 *
 * @throws StewardError `token_refused` if the token is empty, `cloudflare_unreachable`, or `rehearsal_ended` if an
 * emulated account is no longer running
 */
export async function sendToAccount(
  { accountId, apiToken, baseURL = CLOUDFLARE }: AccountAccess,
  path: string,
  { method = "GET", body }: AccountRequest = {},
): Promise<Response> {
  if (!apiToken) throw new StewardError("token_refused", "There is no API token.");
  const address = `${baseURL}/accounts/${accountId}/${path}`;
  return fetch(address, {
    method,
    headers: { authorization: `Bearer ${apiToken}`, ...(body && { "content-type": "application/json" }) },
    signal: AbortSignal.timeout(method === "GET" ? READ_MS : CHANGE_MS),
    ...(body && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw unanswered(address, error);
  });
}

/** Returns API access to an account. Uses the credentials of the Pulumi resource being processed. */
export function accessTo(accountId: string): AccountAccess {
  const { apiToken, baseUrl } = connection().cloudflare ?? {};
  return {
    accountId,
    apiToken: apiToken ?? process.env["CLOUDFLARE_API_TOKEN"] ?? "",
    baseURL: baseUrl ?? process.env["CLOUDFLARE_BASE_URL"],
  };
}

/** A failed request to Cloudflare. The message contains neither the token nor the response body. */
export class AccountError extends Error {
  /** 0 if there was no response. */
  readonly status: number;
  /** From Cloudflare's `retry-after` header. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, message: string, options?: ErrorOptions, retryAfterMs?: number) {
    super(message, options);
    this.name = "AccountError";
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** https://developers.cloudflare.com/fundamentals/api/how-to/make-api-calls/ */
interface Envelope<Result> {
  result: Result;
  errors?: { code?: number; message?: string }[];
  /** Position of the next page. A list uses either a cursor or a token. */
  result_info?: { cursor?: string; next_page_token?: string } | null;
}

/** The official client's default. */
export const ATTEMPTS = 3;
const PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 8_000;
/** Cloudflare's rate limit covers five minutes. */
const LONGEST_WAIT_MS = 300_000;

/** Returns true if there was no response, or if Cloudflare throttled the request or failed temporarily. */
export function isTransient(error: unknown): boolean {
  return error instanceof AccountError && (error.status >= 500 || [0, 408, 429].includes(error.status));
}

/**
 * Waits before the next attempt. Cloudflare's `retry-after` overrides the default backoff.
 *
 * @param attempt number of the failed attempt, from 1
 */
export function pauseAfter(attempt: number, error: unknown): Promise<void> {
  const asked = error instanceof AccountError ? error.retryAfterMs : undefined;
  const own = Math.min(PAUSE_MS * attempt ** 2, LONGEST_PAUSE_MS);
  return sleep(Math.min(asked ?? own, LONGEST_WAIT_MS));
}

/** Returns `undefined` for Cloudflare's 404, and rethrows any other error. */
export function ignoreNotFound(error: unknown): undefined {
  if (error instanceof AccountError && error.status === 404) return undefined;
  throw error;
}

/** Returns a `catch` handler that prefixes Cloudflare's error with "Could not check whether" and `what`. */
export function rethrowAsUnknown(what: string) {
  return (error: unknown): never => {
    if (!(error instanceof AccountError)) throw error;
    const message = `Could not check whether ${what}: ${error.message}`;
    throw new AccountError(error.status, message, { cause: error });
  };
}

/**
 * Sends a request and returns its result; `undefined` on 404.
 *
 * @throws AccountError, or StewardError `token_refused` or `rehearsal_ended`
 */
export async function askAccount<Result>(
  access: AccountAccess,
  path: string,
  request?: AccountRequest,
): Promise<Result | undefined> {
  return (await callAccount<Result>(access, path, request).catch(ignoreNotFound))?.result;
}

/** Like {@link askAccount}, but also throws on 404. */
export async function callAccount<Result>(
  access: AccountAccess,
  path: string,
  request?: AccountRequest,
): Promise<Envelope<Result>> {
  return (parseJson(await textInAccount(access, path, request)) ?? {}) as Envelope<Result>;
}

export async function* listInAccount<Item>(
  access: AccountAccess,
  path: string,
  query: Record<string, string> = {},
): AsyncGenerator<Item> {
  const parameters = new URLSearchParams(query);
  for (;;) {
    const { result, result_info: next } = await callAccount<Item[] | null>(access, `${path}?${parameters}`);
    yield* result ?? [];
    if (!result?.length || !(next?.cursor || next?.next_page_token)) return;
    if (next.cursor) parameters.set("cursor", next.cursor);
    if (next.next_page_token) parameters.set("page_token", next.next_page_token);
  }
}

/** Returns the response body as text, for endpoints that return a file's content, such as an object in a bucket. */
export async function textInAccount(
  access: AccountAccess,
  path: string,
  { attempts = ATTEMPTS, ...request }: AccountRequest = {},
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask(access, path, request);
    } catch (error) {
      const isLost = error instanceof StewardError && error.code === "cloudflare_unreachable";
      const failure = isLost ? new AccountError(0, error.message, { cause: error }) : error;
      if (!isTransient(failure) || attempt >= attempts) throw failure;
      await pauseAfter(attempt, failure);
    }
  }
}

async function ask(access: AccountAccess, path: string, request: AccountRequest): Promise<string> {
  const response = await sendToAccount(access, path, request);
  const text = await response.text().catch((error: unknown) => {
    throw unanswered(response.url, error);
  });
  const { ok, status, statusText, headers } = response;
  if (ok) return text;
  const { errors } = (parseJson(text) ?? {}) as Partial<Envelope<unknown>>;
  const words = (errors ?? []).map(({ code, message }) => `${message} (${code})`).join("; ");
  const wait = retryAfterMs(headers.get("retry-after"), Date.now());
  throw new AccountError(status, `Cloudflare answered ${status}: ${words || statusText}`, undefined, wait);
}

function unanswered(address: string, error: unknown): StewardError {
  const { origin } = new URL(address);
  const detail = `${origin} does not answer: ${failureOf(error)}.`;
  // An emulated account runs on this machine. If nothing listens on its port, it has ended.
  if (!LOOPBACK.test(`${origin}/`) || failureOf(error) !== "ECONNREFUSED") {
    return new StewardError("cloudflare_unreachable", detail, { cause: error });
  }
  // A rehearsal's environment file sets this variable to the rehearsal's start command.
  const start = process.env["STEWARD_REHEARSED_BY"];
  return new StewardError("rehearsal_ended", `The rehearsal is not running: ${detail}`, {
    cause: error,
    ...(start && { fix: `Start it in another terminal: \`${start}\`.` }),
  });
}
