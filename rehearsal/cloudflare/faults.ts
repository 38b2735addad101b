import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { MiddlewareHandler } from "hono";
import { ApiError } from "./envelope.ts";

export interface RequestFault {
  method: string;
  /** Matched against the path after `/client/v4/accounts/<account>`. */
  path: RegExp;
  times: number;
  /**
   * Status code of the response, or a lost connection: "lost before" drops the request, "lost after" only the
   * response. 429 includes `Retry-After: 1`: https://developers.cloudflare.com/fundamentals/api/reference/limits/
   */
  outcome: 400 | 403 | 409 | 429 | 500 | 503 | "lost before" | "lost after";
}

export class Faults {
  readonly requests: RequestFault[] = [];
  /** Failure reasons by image. */
  readonly rollouts = new Map<string, string>();
  /** Maximum number of objects per page. Cloudflare may return fewer than requested. */
  objectsOnPage = Infinity;
  #held: Promise<void> = Promise.resolve();

  /** Resolves when rollouts may continue. */
  get rolloutsHeld(): Promise<void> {
    return this.#held;
  }

  /** Pauses rollouts until the returned function is called. */
  holdRollouts(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return resolve;
  }

  /**
   * Returns the outcome of a fault that matches the request, and decrements the fault's count; `undefined` if none
   * matches.
   */
  take(method: string, path: string): RequestFault["outcome"] | undefined {
    const below = path.replace(/^\/client\/v4\/accounts\/[^/]+/, "");
    const found = this.requests.find((one) => {
      return one.times > 0 && one.method === method && one.path.test(below);
    });
    if (found === undefined) return undefined;
    found.times -= 1;
    return found.outcome;
  }
}

const WORDS = {
  400: "Bad Request",
  403: "Authentication error",
  409: "The bucket you tried to delete is not empty.",
  429: "More than 1200 requests per 300 seconds reached. Please wait and consider throttling your request speed",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

const CODES = { 400: 10013, 403: 10000, 409: 10008, 429: 10429, 500: 10013, 503: 10013 };

export function injectFaults(faults: Faults): MiddlewareHandler<{ Bindings: HttpBindings }> {
  return async function meetFaultsMiddleware(context, next) {
    const outcome = faults.take(context.req.method, context.req.path);
    if (outcome === undefined) return next();
    if (typeof outcome === "number") {
      if (outcome === 429) context.header("retry-after", "1");
      throw new ApiError(outcome, CODES[outcome], WORDS[outcome]);
    }
    if (outcome === "lost after") await next();
    context.env.incoming.socket.destroy();
    return RESPONSE_ALREADY_SENT;
  };
}
