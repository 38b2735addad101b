import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../../../runtime/shared/backoff.ts";
import { retryAfterMs } from "../../../runtime/shared/retry-after.ts";
import { toValue, type Properties, type Value } from "../values.ts";

interface Envelope {
  result?: unknown;
}

/** A request to the API. `path` begins after the API version, for example `/accounts/<id>/workers`. */
interface Request {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  query?: Record<string, string>;
  body?: Properties;
}

const CLOUDFLARE = "https://api.cloudflare.com/client/v4";
/** Number of attempts, as in the official provider (cloudflare-go, option.WithMaxRetries). */
const ATTEMPTS = 3;
const PAUSES = { firstMs: 500, longestMs: 8_000 };
/** Longest pause that a Retry-After header can cause. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Client for Cloudflare's API. Its errors and retries are those of https://github.com/cloudflare/cloudflare-go
 * (internal/requestconfig). The official Node client would take three quarters of the provider's startup time.
 */
export class CloudflareApi {
  readonly #apiToken: string;
  readonly #baseUrl: string;

  constructor(apiToken: string, baseUrl = CLOUDFLARE) {
    this.#apiToken = apiToken;
    this.#baseUrl = baseUrl;
  }

  /** Resolves with the result; `undefined` on 404. */
  get(path: string, query: Record<string, string> = {}): Promise<Value | undefined> {
    return this.#ask({ method: "GET", path, query }, { unlessGone: true });
  }

  async post(path: string, body: Properties, query: Record<string, string> = {}): Promise<Value> {
    return (await this.#ask({ method: "POST", path, body, query })) ?? null;
  }

  async put(path: string, body: Properties): Promise<Value> {
    return (await this.#ask({ method: "PUT", path, body })) ?? null;
  }

  /** A 404 counts as success. */
  async delete(path: string): Promise<void> {
    await this.#ask({ method: "DELETE", path }, { unlessGone: true });
  }

  async #ask(request: Request, { unlessGone = false } = {}): Promise<Value | undefined> {
    const { method, path, query, body } = request;
    const search = new URLSearchParams(query).toString();
    const url = `${this.#baseUrl}${path}${search && `?${search}`}`;
    const named = `${method} "${url}"`;
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${this.#apiToken}`,
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      }).catch((error: unknown) => ({ error }));
      const isLast = attempt === ATTEMPTS;
      if ("error" in response) {
        const { error } = response;
        if (isLast) throw new Error(`${named}: ${causeOf(error)}`, { cause: error });
      } else {
        const { ok, status, statusText } = response;
        const text = await response.text();
        if (ok) return toValue((JSON.parse(text) as Envelope).result);
        if (status === 404 && unlessGone) return undefined;
        if (isLast || !isTransient(status)) throw new Error(`${named}: ${status} ${statusText} ${text}`);
      }
      await sleep(pauseAfter(attempt, "error" in response ? undefined : response.headers));
    }
  }
}

function isTransient(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Returns the pause before the next attempt: the Retry-After value, otherwise exponential backoff, in milliseconds. */
function pauseAfter(attempt: number, headers: Headers | undefined): number {
  return Math.min(
    retryAfterMs(headers?.get("retry-after"), Date.now()) ?? backoffMs(PAUSES, attempt),
    LONGEST_WAIT_MS,
  );
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
