import type { Input } from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";
import { StewardError } from "../../runtime/contract/errors.ts";
import { parseJson } from "../../runtime/shared/json.ts";
import { retryAfterMs } from "../../runtime/shared/retry-after.ts";
import { connection } from "../shell/connection.ts";
import { failureOf } from "../shell/failure.ts";

/** Connection settings of Cloudflare. */
export interface CloudflareAccess {
  apiToken: string;
  /** `undefined`: Cloudflare's own address. */
  baseURL: string | undefined;
}

/** Credentials of the API as a program has them. What is left out, the program does not know. */
export interface ApiCredentials {
  apiToken?: Input<string | undefined>;
  baseUrl?: Input<string | undefined>;
}

/** An account, and the credentials for requests to it. */
export interface AccountAccess extends CloudflareAccess {
  accountId: string;
}

const CLOUDFLARE = "https://api.cloudflare.com/client/v4";
const READ_MS = 10_000;
const CHANGE_MS = 60_000;
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/;

/** A request to an account. */
interface AccountRequest {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** JSON, as a value or as text. */
  body?: object | string;
  /** Maximum number of times that it is sent while {@link isTransient}. Use 1 where a repetition would do harm. */
  attempts?: number;
}

/**
 * Sends a request once, for a path below the account's address. Nothing here loads the official client, which would
 * take longer than all else that a preview without changes does.
 *
 * @throws StewardError `token_refused` without a token, `cloudflare_unreachable`, or `rehearsal_ended` at the address of
 * an emulated account
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

/**
 * Returns an account with the credentials of the resource that the provider works for. As with the official provider,
 * a token that no program gives is the environment's.
 */
export function accessTo(accountId: string): AccountAccess {
  const { apiToken, baseUrl } = connection().cloudflare ?? {};
  return {
    accountId,
    apiToken: apiToken ?? process.env["CLOUDFLARE_API_TOKEN"] ?? "",
    baseURL: baseUrl ?? process.env["CLOUDFLARE_BASE_URL"],
  };
}

/** An answer of Cloudflare that is a refusal, or none at all. Its message has no token and no body. */
export class AccountError extends Error {
  /** 0 if no answer came. */
  readonly status: number;
  /** Milliseconds that Cloudflare asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, message: string, options?: ErrorOptions, retryAfterMs?: number) {
    super(message, options);
    this.name = "AccountError";
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The envelope: https://developers.cloudflare.com/fundamentals/api/how-to/make-api-calls/ */
interface Envelope<Result> {
  result: Result;
  errors?: { code?: number; message?: string }[];
  /** The next page of a list: a list has either a cursor or a token. */
  result_info?: { cursor?: string; next_page_token?: string } | null;
}

/** As many as the official client makes. */
export const ATTEMPTS = 3;
const PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 8_000;
/** Cloudflare counts an account's requests over five minutes. */
const LONGEST_WAIT_MS = 300_000;

/** Returns true if a retry may succeed: there was no response, or Cloudflare is throttling or failing temporarily. */
export function isTransient(error: unknown): boolean {
  return error instanceof AccountError && (error.status >= 500 || [0, 408, 429].includes(error.status));
}

/** Waits before the attempt that follows this one, the first being 1: as long as Cloudflare asks, if it does. */
export function pauseAfter(attempt: number, error: unknown): Promise<void> {
  const asked = error instanceof AccountError ? error.retryAfterMs : undefined;
  const own = Math.min(PAUSE_MS * attempt ** 2, LONGEST_PAUSE_MS);
  return sleep(Math.min(asked ?? own, LONGEST_WAIT_MS));
}

/** Turns Cloudflare's 404 into `undefined`, for a `catch`. Throws any other error again. */
export function ignoreNotFound(error: unknown): undefined {
  if (error instanceof AccountError && error.status === 404) return undefined;
  throw error;
}

/** Says in a refusal what was to be found out, for a `catch`. */
export function rethrowAsUnknown(what: string) {
  return (error: unknown): never => {
    if (!(error instanceof AccountError)) throw error;
    const message = `Cloudflare did not tell whether ${what}: ${error.message}`;
    throw new AccountError(error.status, message, { cause: error });
  };
}

/**
 * Asks the account and returns the result; `undefined` if there is no such thing (404).
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

/** Asks for something that has to be there, so that a 404 is an error too. See {@link askAccount}. */
export async function callAccount<Result>(
  access: AccountAccess,
  path: string,
  request?: AccountRequest,
): Promise<Envelope<Result>> {
  return (parseJson(await textInAccount(access, path, request)) ?? {}) as Envelope<Result>;
}

/** Lists page by page. See {@link callAccount}. */
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

/** Returns the answer's body as it is, for what has no envelope. See {@link callAccount}. */
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

/** Returns the error for a request that got no answer, or only the beginning of one. */
function unanswered(address: string, error: unknown): StewardError {
  const { origin } = new URL(address);
  const detail = `${origin} does not answer: ${failureOf(error)}.`;
  // An emulated account is on this machine, and has ended if nothing listens there.
  if (!LOOPBACK.test(`${origin}/`) || failureOf(error) !== "ECONNREFUSED") {
    return new StewardError("cloudflare_unreachable", detail, { cause: error });
  }
  // Set by the environment file that the rehearsal writes.
  const start = process.env["STEWARD_REHEARSED_BY"];
  return new StewardError("rehearsal_ended", `The rehearsal is not running: ${detail}`, {
    cause: error,
    ...(start && { fix: `Start it in another terminal: \`${start}\`.` }),
  });
}
