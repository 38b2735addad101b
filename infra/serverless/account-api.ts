import type { dynamic } from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";
import { StewardError } from "../../runtime/contract/errors.ts";
import { failureOf } from "../shell/failure.ts";

/** Connection settings of Cloudflare. */
export interface CloudflareAccess {
  apiToken: string;
  /** `undefined`: Cloudflare's own address. */
  baseURL: string | undefined;
}

/** An account, and the credentials for requests to it. */
export interface AccountAccess extends CloudflareAccess {
  accountId: string;
}

const CLOUDFLARE = "https://api.cloudflare.com/client/v4";
const TIMEOUT_MS = 10_000;
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/;

/**
 * Sends one GET request for a path below the account's address. It does not load the official client, so a program with
 * few requests starts faster.
 */
export function readInAccount(access: AccountAccess, path: string): Promise<Response> {
  return request(access, "GET", path);
}

function request(
  { accountId, apiToken, baseURL = CLOUDFLARE }: AccountAccess,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  return fetchCloudflare(`${baseURL}/accounts/${accountId}/${path}`, {
    method,
    headers: { authorization: `Bearer ${apiToken}`, ...(body && { "content-type": "application/json" }) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** Settings of the `cloudflare` provider, which the dynamic providers share. */
const settings: Partial<CloudflareAccess> = {};

/** Reads `cloudflare:*` for {@link accessTo}: `configure` of a dynamic provider. */
export async function configureAccess({ config }: dynamic.ConfigureRequest): Promise<void> {
  settings.apiToken = config.get("cloudflare:apiToken") ?? process.env["CLOUDFLARE_API_TOKEN"] ?? "";
  settings.baseURL = config.get("cloudflare:baseUrl") ?? process.env["CLOUDFLARE_BASE_URL"];
}

/** Returns an account with the credentials that the dynamic providers were configured with. */
export function accessTo(accountId: string): AccountAccess {
  const { apiToken = "", baseURL } = settings;
  return { accountId, apiToken, baseURL };
}

/** An answer of Cloudflare that is a refusal, or none at all. Its message has no token and no body. */
export class AccountError extends Error {
  /** 0 if no answer came. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AccountError";
    this.status = status;
  }
}

/** The envelope: https://developers.cloudflare.com/fundamentals/api/how-to/make-api-calls/ */
interface Envelope {
  result?: unknown;
  errors?: { code?: number; message?: string }[];
}

/** As many as the official client makes. */
export const ATTEMPTS = 3;
const PAUSE_MS = 300;

/** Returns true if a retry may succeed: there was no response, or Cloudflare is throttling or failing temporarily. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof AccountError)) return false;
  const { status } = error;
  return status === 0 || status === 429 || status >= 500;
}

/** Waits before the attempt that follows this one, the first being 1. */
export function pauseAfter(attempt: number): Promise<void> {
  return sleep(PAUSE_MS * attempt ** 2);
}

/**
 * Asks the account and returns the result; `undefined` if there is no such thing (404). A read is repeated while
 * Cloudflare throttles or fails for a moment; a request that changes something is sent once.
 *
 * @throws AccountError, or StewardError `rehearsal_ended`
 */
export async function askAccount<Result>(
  access: AccountAccess,
  path: string,
  change?: { method: "POST"; body: object },
): Promise<Result | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await ask(access, path, change)) as Result | undefined;
    } catch (error) {
      if (change !== undefined || !isTransient(error) || attempt === ATTEMPTS) throw error;
      await pauseAfter(attempt);
    }
  }
}

async function ask(
  access: AccountAccess,
  path: string,
  change?: { method: "POST"; body: object },
): Promise<unknown> {
  const response = await request(access, change?.method ?? "GET", path, change?.body).catch(
    (error: unknown) => {
      const isLost = error instanceof StewardError && error.code === "cloudflare_unreachable";
      throw isLost ? new AccountError(0, error.message, { cause: error }) : error;
    },
  );
  const { result, errors = [] } = (await response.json().catch(() => ({}))) as Envelope;
  if (response.ok) return result;
  if (response.status === 404) return undefined;
  const words = errors.map(({ code, message }) => `${message} (${code})`).join("; ");
  throw new AccountError(
    response.status,
    `Cloudflare answered ${response.status}: ${words || response.statusText}`,
  );
}
/**
 * Asks Cloudflare.
 *
 * @throws StewardError `cloudflare_unreachable`, or `rehearsal_ended` at the address of an emulated account
 */
export async function fetchCloudflare(
  address: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (error) {
    const { origin } = new URL(address instanceof Request ? address.url : address);
    const detail = `${origin} does not answer: ${failureOf(error)}.`;
    // An emulated account is on this machine, and has ended if nothing listens there.
    if (!LOOPBACK.test(`${origin}/`) || failureOf(error) !== "ECONNREFUSED") {
      throw new StewardError("cloudflare_unreachable", detail, { cause: error });
    }
    // Set by the environment file that the rehearsal writes.
    const start = process.env["STEWARD_REHEARSED_BY"];
    throw new StewardError("rehearsal_ended", `The rehearsal is not running: ${detail}`, {
      cause: error,
      ...(start && { fix: `Start it in another terminal: \`${start}\`.` }),
    });
  }
}
