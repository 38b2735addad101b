import { problem, problemResponse } from "../../contract/problem.ts";
import type { TenantId } from "../../contract/tenant.ts";
import type { Clock } from "../ports.ts";
import { RateLimit } from "../rate-limit.ts";
import type { Tenants } from "./ports.ts";

/**
 * Format of a broker pass, which the gateway in a container sends instead of API keys. The pass can also be part of a
 * request's URL, because older versions of the gateway send the pass in the URL instead of in a header.
 */
const PASS = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;
/** Maximum number of directory searches for unknown tenants that one client may cause per minute. */
const UNKNOWN_PER_MINUTE = 60;
/**
 * Milliseconds to cache a refusal. Shorter than a container's start, so a refusal cached before a chat was admitted
 * has expired when the chat's new container sends its first request.
 */
const REFUSED_MS = 2_000;
const MAX_REFUSED = 1_000;

interface BrokerDoorOptions {
  /** Asks the directory. Positive answers are cached. */
  knows: Tenants["knows"];
  clock: Clock;
}

/**
 * Decides which broker requests reach a tenant's Durable Object. Refuses unknown tenants, because anyone can send a
 * request, and addressing an object creates storage.
 */
export class BrokerDoor {
  readonly #options: BrokerDoorOptions;
  readonly #strangers: RateLimit;
  /** Time at which each cached refusal ends, in milliseconds since the epoch. */
  readonly #refused = new Map<TenantId, number>();

  constructor(options: BrokerDoorOptions) {
    this.#options = options;
    this.#strangers = new RateLimit({ perMinute: UNKNOWN_PER_MINUTE, clock: options.clock });
  }

  /**
   * Returns the error response if the request must be refused, or `undefined` if it may pass.
   *
   * @param client The requester's IPv4 address or IPv6 prefix.
   * @throws if the tenant directory's Durable Object does not answer.
   */
  async refusal(tenant: TenantId, request: Request, client: string): Promise<Response | undefined> {
    const { knows, clock } = this.#options;
    if (!hasPassForm(request) || clock() < (this.#refused.get(tenant) ?? 0)) return refused();
    // Count the request before searching the tenant directory, so that concurrent requests cannot exceed the limit.
    const seconds = this.#strangers.take(client);
    if (seconds > 0) return problemResponse(problem("rate_limited"), { "retry-after": String(seconds) });
    let isKnown: boolean | undefined;
    try {
      isKnown = await knows(tenant);
    } finally {
      if (isKnown !== false) this.#strangers.refund(client);
    }
    if (isKnown) return undefined;
    this.#remember(tenant);
    return refused();
  }

  #remember(tenant: TenantId): void {
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size >= MAX_REFUSED) this.#refused.delete(oldest);
    this.#refused.delete(tenant);
    this.#refused.set(tenant, this.#options.clock() + REFUSED_MS);
  }
}

function hasPassForm({ url, headers }: Request): boolean {
  return [headers.get("authorization"), headers.get("x-api-key"), url].some((text) => PASS.test(text ?? ""));
}

function refused(): Response {
  return problemResponse(problem("broker_refused"));
}
