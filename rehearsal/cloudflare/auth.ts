import type { MiddlewareHandler } from "hono";
import { timingSafeEqual } from "node:crypto";
import { ApiError } from "./envelope.ts";
import { checkScope, type TokenScope } from "./scopes.ts";

const FORM = /^[0-9A-Za-z\-_]{40,80}$/;

/** API tokens with their scopes; `undefined` allows everything. */
export type Tokens = ReadonlyMap<string, readonly TokenScope[] | undefined>;

/**
 * Requires a Bearer token with a scope that covers the request. Answers a malformed header with 400. Answers an
 * unknown token with 403, but with 401 on the token verification route:
 * https://developers.cloudflare.com/fundamentals/api/troubleshooting/
 *
 * @throws at creation if a configured token is malformed
 */
export function requireToken(tokens: Tokens): MiddlewareHandler {
  if (![...tokens.keys()].every((token) => FORM.test(token)))
    throw new Error("An API token has 40 to 80 characters of 0-9 A-Z a-z - and _");
  return async function requireTokenMiddleware(context, next) {
    const given = /^Bearer (.*)$/.exec(context.req.header("authorization") ?? "")?.[1] ?? "";
    if (!FORM.test(given)) {
      throw new ApiError(400, 6003, "Invalid request headers", [
        { code: 6111, message: "Invalid format for Authorization header" },
      ]);
    }
    const known = [...tokens].find(([token]) => same(given, token));
    if (known === undefined) {
      throw context.req.path.endsWith("/tokens/verify")
        ? new ApiError(401, 1000, "Invalid API Token")
        : new ApiError(403, 10000, "Authentication error");
    }
    const [, scopes] = known;
    if (scopes !== undefined) checkScope(scopes, context.req.method, context.req.path);
    await next();
  };
}

export function requireAccount(accountId: string): MiddlewareHandler {
  return async function requireAccountMiddleware(context, next) {
    if (context.req.param("account") !== accountId) {
      throw new ApiError(403, 9109, "Unauthorized to access requested resource");
    }
    await next();
  };
}

function same(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
