import { problem, problemResponse } from "../../contract/problem.ts";
import type { TenantId } from "../../contract/tenant.ts";
import type { Clock } from "../ports.ts";
import { RateLimit } from "../rate-limit.ts";
import type { Tenants } from "./ports.ts";

/** Form of a container's pass, in a header or, from a gateway of the version before, in the address. */
const PASS = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;
/** Requests of one client in a minute that name an unknown tenant, and still are a question to the directory. */
const UNKNOWN_PER_MINUTE = 60;
/** Time for which a refusal counts without another question. A chat that is let in meanwhile has no container so soon. */
const REFUSED_MS = 2_000;
/** Unknown tenants that are remembered. */
const MOST_REFUSED = 1_000;

/** Dependencies of {@link BrokerDoor}. */
interface BrokerDoorOptions {
  /** Asks the directory, at most once for a tenant that it knows. */
  knows: Tenants["knows"];
  clock: Clock;
}

/**
 * Decides which requests to the broker reach a tenant's object. Anyone may send one, and an object that is asked has storage
 * from then on, so the tenant has to exist. The directory is asked as rarely as that can be.
 */
export class BrokerDoor {
  readonly #options: BrokerDoorOptions;
  readonly #strangers: RateLimit;
  /** Unknown tenants, and the end of their refusals in milliseconds since the epoch. */
  readonly #refused = new Map<TenantId, number>();

  constructor(options: BrokerDoorOptions) {
    this.#options = options;
    this.#strangers = new RateLimit({ perMinute: UNKNOWN_PER_MINUTE, clock: options.clock });
  }

  /**
   * Returns the answer to a request that is refused; `undefined` for one that may reach its tenant's object. Rejects if
   * the directory does not answer.
   *
   * @param client The network of the request's sender.
   */
  async refusal(tenant: TenantId, request: Request, client: string): Promise<Response | undefined> {
    const { knows, clock } = this.#options;
    if (!hasPassForm(request) || clock() < (this.#refused.get(tenant) ?? 0)) return refused();
    // Before the question: a flood does not wait for the first answer.
    const seconds = this.#strangers.take(client);
    if (seconds > 0) return problemResponse(problem("rate_limited"), { "retry-after": String(seconds) });
    let isKnown: boolean | undefined;
    try {
      isKnown = await knows(tenant);
    } finally {
      if (isKnown !== false) this.#strangers.giveBack(client);
    }
    if (isKnown) return undefined;
    this.#remember(tenant);
    return refused();
  }

  #remember(tenant: TenantId): void {
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size >= MOST_REFUSED) this.#refused.delete(oldest);
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
