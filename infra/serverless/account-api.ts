import type { dynamic } from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";

/** Connection settings of Cloudflare. */
export interface CloudflareAccess {
  apiToken: string;
  /** `undefined`: Cloudflare's own address. */
  baseURL: string | undefined;
}

/** Whose account is asked, and as whom. */
export interface AccountAccess extends CloudflareAccess {
  accountId: string;
}

const CLOUDFLARE = "https://api.cloudflare.com/client/v4";
const TIMEOUT_MS = 10_000;

/** One read below the account's address, without the client: a program that asks little starts sooner. */
export function readInAccount(access: AccountAccess, path: string): Promise<Response> {
  return request(access, "GET", path);
}

function request(
  { accountId, apiToken, baseURL = CLOUDFLARE }: AccountAccess,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  return fetch(`${baseURL}/accounts/${accountId}/${path}`, {
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

/** Returns how a dynamic provider asks an account. */
export function accessTo(accountId: string): AccountAccess {
  const { apiToken = "", baseURL } = settings;
  return { accountId, apiToken, baseURL };
}

/** An answer of Cloudflare that is a refusal, or none at all. Its message has no token and no body. */
export class AccountError extends Error {
  /** 0 if no answer came. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
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
const ATTEMPTS = 3;
const PAUSE_MS = 300;

/**
 * Asks the account and returns the result; `undefined` if there is no such thing (404). A read is repeated while
 * Cloudflare throttles or fails for a moment; a request that changes something is sent once.
 *
 * @throws AccountError
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
      const { status } = error as AccountError;
      const passes = status === 0 || status === 429 || status >= 500;
      if (change !== undefined || !passes || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS * attempt ** 2);
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
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new AccountError(
        0,
        `Cloudflare cannot be reached at ${new URL(access.baseURL ?? CLOUDFLARE).host}: ${reason}`,
      );
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
